#!/bin/sh
# build-rootfs.sh NETWORKMANAGER DEST : the root file system of a node; NETWORKMANAGER is the tree that build-networkmanager.sh made.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
. "$here/node.sh"
[ $# -eq 2 ] || die "usage: build-rootfs.sh NETWORKMANAGER DEST"
nm=$1
dest=$2

say "building the root file system (about half a minute)"
bootstrap "$dest" systemd systemd-sysv dbus-broker dbus-bin network-manager openvswitch-switch \
    iproute2 iputils-ping iputils-arping kmod udev procps libjansson4
networkmanager_with_ovs "$nm" "$dest"

# Nodes get their own: an empty one would make every boot a first boot, with presets applied.
: >"$dest/etc/machine-id"
rm -f "$dest/etc/hostname" "$dest/etc/resolv.conf"
mask "$dest" systemd-udevd.service systemd-udevd-control.socket systemd-udevd-kernel.socket \
    systemd-udev-trigger.service systemd-udev-settle.service systemd-networkd.service \
    systemd-networkd.socket getty.target console-getty.service \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
    fstrim.timer systemd-logind.service
mask_start_up "$dest"
rm -rf "$dest/var/lib/apt/lists" "$dest/var/cache/apt" "$dest/usr/share/man" "$dest/usr/share/doc"
mkdir -p "$dest/var/lib/apt/lists" "$dest/var/cache/apt/archives/partial" "$dest/lab"
network_units "$dest"

# What was built, for whoever reads a failing run later.
chroot "$dest" dpkg-query -W systemd network-manager openvswitch-switch >"$dest/lab/versions"
# Nothing is new to the first boot: no linker cache, no catalogue, no users to make.
touch -r "$dest/usr" "$dest/etc/.updated" "$dest/var/.updated"
