#!/bin/sh
# Forwards on the link that has the node's address at this moment; fails if none has.
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
