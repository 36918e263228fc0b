# What the scripts of the lab share; sourced, never run.

# Debian release of the nodes: trixie brings systemd 257, NetworkManager 1.52 and Open vSwitch 3.5. The environment names another.
LAB_SUITE=${LAB_SUITE:-trixie}
# An archive of NetworkManager's source, whose daemon the nodes then have instead of the release's own.
LAB_NETWORKMANAGER=${LAB_NETWORKMANAGER:-}

say() { printf 'lab: %s\n' "$*" >&2; }
die() { printf 'lab: error: %s\n' "$*" >&2; exit 1; }

# Digest of the named files and of what else decides the result.
lab_digest() {
    { printf '%s %s\n' "$LAB_SUITE" "$(dpkg --print-architecture)"; cat "$@" ${LAB_NETWORKMANAGER:+"$LAB_NETWORKMANAGER"}; } |
        sha256sum | cut -c1-16
}

# bootstrap TREE PACKAGE... : a minimal root file system; the mirror is mmdebstrap's own default.
bootstrap() {
    # A tree of the cache counts once it is complete, so dpkg need not wait for the disk at each file.
    make_tree minbase "$@" --dpkgopt=force-unsafe-io
    # Documentation and translations, for size. Left out by dpkg's path-exclude they would cost more than to unpack them:
    # mmdebstrap filters each archive itself.
    rm -rf "$1"/usr/share/doc/* "$1"/usr/share/man/* "$1"/usr/share/locale/*
}

# unpack TREE PACKAGE... : the files of these packages and of what they depend on, without any of their scripts having run: enough
# for programs that are called in a chroot, and half the time.
unpack() {
    make_tree extract "$@"
}

# make_tree VARIANT TREE WORD... : mmdebstrap with these packages, and with options of its own among them.
make_tree() {
    variant=$1
    tree=$2
    shift 2
    for word; do
        shift
        case $word in
        --*) set -- "$@" "$word" ;;
        *) set -- "$@" "--include=$word" ;;
        esac
    done
    # The index of a release in the making is valid for a week, and a mirror may be older; its signature is checked all the same.
    mmdebstrap --quiet --variant="$variant" --components=main --aptopt='Acquire::Check-Valid-Until "false"' \
        "$@" "$LAB_SUITE" "$tree" >&2 || die "mmdebstrap of $LAB_SUITE failed"
}
