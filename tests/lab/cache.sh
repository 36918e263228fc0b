# The cache of the lab's parts; sourced after lib.sh, never run.
# Each part is named after the digest of the scripts that make it: a changed script builds a new part beside the old one.

[ "$(id -u)" = 0 ] || die "must run as root"
PATH=$PATH:/usr/sbin:/sbin
. "$here/cache-directory.sh"
. "$here/part.sh"
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

nm=$cache/networkmanager-$(lab_digest "$here/lib.sh" "$here/build-networkmanager.sh")
