#!/bin/bash
# 4.16 to 4.19: only once, even if the document changes; the marker is an empty file.
set -eu
from=/etc/nmstate/openshift

systemctl --quiet is-enabled mtu-migration || rm -rf /etc/cno/mtu-migration
if [ -e $from/applied ]; then
    echo "a document was applied"
    exit 0
fi
document=
for name in "$(hostname -s).yml" cluster.yml; do
    if [ -s "$from/$name" ]; then
        document=$name
        break
    fi
done
[ -n "$document" ] || { echo "no document"; exit 0; }
if [ -e "/etc/nmstate/$document" ]; then
    echo "/etc/nmstate/$document is somebody else's"
    exit 1
fi
for bridge in br-ex br0; do ovs-vsctl --timeout=30 --if-exists del-br $bridge; done
cp "$from/$document" /etc/nmstate
touch $from/applied
