#!/bin/sh
# build-image.sh MACHINE INSTALLED DEST : disk, kernel and initramfs of a virtual machine; INSTALLED is what `make install` made.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
. "$here/node.sh"
. "$here/initramfs.sh"
[ $# -eq 3 ] || die "usage: build-image.sh MACHINE INSTALLED DEST"
machine=$1
installed=$2
dest=$3

say "building the virtual machine's image (about half a minute)"
work=$(mktemp -d "${TMPDIR:-/var/tmp}/lab-image.XXXXXX")
tree=$work/root
cleanup() {
    for dir in run sys dev proc; do umount -R -l "$tree/$dir" 2>/dev/null || :; done
    # Never remove a tree with the host's /dev still in it.
    if ! grep -q " $work/" /proc/mounts; then rm -rf "$work"; fi
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# Its content: with a link in the cache, the link would be copied, and the tree behind it changed.
mkdir "$tree"
cp -a "$machine/." "$tree"
lay_over "$installed" "$tree"
# The machine's own part of the initramfs: what Fedora CoreOS has and Debian lacks.
cp -a "$here/dracut/50lab" "$tree/usr/lib/dracut/modules.d/"
# Never in an initramfs by itself: it is the users who opt in.
echo 'add_dracutmodules+=" nmgen "' >"$tree/etc/dracut.conf.d/nmgen.conf"

mount_host "$tree"

# uncompressed VMLINUZ : the kernel in it, as an ELF file. The header tells where its compressed part is, which ends with four
# bytes of its uncompressed size (Documentation/arch/x86/boot.rst).
uncompressed() {
    # number SIZE OFFSET : an integer of the header.
    number() { od --address-radix=n --format="u$1" --skip-bytes="$2" --read-bytes="$1" "$vmlinuz" | tr -d ' '; }
    vmlinuz=$1
    sectors=$(number 1 497)
    offset=$(number 4 584)
    length=$(number 4 588)
    payload() { tail --bytes="+$(((sectors + 1) * 512 + offset + 1))" "$vmlinuz" | head --bytes="$((length - 4))"; }
    case $(payload | od --address-radix=n --format=x1 --read-bytes=4 | tr -d ' ') in
    28b52ffd) payload | chroot "$tree" zstd --decompress --stdout ;;
    # Debian 12's kernel.
    02214c18) payload | chroot "$tree" lz4 --decompress --stdout ;;
    *) die "the kernel's image is compressed neither by zstd nor by lz4" ;;
    esac
}

mkdir -p "$dest"
# The second one is a stock image's: it has heard nothing of nmgen.
initramfs "$tree" "$dest/initrd" &
initramfs "$tree" "$dest/stock" nmgen
wait $!
for dir in run sys dev proc; do umount -R -l "$tree/$dir"; done
uncompressed "$tree/boot/vmlinuz-$(kernel_of "$tree")" >"$dest/vmlinux"
rm -rf "$tree"/boot/*
if [ -e "$tree/etc/selinux/config" ]; then
    # On a host without SELinux, and with none of its mounts in the tree.
    chroot "$tree" setfiles -m -F /etc/selinux/default/contexts/files/file_contexts /
fi
# Room for what a case writes; what was not written takes none.
mkfs.ext4 -q -d "$tree" -L root -O ^has_journal "$dest/disk" 2G >/dev/null
cp "$tree/lab/versions" "$dest/versions"
