#!/bin/sh
# Installs the host packages that the lab needs, if any is absent.
set -eu
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"

# package:a program that it brings
needed='mmdebstrap:mmdebstrap systemd-container:systemd-nspawn iproute2:ip dnsmasq-base:dnsmasq
    nftables:nft ethtool:ethtool iputils-ping:ping util-linux:nsenter'

missing=
for entry in $needed; do
    PATH=$PATH:/usr/sbin:/sbin command -v "${entry#*:}" >/dev/null || missing="$missing ${entry%%:*}"
done
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null || die "needed, and no apt-get to install it with:$missing"
say "installing on the host:$missing"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list on purpose
apt-get install -y --no-install-recommends $missing >/dev/null 2>&1 || {
    # The package lists may be missing or old.
    apt-get update >/dev/null || die "apt-get update failed"
    apt-get install -y --no-install-recommends $missing >&2 || die "cannot install:$missing"
}
