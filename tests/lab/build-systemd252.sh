#!/bin/sh
# build-systemd252.sh ROOTFS DEST : the root file system of a node with systemd 252, RHEL 9's; the rest of ROOTFS stays.
# From Debian 12: systemd, udev and their private library. The public libraries stay, which newer programs of ROOTFS need.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
[ $# -eq 2 ] || die "usage: build-systemd252.sh ROOTFS DEST"
rootfs=$1
dest=$2
older=bookworm
packages="systemd systemd-sysv udev libsystemd-shared"

say "building the root file system with systemd 252 (about half a minute)"
cp -a --reflink=auto "$rootfs" "$dest"
cp -L /etc/resolv.conf "$dest/etc/resolv.conf"
# From wherever the other packages came.
sed -i "p; s/ $LAB_SUITE/ $older/" "$dest/etc/apt/sources.list"
log=$dest/build.log
cat >"$dest/build.sh" <<BUILD
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# What systemd 252 is linked with and 257 is not.
apt-get install -qq -y --no-install-recommends adduser libaudit1 libcryptsetup12 libfdisk1 libgcrypt20 \
    libip4tc2 libkmod2 libp11-kit0
mkdir /older
cd /older
for package in $packages; do apt-get download -qq "\$package/$older"; done
dpkg --force-all --remove $packages
dpkg --force-depends --install ./*.deb
BUILD
if ! chroot "$dest" sh /build.sh >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "systemd 252 cannot be installed (the end of the log is above)"
fi
rm -rf "$dest/build.sh" "$log" "$dest/older" "$dest/etc/resolv.conf" "$dest/var/lib/apt/lists" "$dest/var/cache/apt"
mkdir -p "$dest/var/lib/apt/lists" "$dest/var/cache/apt/archives/partial"
# As on RHEL 9: systemd 252 does not know the newer type.
sed -i 's/^Type=notify-reload$/Type=notify/' "$dest/usr/lib/systemd/system/dbus-broker.service"
# As in ROOTFS: an empty one is no first boot, and nothing is new to a boot.
: >"$dest/etc/machine-id"
rm -f "$dest/etc/hostname"
chroot "$dest" dpkg-query -W systemd network-manager openvswitch-switch >"$dest/lab/versions"
touch -r "$dest/usr" "$dest/etc/.updated" "$dest/var/.updated"
