# The cache of what the lab is built from; sourced after lib.sh, never run.
# Each part is named after the digest of the scripts that make it: a change there builds anew, and leaves the old one in place.

[ "$(id -u)" = 0 ] || die "must run as root"
PATH=$PATH:/usr/sbin:/sbin
. "$here/cache-directory.sh"
mkdir -p "$cache"

# One run builds, the others wait for it.
exec 9>"$cache/lock"
if ! flock -n 9; then
    say "another run is preparing the lab: waiting for it"
    flock -w 1800 9 || die "waited 30 minutes for the lock $cache/lock"
fi
# Also when the cache came from elsewhere: the host's own packages may still be absent.
"$here/host-packages.sh" 9>&-

# build DEST SCRIPT ARGUMENT... : into a temporary directory first, so that an aborted build is never taken for a whole one.
build() {
    dest=$1
    script=$2
    shift 2
    [ ! -d "$dest" ] || return 0
    rm -rf "$dest.part"
    start=$(date +%s)
    "$here/$script" "$@" "$dest.part" 9>&- >&2 || { rm -rf "$dest.part"; die "$script failed"; }
    mv "$dest.part" "$dest"
    say "$script: $(($(date +%s) - start)) s, $(du -sh "$dest" | cut -f1)"
}

nm=$cache/networkmanager-$(lab_digest "$here/lib.sh" "$here/build-networkmanager.sh")
