#!/bin/bash
# 4.22: once for each content.
set -eu
from=/etc/nmstate/openshift

systemctl --quiet is-enabled mtu-migration || rm -rf /etc/cno/mtu-migration
document=
for name in "$(hostname -s).yml" cluster.yml; do
    if [ -s "$from/$name" ]; then
        document=$name
        break
    fi
done
[ -n "$document" ] || { echo "no document"; exit 0; }
if [ -e $from/applied ] && [ "$(sha256sum <$from/applied)" = "$(sha256sum <"$from/$document")" ]; then
    echo "$document is applied"
    exit 0
fi
for bridge in br-ex br0; do ovs-vsctl --timeout=30 --if-exists del-br $bridge; done
cp "$from/$document" /etc/nmstate
cp "$from/$document" $from/applied
