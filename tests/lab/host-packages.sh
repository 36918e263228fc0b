#!/bin/sh
# Installs the host packages that the lab needs, if any is absent.
set -eu
here=$(dirname "$(readlink -f "$0")")
exec "$here/../install-packages" mmdebstrap systemd-container iproute2 dnsmasq-base nftables ethtool \
    iputils-ping fping util-linux libfaketime openssl cpio
