#!/bin/sh
# With a document only: succeeds when the node's address can be bound; an empty one is a failure.
set -eu
[ -e /etc/nmstate/openshift/applied ] || exit 0
address=$(cat /run/nodeip-configuration/primary-ip)
[ -n "$address" ] || { echo "the node has no address"; exit 1; }
until perl -MIO::Socket::IP -e \
    'IO::Socket::IP->new(LocalHost => $ARGV[0], LocalPort => 0, Listen => 1) or die "$@\n"' "$address"; do
    sleep 10
done
echo "$address can be bound"
