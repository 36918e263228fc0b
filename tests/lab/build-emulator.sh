#!/bin/sh
# build-emulator.sh DEST : a tree with QEMU, the peer's switch, HTTP server and authenticator of 802.1X, to be run in a chroot.
# Debian 13's for each release of the nodes: an older QEMU's guest kernel stops with an oops.
set -eu
here=$(dirname "$(readlink -f "$0")")
LAB_SUITE=trixie
. "$here/lib.sh"
[ $# -eq 1 ] || die "usage: build-emulator.sh DEST"

say "building the tree of the emulator (about half a minute)"
bootstrap "$1" qemu-system-x86 qemu-utils openvswitch-switch busybox hostapd
rm -rf "$1/var/lib/apt/lists" "$1/var/cache/apt"
mkdir -p "$1/lab/image"
chroot "$1" dpkg-query -W qemu-system-x86 openvswitch-switch busybox hostapd >"$1/lab/versions"
