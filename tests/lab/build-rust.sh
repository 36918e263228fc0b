#!/bin/sh
# build-rust.sh DEST : a root file system with the Rust of a Debian release.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
[ $# -eq 1 ] || die "usage: build-rust.sh DEST"
dest=$1

# Debian 13 has a newer Rust than its own for the packages of browsers.
case $LAB_SUITE in
trixie) rust='rustc-web cargo-web' ;;
*) rust='rustc cargo' ;;
esac
say "building the root file system with Rust (about a minute)"
# shellcheck disable=SC2086 # one word a package
bootstrap "$dest" $rust gcc libc6-dev make
mkdir -p "$dest/source" "$dest/target" "$dest/cargo"
