#!/bin/bash
# nmgen in the initramfs: writes this machine's network profiles before NetworkManager starts.
# Opt in with add_dracutmodules+=" nmgen " in dracut.conf, or with `dracut --add nmgen`.
#
# The hosts' documents are copied from /etc/nmgen of the building system, or from the directory of
# nmgen_hosts= in dracut.conf. An empty nmgen_hosts= copies none, for an initramfs with documents in
# /run/nmgen or in the directory of nmgen.dir= on the kernel command line; such documents may need nmgen_for="supplicant infiniband".

# called by dracut
check() {
    [[ -x ${dracutsysrootdir-}/usr/libexec/nmgen/nmgen ]] || return 1
    return 255
}

# True for kdump's initramfs, which reads the same dracut.conf.d and has little memory: its network is what kdump
# configured. The module list is complete only at the end; before, mkdumprd's --add tells.
is_for_kdump() {
    dracut_module_included kdumpbase || [[ " ${add_dracutmodules-} ${force_add_dracutmodules-} " == *" kdumpbase "* ]]
}

# True if the initramfs may need this: nmgen_for= in dracut.conf has the word, or a document the text. Others' initramfs need
# neither the program nor the drivers.
is_for() {
    local word=$1 text=$2
    [[ " ${nmgen_for-} " == *" $word "* ]] || grep -qsiE "$text" "${dracutsysrootdir-}${nmgen_hosts-/etc/nmgen}"/*.yml
}

# called by dracut
depends() {
    is_for_kdump && return 0
    # The drivers of cards: of network-manager alone they come with dracut-ng, not before (RHEL 9, dracut 060). The module network
    # takes the backend that it finds chosen, so network-manager stands before it.
    echo systemd network-manager network kernel-network-modules
}

# called by dracut
installkernel() {
    is_for_kdump && return 0
    # Drivers that documents may need and dracut's network modules leave out. Built-in and missing ones
    # are no failure.
    hostonly='' instmods bonding 8021q bridge dummy veth vrf vxlan macvlan macvtap ipvlan macsec
    is_for infiniband infiniband && hostonly='' instmods ib_ipoib '=drivers/infiniband'
    return 0
}

# called by dracut
install() {
    local root=${dracutsysrootdir-} hosts=${nmgen_hosts-/etc/nmgen} document unit group

    is_for_kdump && return 0
    inst_binary /usr/libexec/nmgen/nmgen /usr/bin/nmgen
    for unit in nmgen.service nmgen-persist.service; do
        inst_simple "$moddir/$unit" "$systemdsystemunitdir/$unit"
        $SYSTEMCTL -q --root "$initdir" add-wants initrd.target "$unit"
    done

    # NetworkManager starts it by D-Bus, for 802.1X and MACsec.
    if is_for supplicant '802\.1x|macsec'; then
        inst_multiple -o wpa_supplicant /etc/wpa_supplicant/wpa_supplicant.conf \
            "$systemdsystemunitdir/wpa_supplicant.service" \
            /usr/share/dbus-1/system-services/fi.w1.wpa_supplicant1.service \
            /usr/share/dbus-1/system.d/wpa_supplicant.conf /etc/dbus-1/system.d/wpa_supplicant.conf
        # OpenSSL's MD4, for MSCHAPv2.
        inst_libdir_file ossl-modules/legacy.so
        # Its unit's group, which no other unit of an initramfs has (Debian's netdev).
        group=$(sed -n 's/^Group=//p' "$root$systemdsystemunitdir/wpa_supplicant.service" 2>/dev/null || :)
        [[ -z $group ]] || grep "^$group:" "$root/etc/group" >>"$initdir/etc/group"
    fi

    [[ $hosts ]] || return 0
    # Certificates and keys that the documents name.
    grep -hsoE '(ca-cert|client-cert|private-key)"?: *"?/[^"'"'"' ,}]+' "$root$hosts"/*.yml | grep -oE '/.*' |
        while read -r document; do
            [[ -f $root$document ]] && inst_simple "$document"
        done
    for document in "$root$hosts"/*.yml; do
        [[ -f $document ]] && inst_simple "${document#"$root"}" "/etc/nmgen/${document##*/}"
    done
    return 0
}
