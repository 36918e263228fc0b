#!/bin/bash
# What a virtual machine of the lab has in its initramfs besides Debian's own and what is under test.

# called by dracut
check() {
    return 255
}

# called by dracut
depends() {
    echo ignition network-manager
}

# called by dracut
installkernel() {
    hostonly='' instmods virtio_net virtio_blk virtio_pci virtio_console virtio_rng ext4
}

# called by dracut
install() {
    local unit generator
    # Each says what it changes.
    for unit in ignition-fetch ignition-files emergency; do
        inst_simple "$moddir/$unit.conf" "$systemdsystemunitdir/$unit.service.d/50-lab.conf"
    done
    # Relabelling is compiled into Debian's Ignition. Where there is no policy to label by, a stand-in does nothing.
    if [ -e /etc/selinux/config ]; then
        inst setfiles
    else
        inst_simple "$moddir/setfiles" /usr/sbin/setfiles
    fi
    # Each takes time in every boot, for devices and partitions that no machine here has.
    mkdir -p "$initdir/etc/systemd/system" "$initdir/etc/systemd/system-generators"
    for generator in debug gpt-auto; do
        ln -sf /dev/null "$initdir/etc/systemd/system-generators/systemd-$generator-generator"
    done
    for unit in sys-kernel-config.mount systemd-journald-audit.socket; do
        ln -sf /dev/null "$initdir/etc/systemd/system/$unit"
    done
}
