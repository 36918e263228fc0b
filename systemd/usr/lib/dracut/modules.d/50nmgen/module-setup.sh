#!/bin/bash
# nmgen in the initramfs: it chooses this machine's network profiles before NetworkManager starts.
# Opt in with add_dracutmodules+=" nmgen " in dracut.conf, or with `dracut --add nmgen`.
#
# Documents of hosts come from /etc/nmgen of the system that builds the initramfs, or from the directory
# that nmgen_hosts= in dracut.conf names; nmgen_hosts= with nothing behind it takes none along, for an
# initramfs that gets them in /run/nmgen or from nmgen.dir= on the kernel command line.

# called by dracut
check() {
    [[ -x ${dracutsysrootdir-}/usr/libexec/nmgen/nmgen ]] || return 1
    return 255
}

# called by dracut
depends() {
    echo systemd network-manager
}

# called by dracut
installkernel() {
    # What documents may ask for and dracut's own network modules leave out. One that a kernel has
    # built in, or doesn't have, is none to fail for.
    hostonly='' instmods bonding 8021q bridge dummy veth vrf vxlan macvlan macvtap ipvlan macsec
}

# called by dracut
install() {
    local root=${dracutsysrootdir-} hosts=${nmgen_hosts-/etc/nmgen} document unit

    inst_binary /usr/libexec/nmgen/nmgen /usr/bin/nmgen
    for unit in nmgen.service nmgen-persist.service; do
        inst_simple "$moddir/$unit" "$systemdsystemunitdir/$unit"
        $SYSTEMCTL -q --root "$initdir" add-wants initrd.target "$unit"
    done

    [[ $hosts ]] || return 0
    for document in "$root$hosts"/*.yml; do
        [[ -f $document ]] && inst_simple "${document#"$root"}" "/etc/nmgen/${document##*/}"
    done
    return 0
}
