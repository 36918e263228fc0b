#!/bin/sh
# build-machine.sh NETWORKMANAGER DEST : the root file system of a virtual machine, without what is under test.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
. "$here/node.sh"
[ $# -eq 2 ] || die "usage: build-machine.sh NETWORKMANAGER DEST"
nm=$1
dest=$2

say "building the root file system of the virtual machine (about a minute)"
bootstrap "$dest" systemd systemd-sysv dbus-broker dbus-bin network-manager openvswitch-switch \
    iproute2 iputils-ping iputils-arping kmod udev procps libjansson4 linux-image-cloud-amd64 \
    dracut-core dracut-network ignition curl ca-certificates qemu-guest-agent zstd lz4 nbd-client wpasupplicant \
    ovn-central ovn-host ethtool
networkmanager_with_ovs "$nm" "$dest"

# Ignition's `enabled: true` is a preset, which systemd applies at a first boot.
echo uninitialized >"$dest/etc/machine-id"
rm -f "$dest/etc/hostname" "$dest/etc/resolv.conf" "$dest"/boot/initrd.img* "$dest/initrd.img"

# Without drivers of what no machine here has, and the others unpacked: an emulated processor takes seconds to do that.
kernel=$(basename "$dest"/usr/lib/modules/*)
modules=$dest/usr/lib/modules/$kernel/kernel
# Each release's kernel lacks some of them.
(
    cd "$modules"
    rm -rf arch/x86/kvm drivers/ata drivers/hid drivers/md drivers/net/ethernet drivers/nvme drivers/scsi \
        fs/bcachefs fs/btrfs fs/smb fs/xfs
)
find "$modules" -name '*.ko.xz' -exec xz --decompress {} +
chroot "$dest" depmod "$kernel"

mask "$dest" systemd-networkd.service systemd-networkd.socket systemd-networkd-wait-online.service \
    getty.target console-getty.service serial-getty@ttyS0.service \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
    fstrim.timer systemd-logind.service systemd-firstboot.service systemd-pstore.service \
    ldconfig.service systemd-journal-catalog-update.service systemd-update-done.service
mask_start_up "$dest"
# /tmp is in memory, as on RHEL CoreOS: systemd 252 makes the /dev of a sandbox there, and a live root is read-only. Debian 12 has the
# unit beside those that it starts.
[ -e "$dest/usr/lib/systemd/system/tmp.mount" ] || cp "$dest/usr/share/systemd/tmp.mount" "$dest/etc/systemd/system"
chroot "$dest" systemctl enable --quiet tmp.mount 2>/dev/null
# As on RHEL: what Debian enables without being asked is what takes the most time of a first boot.
mkdir -p "$dest/etc/systemd/system-preset"
echo 'disable *' >"$dest/etc/systemd/system-preset/99-default-disable.preset"
# Run only where a unit asks for them.
chroot "$dest" systemctl disable --quiet NetworkManager-wait-online.service ovs-record-hostname.service \
    wpa_supplicant.service ovn-central.service ovn-host.service 2>/dev/null
network_units "$dest"
# Disks, network cards and their buses: the initramfs has announced all devices, and nothing in the running system asks for the
# others. An emulated processor takes a seventh of a boot for their four hundred events.
mkdir "$dest/etc/systemd/system/systemd-udev-trigger.service.d"
cat >"$dest/etc/systemd/system/systemd-udev-trigger.service.d/10-lab.conf" <<'UNIT'
[Service]
ExecStart=
ExecStart=-udevadm trigger --type=devices --action=add --prioritized-subsystem=block,net --subsystem-match=block \
    --subsystem-match=net --subsystem-match=pci --subsystem-match=virtio --subsystem-match=virtio-ports
UNIT
mkdir -p "$dest/etc/systemd/system/qemu-guest-agent.service.d"
cat >"$dest/etc/systemd/system/qemu-guest-agent.service.d/10-lab.conf" <<'UNIT'
[Service]
# It would tell of every question.
LogLevelMax=warning
UNIT
rm -rf "$dest/var/lib/apt/lists" "$dest/var/cache/apt"
mkdir -p "$dest/var/lib/apt/lists" "$dest/var/cache/apt/archives/partial" "$dest/lab"

# What was built, for whoever reads a failing run later.
chroot "$dest" dpkg-query -W systemd network-manager openvswitch-switch dracut-core ignition \
    linux-image-cloud-amd64 >"$dest/lab/versions"
touch -r "$dest/usr" "$dest/etc/.updated" "$dest/var/.updated"
