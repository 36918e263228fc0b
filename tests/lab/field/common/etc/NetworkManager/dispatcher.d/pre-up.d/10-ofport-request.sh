#!/bin/bash
# 10-ofport-request.sh DEVICE pre-up : keeps the OpenFlow port number of a port of br-ex or br-ex1 for as long as the machine runs.
set -eu -o pipefail
device=$1
[ "$2" = pre-up ] || exit 0

# value PROPERTY PROFILE
value() { nmcli --terse --get-values "$1" connection show "$2"; }

# active DEVICE-OR-UUID FILTER : uuid of the profile that is active on a device, or that has this uuid.
active() {
    nmcli --terse --fields DEVICE,UUID,TYPE connection show |
        awk -F: -v it="$1" -v kind="$2" '($1 == it || $2 == it) && (($3 ~ /^ovs/) == kind) { print $2; exit }'
}

interface=$(active "$device" 0)
[ -n "$interface" ] && [ "$(value connection.slave-type "$interface")" = ovs-port ] || exit 0
port=$(active "$(value connection.master "$interface")" 1)
[ -n "$port" ] && [ "$(value connection.slave-type "$port")" = ovs-bridge ] || exit 0
controller=$(value connection.master "$port")
[ -n "$controller" ] || exit 0
bridge=$(value connection.interface-name "$controller" || :)
case $bridge in
br-ex | br-ex1) ;;
# The bridge of a document.
*) bridge=$(value connection.interface-name br-ex-br) ;;
esac
case $bridge in br-ex | br-ex1) ;; *) exit 0 ;; esac
number=$(ovs-vsctl get interface "$device" ofport) || exit 0

requests=/run/ofport_requests.$bridge
touch "$requests"
asked=$(awk -v it="$device" '$1 == it { print $2 }' "$requests")
if [ -z "$asked" ]; then
    asked=$number
    for free in $(seq 65000); do
        awk '{ print $2 }' "$requests" | grep -qx "$asked" || break
        asked=$free
    done
    echo "$device $asked" >>"$requests"
fi
ovs-vsctl set interface "$device" ofport_request="$asked"
