#!/bin/sh
# build-initramfs.sh IMAGE FILES DEST : the initramfs that dracut makes in the machine's own root file system with FILES laid over it,
# such as documents and the certificates that they name. Called through `unshare --mount`, with which its mounts end.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
. "$here/initramfs.sh"
[ $# -eq 3 ] || die "usage: build-initramfs.sh IMAGE FILES DEST"
dest=$3

work=$dest.work
mkdir -p "$work/system" "$work/upper" "$work/work" "$work/root"
mount -o loop,ro "$1/disk" "$work/system"
mount -t overlay -o "lowerdir=$2:$work/system,upperdir=$work/upper,workdir=$work/work" overlay "$work/root"
mount_host "$work/root"
initramfs "$work/root" "$dest"
