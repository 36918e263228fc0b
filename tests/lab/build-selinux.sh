#!/bin/sh
# build-selinux.sh MACHINE DEST : the root file system of a virtual machine with Debian's policy of SELinux, enforcing; the rest of
# MACHINE stays. Its files get their labels when the image is made.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
[ $# -eq 2 ] || die "usage: build-selinux.sh MACHINE DEST"
machine=$1
dest=$2

say "building the root file system with SELinux (about half a minute)"
cp -a --reflink=auto "$machine" "$dest"
cp -L /etc/resolv.conf "$dest/etc/resolv.conf"
cp "$here/selinux/lab.cil" "$dest/lab.cil"
log=$dest/build.log
cat >"$dest/build.sh" <<'BUILD'
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# policycoreutils has setfiles, which Ignition calls in the initramfs.
apt-get install -qq -y --no-install-recommends selinux-policy-default policycoreutils selinux-utils
semodule --noreload --install /lab.cil
sed -i 's/^SELINUX=.*/SELINUX=enforcing/' /etc/selinux/config
BUILD
# The packages' scripts and semodule read /proc.
if ! unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" sh /build.sh' "$dest" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    die "SELinux's policy cannot be installed (the end of the log is above)"
fi
# The journal has what the kernel denied: its log alone would lose some.
rm "$dest/etc/systemd/system/systemd-journald-audit.socket"
rm -rf "$dest/build.sh" "$dest/lab.cil" "$log" "$dest/etc/resolv.conf" "$dest/var/lib/apt/lists" "$dest/var/cache/apt"
mkdir -p "$dest/var/lib/apt/lists" "$dest/var/cache/apt/archives/partial"
chroot "$dest" dpkg-query -W selinux-policy-default policycoreutils >>"$dest/lab/versions"
touch -r "$dest/usr" "$dest/etc/.updated" "$dest/var/.updated"
