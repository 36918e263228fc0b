# The initramfs of a virtual machine, which dracut makes in the machine's own root file system; sourced after lib.sh, never run.

# mount_host TREE : what dracut needs of the host.
mount_host() {
    for dir in proc dev sys; do
        mount --rbind "/$dir" "$1/$dir"
        mount --make-rslave "$1/$dir"
    done
    mount -t tmpfs tmpfs "$1/run"
}

kernel_of() {
    basename "$1"/usr/lib/modules/*
}

# initramfs TREE DEST [MODULE] : makes one, without MODULE.
initramfs() {
    name=$(basename "$2")
    if ! chroot "$1" dracut --force --no-hostonly --no-hostonly-cmdline --kver "$(kernel_of "$1")" --no-compress \
        --add 'network-manager dracut-systemd ignition lab nbd' \
        --omit "network-legacy systemd-networkd plymouth btrfs lvm mdraid dmraid crypt multipath iscsi nfs cifs dm dmsquash-live lunmask resume selinux bluetooth i18n pcsc fido2 tpm2-tss hwdb systemd-pcrphase systemd-cryptsetup systemd-coredump systemd-bsod nvdimm overlay-root virtfs virtiofs ${3-}" \
        "/run/$name" >"$1/run/$name.log" 2>&1; then
        tail -n 40 "$1/run/$name.log" >&2
        die "dracut failed (the end of its log is above)"
    fi
    mv "$1/run/$name" "$2"
}
