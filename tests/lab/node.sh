# What the root file systems of both kinds of node share; sourced, never run.

# lay_over FROM TREE : a tree on top of a root file system; by tar, which keeps Debian's symlinks of a merged /usr as they are.
lay_over() {
    tar -C "$1" -cf - . | tar -C "$2" --keep-directory-symlink --no-overwrite-dir -xf -
}

# networkmanager_with_ovs NETWORKMANAGER TREE : the build of NetworkManager that has Open vSwitch, and what its unit needs.
networkmanager_with_ovs() {
    # Debian's own plugins do not load into this build.
    rm -rf "$2"/usr/lib/*/NetworkManager
    lay_over "$1" "$2"
    if chroot "$2" sh -c 'ldd /usr/lib/*/NetworkManager/*/libnm-device-plugin-ovs.so' | grep "not found" >&2; then
        die "NetworkManager cannot load its Open vSwitch plugin"
    fi

    mkdir -p "$2/etc/systemd/system/NetworkManager.service.d"
    # RHEL's name for Debian's unit: what units of the field order themselves after.
    ln -sf /usr/lib/systemd/system/openvswitch-switch.service "$2/etc/systemd/system/openvswitch.service"
    cat >"$2/etc/systemd/system/NetworkManager.service.d/10-ovs.conf" <<'UNIT'
[Unit]
# As on RHEL: NM finds OVSDB when it starts.
After=openvswitch.service
UNIT
}

# mask TREE UNIT... : what is of no use in a node and costs time in every boot.
mask() {
    tree=$1
    shift
    for unit; do ln -sf /dev/null "$tree/etc/systemd/system/$unit"; done
}

# mask_start_up TREE : units and generators of systemd's own start-up that nothing here depends on. A virtual machine takes a
# tenth of its boot for them.
mask_start_up() {
    mask "$1" dev-hugepages.mount dev-mqueue.mount proc-sys-fs-binfmt_misc.automount sys-fs-fuse-connections.mount \
        sys-kernel-config.mount sys-kernel-debug.mount sys-kernel-tracing.mount systemd-creds.socket systemd-initctl.socket \
        systemd-journald-audit.socket systemd-network-generator.service systemd-random-seed.service systemd-sysext.socket \
        systemd-udev-load-credentials.service uuidd.socket
    # Each runs at every start and reload of systemd. The one for root= and /etc/fstab stays.
    mkdir -p "$1/etc/systemd/system-generators"
    for name in debug getty gpt-auto hibernate-resume rc-local run ssh system-update sysv tpm2; do
        ln -s /dev/null "$1/etc/systemd/system-generators/systemd-$name-generator"
    done
}

# network_units TREE : NetworkManager and Open vSwitch from the start, without what would make them wait.
network_units() {
    for unit in NetworkManager.service openvswitch-switch.service; do
        # Its warnings are about /proc, which it does not need.
        chroot "$1" systemctl enable --quiet "$unit" 2>/dev/null || die "cannot enable $unit"
    done
    # A unit that waits for the network to be online, and everything after Open vSwitch with it.
    rm -r "$1/etc/systemd/system/openvswitch-switch.service.requires"
}
