#!/bin/sh
# build-ovn.sh ROOTFS DEST : the root file system of a node with OVN, none of whose daemons starts by itself; the rest of ROOTFS stays.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
[ $# -eq 2 ] || die "usage: build-ovn.sh ROOTFS DEST"
rootfs=$1
dest=$2

say "building the root file system with OVN (about half a minute)"
cp -a --reflink=auto "$rootfs" "$dest"
cp -L /etc/resolv.conf "$dest/etc/resolv.conf"
log=$dest/build.log
cat >"$dest/build.sh" <<'BUILD'
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends ovn-central ovn-host ethtool
# In the field they are containers of a pod, which kubelet starts.
systemctl disable --quiet ovn-central.service ovn-host.service
BUILD
if ! chroot "$dest" sh /build.sh >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "OVN cannot be installed (the end of the log is above)"
fi
rm -rf "$dest/build.sh" "$log" "$dest/etc/resolv.conf" "$dest/var/lib/apt/lists" "$dest/var/cache/apt"
mkdir -p "$dest/var/lib/apt/lists" "$dest/var/cache/apt/archives/partial"
# As in ROOTFS: an empty one is no first boot, and nothing is new to a boot.
: >"$dest/etc/machine-id"
rm -f "$dest/etc/hostname"
chroot "$dest" dpkg-query -W systemd network-manager openvswitch-switch ovn-central >"$dest/lab/versions"
touch -r "$dest/usr" "$dest/etc/.updated" "$dest/var/.updated"
