# What the scripts of the lab share; sourced, never run.

# Debian release of the nodes: trixie brings systemd 257, NetworkManager 1.52 and Open vSwitch 3.5. The environment names another.
LAB_SUITE=${LAB_SUITE:-trixie}

say() { printf 'lab: %s\n' "$*" >&2; }
die() { printf 'lab: error: %s\n' "$*" >&2; exit 1; }

# Digest of the named files and of what else decides the result.
lab_digest() {
    { printf '%s %s\n' "$LAB_SUITE" "$(dpkg --print-architecture)"; cat "$@"; } | sha256sum | cut -c1-16
}

# bootstrap TREE PACKAGE... : a minimal root file system; the mirror is mmdebstrap's own default.
bootstrap() {
    tree=$1
    shift
    # Documentation and translations are left out for size; changelogs say nothing to a test. The index of a release in the making
    # is valid for a week, and a mirror may be older; its signature is checked all the same.
    mmdebstrap --quiet --variant=minbase --components=main --aptopt='Acquire::Check-Valid-Until "false"' \
        --include="$(printf '%s,' "$@" | sed 's/,$//')" \
        --dpkgopt='path-exclude=/usr/share/doc/*' \
        --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' \
        "$LAB_SUITE" "$tree" >&2 || die "mmdebstrap of $LAB_SUITE failed"
}
