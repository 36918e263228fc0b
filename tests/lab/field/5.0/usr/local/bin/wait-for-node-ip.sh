#!/bin/bash
# With a document only: succeeds when each address of the node can be bound, which has a minute each. Without a primary one it
# fails; without one of a family it does not.
set -eu
[ -e /etc/nmstate/openshift/applied ] || exit 0

# bound ADDRESS
bound() {
    local end=$((SECONDS + 60))
    until perl -MIO::Socket::IP -e \
        'IO::Socket::IP->new(LocalHost => $ARGV[0], LocalPort => 0, Listen => 1) or die "$@\n"' "$1"; do
        [ $SECONDS -lt $end ] || { echo "$1 cannot be bound"; return 1; }
        sleep 10
    done
    echo "$1 can be bound"
}

address=$(cat /run/nodeip-configuration/primary-ip || :)
[ -n "$address" ] || { echo "the node has no address"; exit 1; }
bound "$address"
for family in ipv4 ipv6; do
    address=$(cat /run/nodeip-configuration/$family || :)
    [ -z "$address" ] || bound "$address"
done
