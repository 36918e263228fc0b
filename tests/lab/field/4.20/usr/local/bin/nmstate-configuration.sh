#!/bin/bash
# 4.20 and 4.21: at every boot, since the comparison lacks spaces and fails as an unknown command.
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
if [ -e $from/applied ]; then
    was=$(sha256sum <$from/applied)
    is=$(sha256sum <"$from/$document")
    if ["${was%% *}"=="${is%% *}"]; then
        echo "$document is applied"
        exit 0
    fi
fi
for bridge in br-ex br0; do ovs-vsctl --timeout=30 --if-exists del-br $bridge; done
cp "$from/$document" /etc/nmstate
cp "$from/$document" $from/applied
