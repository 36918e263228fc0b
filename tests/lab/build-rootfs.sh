#!/bin/sh
# build-rootfs.sh NETWORKMANAGER DEST : the root file system of a node; NETWORKMANAGER is the tree that build-networkmanager.sh made.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
[ $# -eq 2 ] || die "usage: build-rootfs.sh NETWORKMANAGER DEST"
nm=$1
dest=$2

say "building the root file system (about half a minute)"
bootstrap "$dest" systemd systemd-sysv dbus dbus-daemon network-manager openvswitch-switch \
    iproute2 iputils-ping iputils-arping kmod udev procps

# Debian's own plugins do not load into this build.
rm -rf "$dest"/usr/lib/*/NetworkManager
# By tar, which keeps Debian's symlinks of a merged /usr as they are.
tar -C "$nm" -cf - . | tar -C "$dest" --keep-directory-symlink --no-overwrite-dir -xf -

units=$dest/etc/systemd/system
mkdir -p "$units/NetworkManager.service.d"

# RHEL's name for Debian's unit: what units of the field order themselves after.
ln -s /usr/lib/systemd/system/openvswitch-switch.service "$units/openvswitch.service"
cat >"$units/NetworkManager.service.d/10-ovs.conf" <<'UNIT'
[Unit]
# As on RHEL: NM finds OVSDB when it starts.
After=openvswitch.service
UNIT
# Nodes get their own: an empty one would make every boot a first boot, with presets applied.
: >"$dest/etc/machine-id"
rm -f "$dest/etc/hostname" "$dest/etc/resolv.conf"
# What is of no use in a container and costs time in every boot.
for unit in systemd-udevd.service systemd-udevd-control.socket systemd-udevd-kernel.socket \
    systemd-udev-trigger.service systemd-udev-settle.service systemd-networkd.service \
    systemd-networkd.socket getty.target console-getty.service \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
    fstrim.timer systemd-logind.service; do
    ln -sf /dev/null "$units/$unit"
done
rm -rf "$dest/var/lib/apt/lists" "$dest/var/cache/apt" "$dest/usr/share/man" "$dest/usr/share/doc"
mkdir -p "$dest/var/lib/apt/lists" "$dest/var/cache/apt/archives/partial" "$dest/lab"

for unit in NetworkManager.service openvswitch-switch.service; do
    # Its warnings are about /proc, which it does not need.
    chroot "$dest" systemctl enable --quiet "$unit" 2>/dev/null || die "cannot enable $unit"
done
# A unit that waits for the network to be online, and everything after Open vSwitch with it.
rm -r "$units/openvswitch-switch.service.requires"

# What was built, for whoever reads a failing run later.
chroot "$dest" dpkg-query -W systemd network-manager openvswitch-switch >"$dest/lab/versions"
# Nothing is new to the first boot: no linker cache, no catalogue, no users to make.
touch -r "$dest/usr" "$dest/etc/.updated" "$dest/var/.updated"
