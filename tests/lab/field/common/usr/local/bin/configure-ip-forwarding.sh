#!/bin/sh
# Enables forwarding on the link that now has the node's address; fails without one.
set -eu
primary=$(cat /run/nodeip-configuration/primary-ip)
link=$(ip -oneline address show to "$primary" | awk '{ print $2; exit }')
[ -n "$link" ] || { echo "no link has $primary"; exit 1; }
echo "forwarding on $link"
for family in ipv4 ipv6; do
    switch=/proc/sys/net/$family/conf/$link/forwarding
    [ ! -e "$switch" ] || echo 1 >"$switch"
done
echo "$link" >/run/lab-forwarding
