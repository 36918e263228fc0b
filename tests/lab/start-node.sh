#!/bin/sh
# start-node.sh ROOTFS DISK CGROUP... -- NSPAWN-ARGUMENT... : becomes systemd-nspawn, in a mount namespace and cgroups of its own.
# The driver calls it through `unshare --mount`, and keeps the other end of its standard input open while the node may run.
set -eu
rootfs=$1
disk=$2
shift 2
# Ends the node when the driver ends, for any reason.
exec 3<&0 </dev/null
(
    cat <&3 >/dev/null
    while [ "$1" != -- ]; do
        [ ! -e "$1/cgroup.kill" ] || echo 1 >"$1/cgroup.kill"
        shift
    done
) &
exec 3<&-
# nspawn makes cgroups of fixed names beside its own: a parent cgroup of the lab makes them easy to find.
while [ "$1" != -- ]; do
    mkdir -p "$1"
    echo $$ >"$1/cgroup.procs"
    shift
done
shift
# nspawn registers its machines below /run/systemd; the host's own systemd is not involved.
mkdir -p /run/systemd
mount -t tmpfs tmpfs /run/systemd
mount -t overlay -o "lowerdir=$rootfs,upperdir=$disk/upper,workdir=$disk/work" overlay "$disk/root"
export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 SYSTEMD_NSPAWN_API_VFS_WRITABLE=network
exec systemd-nspawn --quiet --register=no --keep-unit --capability=all \
    --bind=/dev/net/tun --link-journal=no --resolv-conf=off --timezone=off --console=pipe \
    --notify-ready=yes --directory="$disk/root" --boot "$@"
