# The cache of the lab's parts; sourced after lib.sh, never run.
# Each part is named after the digest of the scripts that make it: a changed script builds a new part beside the old one.

[ "$(id -u)" = 0 ] || die "must run as root"
PATH=$PATH:/usr/sbin:/sbin
. "$here/cache-directory.sh"
mkdir -p "$cache"

# One run builds, the others wait for it.
lock=$cache/${lock:-lock}
exec 9>"$lock"
if ! flock -n 9; then
    say "another run is preparing the lab: waiting for it"
    flock -w 1800 9 || die "waited 30 minutes for the lock $lock"
fi
# Also with a copied cache, since the host's own packages may be missing.
"$here/host-packages.sh" 9>&-

# build DEST SCRIPT ARGUMENT... : builds in a temporary directory first, so that an aborted build never counts as complete.
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
