#!/bin/sh
# build-networkmanager.sh DEST : NetworkManager with Open vSwitch, from Debian's source package or from LAB_NETWORKMANAGER, as a tree to
# lay over a root file system. Debian's own build has no OVS plugin, and the plugin alone does not load into it: NM exports only what its
# own plugins use. So the daemon and the plugin are built; nmcli, libnm, the dispatcher, units and policies are Debian's.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
[ $# -eq 1 ] || die "usage: build-networkmanager.sh DEST"
dest=$1

work=$(mktemp -d "${TMPDIR:-/var/tmp}/lab-nm.XXXXXX")
chroot=$work/root
cleanup() {
    umount -R -l "$chroot/dev" 2>/dev/null || :
    umount -R -l "$chroot/proc" 2>/dev/null || :
    # Never remove a tree with the host's /dev still in it.
    if ! grep -q " $work/" /proc/mounts; then rm -rf "$work"; fi
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# The description of systemd for builds: Debian 12 has no package of its own for it.
case $LAB_SUITE in
bookworm) systemd=systemd ;;
*) systemd=systemd-dev ;;
esac

say "building NetworkManager: build tree (about a quarter of a minute)"
unpack "$chroot" '?essential' apt gcc libc6-dev meson ninja-build pkgconf gettext libglib2.0-dev libudev-dev \
    libsystemd-dev $systemd uuid-dev libgnutls28-dev libndp-dev libreadline-dev libjansson-dev \
    libdbus-1-dev python3 dpkg-dev xz-utils xsltproc perl

for dir in proc dev; do
    mount --rbind "/$dir" "$chroot/$dir"
    mount --make-rslave "$chroot/$dir"
done

# The source comes from wherever the packages came from.
find "$chroot/etc/apt" \( -name sources.list -o -path '*/sources.list.d/*' \) -type f | while read -r list; do
    sed -i -e 's/^deb \(.*\)/&\ndeb-src \1/' -e 's/^Types: deb$/Types: deb deb-src/' "$list"
done
cp /etc/resolv.conf "$chroot/etc/resolv.conf"
# In Debian 12 apt trusts the archive's keys by a copy that the keyring's script makes, which has not run.
cp -n "$chroot/usr/share/keyrings/debian-archive-keyring.gpg" "$chroot/etc/apt/trusted.gpg.d/"

[ -z "$LAB_NETWORKMANAGER" ] || cp "$LAB_NETWORKMANAGER" "$chroot/networkmanager.tar"
say "building NetworkManager: source and compilation (about a minute)"
cat >"$chroot/build.sh" <<'BUILD'
set -eu
# Of packages that were only unpacked: there are no users, and no links of update-alternatives.
export CC=gcc
echo 'APT::Sandbox::User "root";' >/etc/apt/apt.conf.d/lab
mkdir /src
cd /src
if [ -e /networkmanager.tar ]; then
    tar --extract --file=/networkmanager.tar --one-top-level=network-manager --strip-components=1
else
    apt-get update -qq
    apt-get source -qq network-manager
fi
cd network-manager*/
libdir=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
# Not in every version: 464XLAT, which needs a compiler for BPF, the firmware's table of NVMe devices, manual pages.
newer=$(sed -n "s/^option('\(clat\|man\|nbft\)'.*/-D\1=false/p" meson_options.txt)
meson setup b --prefix=/usr --sysconfdir=/etc --localstatedir=/var --libdir="$libdir" \
    --libexecdir=libexec --buildtype=plain -Dc_args="-O1 -g0 -w" \
    -Dsystemdsystemunitdir=/usr/lib/systemd/system -Dsystem_ca_path=/etc/ssl/certs \
    -Dudev_dir=/usr/lib/udev -Dovs=true -Dwifi=false -Diwd=false -Dmodem_manager=false \
    -Dofono=false -Dbluez5_dun=false -Dppp=false -Dteamdctl=false -Dnmcli=false -Dnmtui=false \
    -Dnm_cloud_setup=false -Dintrospection=false -Dvapi=false -Dtests=no -Ddocs=false \
    -Dlibaudit=no -Dselinux=false -Dpolkit=false -Dconcheck=false -Dlibpsl=false -Dqt=false \
    -Dcrypto=gnutls -Dsession_tracking=systemd -Dsession_tracking_consolekit=false \
    -Dsuspend_resume=systemd -Dconfig_dhcp_default=internal -Dconfig_plugins_default=keyfile \
    -Difupdown=false -Dresolvconf=no -Dnetconfig=no -Diptables=/usr/sbin/iptables \
    -Dnft=/usr/sbin/nft -Dreadline=none -Db_lto=false $newer
plugin=src/core/devices/ovs/libnm-device-plugin-ovs.so
ninja -C b src/core/NetworkManager $plugin
# The name of the plugins' directory.
version=$(meson introspect --projectinfo b | sed -n 's/.*"version": *"\([^"]*\)".*/\1/p')
[ -n "$version" ]
install -D --strip --mode=755 --target-directory=/out/usr/sbin b/src/core/NetworkManager
install -D --strip --mode=644 --target-directory="/out/usr/$libdir/NetworkManager/$version" b/$plugin
BUILD
if ! chroot "$chroot" sh /build.sh >"$work/log" 2>&1; then
    tail -n 40 "$work/log" >&2
    die "NetworkManager did not build (the end of its log is above)"
fi

mkdir -p "$dest"
cp -a "$chroot/out/." "$dest/"
