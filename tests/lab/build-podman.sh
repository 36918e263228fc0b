#!/bin/sh
# build-podman.sh ROOTFS DEST : the root file system of a node with podman and rpm, as each of OpenShift's has it; the rest of ROOTFS stays.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
[ $# -eq 2 ] || die "usage: build-podman.sh ROOTFS DEST"
rootfs=$1
dest=$2

say "building the root file system with podman and rpm (about half a minute)"
cp -a --reflink=auto "$rootfs" "$dest"
cp -L /etc/resolv.conf "$dest/etc/resolv.conf"
log=$dest/build.log
cat >"$dest/build.sh" <<'BUILD'
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends podman rpm
# A node's file system is an overlay by itself, on which podman cannot have another one.
mkdir -p /etc/containers
printf '[storage]\ndriver = "vfs"\nrunroot = "/run/containers/storage"\ngraphroot = "/var/lib/containers/storage"\n' >/etc/containers/storage.conf
BUILD
if ! chroot "$dest" sh /build.sh >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "podman cannot be installed (the end of the log is above)"
fi
rm -rf "$dest/build.sh" "$log" "$dest/etc/resolv.conf" "$dest/var/lib/apt/lists" "$dest/var/cache/apt"
mkdir -p "$dest/var/lib/apt/lists" "$dest/var/cache/apt/archives/partial"
# As in ROOTFS: an empty one is no first boot, and nothing is new to a boot.
: >"$dest/etc/machine-id"
rm -f "$dest/etc/hostname"
chroot "$dest" dpkg-query -W systemd network-manager openvswitch-switch podman >"$dest/lab/versions"
touch -r "$dest/usr" "$dest/etc/.updated" "$dest/var/.updated"
