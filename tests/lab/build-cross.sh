#!/bin/sh
# build-cross.sh ARCHITECTURE DEST : a tree with rustc, the standard library and C compiler of this one, and QEMU for its
# programs. rustc takes only a standard library of its own build, and a toolchain of rustup's may have the host's alone: so all
# of it is Debian's.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
. "$here/../cross/architecture.sh"
[ $# -eq 2 ] || die "usage: build-cross.sh ARCHITECTURE DEST"

host=$(dpkg --print-architecture)
name=$1
architecture "$name"
set -- "$2" base-files dash rustc cargo libjemalloc2 qemu-user
indexes=$host
library=
# The host's own has no packages of a cross compiler.
if [ "$debian" != "$host" ]; then
    set -- "$@" "gcc-$triplet" "libc6-dev-$debian-cross"
    indexes=$host,$debian
    library=libstd-rust-dev:$debian
fi

say "building the tree of compilers for $name (about a minute)"
# Of the foreign packages the library alone, without what it depends on: a foreign LLVM is as large as the compiler.
# shellcheck disable=SC2016 # the hook's variables; mmdebstrap sets them
unpack "$@" "--architectures=$indexes" '--extract-hook=set -e
    export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
    cd "$1/var/cache/apt/archives"
    [ -n "'"$library"'" ] || exit 0
    apt-get download --quiet=2 --option=APT::Sandbox::User=root '"$library"'
    for package in libstd-rust-dev_*.deb; do
        dpkg-deb --extract "$package" "$1"
        rm "$package"
    done'
# A link of update-alternatives.
ln -s gcc "$1/usr/bin/cc"
rm -rf "$1/usr/share/doc" "$1/usr/share/man" "$1/usr/share/locale" "$1/var/lib/apt/lists" "$1/var/cache/apt"
mkdir -p "$1/lab"
{ chroot "$1" rustc --version; "$1/usr/bin/qemu-$name" --version | head -n 1; } >"$1/lab/versions"
