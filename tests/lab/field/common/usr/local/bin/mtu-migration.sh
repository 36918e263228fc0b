#!/bin/sh
# Sets the MTU of the devices of configure-ovs.sh's profiles. A missing profile of br-ex is a failure.
set -eu
saved=/etc/cno/mtu-migration/mtu
[ -n "${TARGET_MTU:-}" ] || exit 0
mkdir -p $saved
links=$(nmcli --get-values connection.interface-name connection show ovs-if-br-ex)
links="$links $(nmcli --get-values connection.interface-name connection show ovs-if-phys0)"
for profile in ovs-if-br-ex1 ovs-if-phys1; do
    # 10: no such profile.
    links="$links $(nmcli --get-values connection.interface-name connection show $profile || [ $? -eq 10 ])"
done
for link in $links; do
    [ -e "$saved/$link" ] || echo "ORIGINAL_MTU=$(cat "/sys/class/net/$link/mtu")" >"$saved/$link"
    case $(ovs-vsctl --if-exists get interface "$link" type) in
    system | internal | '""') ovs-vsctl set interface "$link" mtu_request="$TARGET_MTU" ;;
    *) ip link set dev "$link" mtu "$TARGET_MTU" ;;
    esac
done
