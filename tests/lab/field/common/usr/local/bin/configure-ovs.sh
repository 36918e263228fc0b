#!/bin/bash
# Makes br-ex from the uplink, by profiles in /run; with a document it only clears ovn-remote.
# LAB_CARRIES_DNS_AND_LLDP=1: as 4.20. RETRY: the pause after a failure, empty for none.
set -u

ovs-vsctl set Open_vSwitch . external_ids:ovn-remote='" "'
[ ! -e /etc/nmstate/openshift/applied ] || exit 0
touch /run/ovs-config-executed

run=/run/NetworkManager/system-connections
etc=/etc/NetworkManager/system-connections
kept=${NM_CONN_SET_PATH:-$run}
clone=-slave-ovs-clone
hint=/var/lib/ovnk/iface_default_hint
extra=/etc/ovnk/extra_bridge
booted=/run/configure-ovs-boot-done
# For a kernel without Open vSwitch.
datapath=()
[ -e /sys/module/openvswitch ] || datapath=(ovs-bridge.datapath-type netdev)

# value PROPERTY PROFILE : empty without such a profile.
value() { nmcli --escape no --get-values "$1" connection show "$2" 2>/dev/null || :; }

exists() { nmcli connection show "$1" >/dev/null 2>&1; }

# files BRIDGE CARD DIRECTORY : the existing profiles of a bridge, by file name.
files() {
    local name
    for name in "$1" "ovs-if-$1" "ovs-port-$1" "ovs-if-$2" "ovs-port-$2"; do
        compgen -G "$3/$name" || :
        compgen -G "$3/$name.*" || :
    done
    compgen -G "$3/*$clone*" || :
}

# remove BRIDGE CARD : the profiles, and the bridge, which NetworkManager keeps while it has OVN's patch port.
remove() {
    local directory file
    for directory in "$run" "$kept" "$etc"; do
        while read -r file; do
            rm -f "$file"
            changed=1
        done < <(files "$1" "$2" "$directory")
    done
    ovs-vsctl --timeout=30 --if-exists del-br "$1"
}

# The network from before the first run of this script.
roll_back() {
    local cards card i
    cards="$(value connection.interface-name ovs-if-phys0) $(value connection.interface-name ovs-if-phys1)"
    remove br-ex phys0
    remove br-ex1 phys1
    [ $changed = 1 ] || return 0
    changed=0
    nmcli connection reload
    # As long as NetworkManager may take to bring devices down.
    sleep 10
    for card in $cards; do
        if nmcli --get-values GENERAL.STATE device show "$card" | grep -q disconnected; then
            for i in {1..10}; do
                nmcli device connect "$card" && break
                sleep 5
            done
        fi
        timeout 60 bash -c "until nmcli --get-values DEVICE,STATE connection show --active | grep -qx '$card:activated'; do sleep 5; done" ||
            echo "$card has no active profile"
    done
}

# default_link FAMILY : the link of the first default route with a gateway, the second bridge's excluded.
default_link() {
    local not=br-ex1
    [ ! -e $extra ] || not="$not|$(cat $extra)"
    ip "$1" route show default | grep -vE "$not" | awk '$4 == "dev" { print $5; exit }'
}

# The last choice, if it is still possible.
valid_hint() {
    local link
    link=$(cat $hint 2>/dev/null) || return 0
    case $link in '' | br-ex | br-ex1) return 0 ;; esac
    [ ! -e "/sys/class/net/$link" ] || echo "$link"
}

uplink() {
    local link='' last count=0 address
    if [ -e /etc/ovnk/default_bridge ]; then
        cat /etc/ovnk/default_bridge
        return
    fi
    address=$(cat /run/nodeip-configuration/primary-ip 2>/dev/null || :)
    if [ -n "$address" ]; then
        link=$(ip -oneline address show to "$address" | awk -v not="$(cat $extra 2>/dev/null)" '$2 != "br-ex1" && $2 != not { print $2; exit }')
        if [ -n "$link" ]; then
            echo "$link"
            return
        fi
    fi
    while [ $count -lt 12 ]; do
        link=$(default_link -4)
        [ -n "$link" ] || link=$(default_link -6)
        [ -z "$link" ] || break
        count=$((count + 1))
        sleep 5
    done
    case $link in br-ex | br-ex1) ;;
    *)
        last=$(valid_hint)
        while [ -n "$last" ] && [ "$last" != "$link" ] && [ $count -le 12 ]; do
            if [ -n "$(ip -4 route show default dev "$last"; ip -6 route show default dev "$last")" ]; then
                link=$last
            fi
            count=$((count + 1))
            [ "$last" = "$link" ] || sleep 5
        done
        [ -z "$link" ] || echo "$link" >$hint
        ;;
    esac
    echo "$link"
}

# add ID ARGUMENT... : a profile in /run that does not start by itself yet.
add() { nmcli connection add save no con-name "$@" connection.autoconnect no; }

# change ID ARGUMENT... : edits the file and loads it again.
change() {
    local file=$run/$1.nmconnection text
    shift
    text=$(nmcli --offline connection modify "$@" <"$file")
    rm "$file"
    (umask 077 && printf '%s\n' "$text" >"$file")
    nmcli connection load "$file"
}

# make_bridge LINK BRIDGE CARD METRIC : the profiles of a bridge on a link.
make_bridge() {
    local link=$1 bridge=$2 card=$3 metric=$4 old mac mtu kind options='' cloned=1 args=() port id
    [ -n "$link" ] || { echo "no default route"; return 1; }
    # If the bridge already has the route, make nothing.
    [ "$link" != "$bridge" ] || return 0
    changed=1
    mac=$(cat "/sys/class/net/$link/address")
    mtu=$(cat "/sys/class/net/$link/mtu")
    old=$(nmcli --get-values UUID,DEVICE connection show --active | awk -F: -v it="$link" '$2 == it { print $1; exit }')
    [ -n "$old" ] || { echo "$link has no profile"; return 1; }

    if ! exists "$bridge"; then
        ovs-vsctl --timeout=30 --if-exists del-br "$bridge"
        add "$bridge" type ovs-bridge conn.interface "$bridge" 802-3-ethernet.mtu "$mtu" \
            connection.autoconnect-slaves 1 ${datapath[@]+"${datapath[@]}"}
    fi
    if ! exists "ovs-port-$card"; then
        ovs-vsctl --timeout=30 --if-exists del-port "$bridge" "$link"
        add "ovs-port-$card" type ovs-port conn.interface "$link" slave-type ovs-bridge master "$bridge" \
            connection.autoconnect-slaves 1
    fi
    if ! exists "ovs-port-$bridge"; then
        ovs-vsctl --timeout=30 --if-exists del-port "$bridge" "$bridge"
        add "ovs-port-$bridge" type ovs-port conn.interface "$bridge" slave-type ovs-bridge master "$bridge"
    fi

    kind=$(value connection.type "$old")
    case $kind in
    vlan)
        port=$(value vlan.parent "$old")
        ! exists "$port" || port=$(value GENERAL.DEVICES "$port")
        args=(dev "$port" id "$(value vlan.id "$old")")
        ;;
    bond)
        options=$(value bond.options "$old")
        [ -z "$options" ] || args=(bond.options "$options")
        if [[ ,$options, =~ ,mode=active-backup, && ,$options, =~ ,fail_over_mac=(1|active|2|follow), ]]; then cloned=0; fi
        ;;
    tun) args=(tun.mode "$(value tun.mode "$old")") ;;
    bridge) ;;
    *) kind=802-3-ethernet ;;
    esac
    [ $cloned = 0 ] || args+=(802-3-ethernet.cloned-mac-address "$mac")
    [ -z "${LAB_CARRIES_DNS_AND_LLDP:-}" ] || args+=(connection.lldp "$(value connection.lldp "$old")")
    if ! exists "ovs-if-$card"; then
        ovs-vsctl --timeout=30 --if-exists destroy interface "$link"
        add "ovs-if-$card" type "$kind" conn.interface "$link" master "$(value connection.uuid "ovs-port-$card")" \
            slave-type ovs-port connection.autoconnect-priority 100 connection.autoconnect-slaves 1 \
            802-3-ethernet.mtu "$mtu" "${args[@]}"
    fi

    # The ports of a bond go with it, under profiles of their own.
    for port in $(nmcli --get-values UUID connection show); do
        case $(value connection.master "$port") in "$old" | "$link") ;; *) continue ;; esac
        [ "$(value GENERAL.STATE "$port")" = activated ] || [ "$(value connection.autoconnect "$port")" = yes ] || continue
        id=$(value connection.id "$port")$clone
        nmcli connection delete id "$id" >/dev/null 2>&1 || :
        nmcli connection clone --temporary "$port" "$id"
        change "$id" connection.master "$(value connection.uuid "ovs-if-$card")" \
            connection.autoconnect-priority 100 connection.autoconnect no
    done

    exists "ovs-if-$bridge" || address_profile "$link" "$bridge" "$old" "$mac" "$mtu" "$metric"
}

# address_profile LINK BRIDGE OLD MAC MTU METRIC : the old profile's addresses, on the bridge.
address_profile() {
    local link=$1 bridge=$2 old=$3 mac=$4 mtu=$5 metric=$6 id=ovs-if-$2 port property given args
    port=$(value connection.uuid "ovs-port-$bridge")
    args=(conn.interface "$bridge" 802-3-ethernet.mtu "$mtu" 802-3-ethernet.cloned-mac-address "$mac"
        ipv4.route-metric "$metric" ipv6.route-metric "$metric")
    ovs-vsctl --timeout=30 --if-exists destroy interface "$bridge"
    if [ "$(value ipv4.method "$old")" = manual ] || [ "$(value ipv6.method "$old")" = manual ] ||
        [ -n "$(value ipv4.addresses "$old")$(value ipv6.addresses "$old")" ]; then
        # A copy of the whole profile; its file is edited, since nmcli cannot change the type.
        nmcli connection clone --temporary "$old" "$id"
        sed -i '/^\[connection\]$/,/^\[/ s/^type=.*/type=ovs-interface/' "$run/$id.nmconnection"
        change "$id" "${args[@]}" connection.multi-connect "" connection.autoconnect no \
            connection.master "$port" connection.slave-type ovs-port ovs-interface.type internal
        return
    fi
    [ -z "$(ip -4 -oneline address show dev "$link")" ] || args+=(ipv4.may-fail no)
    [ -z "$(ip -6 -oneline address show dev "$link" scope global)" ] || args+=(ipv6.may-fail no)
    given=(ipv4.dhcp-client-id ipv6.dhcp-duid ipv6.addr-gen-mode)
    [ -z "${LAB_CARRIES_DNS_AND_LLDP:-}" ] || given+=(ipv4.dns ipv6.dns ipv4.ignore-auto-dns ipv6.ignore-auto-dns)
    for property in "${given[@]}"; do
        [ -z "$(value "$property" "$old")" ] || args+=("$property" "$(value "$property" "$old")")
    done
    add "$id" type ovs-interface slave-type ovs-port master "$port" \
        ipv4.method "$(value ipv4.method "$old")" ipv6.method "$(value ipv6.method "$old")" "${args[@]}"
}

# activate ID... : in order; one of a bond's ports is enough.
activate() {
    local id i bond came='' wanted=''
    for id; do
        [ "$(value connection.slave-type "$id")" != bond ] || change "$id" connection.autoconnect yes
    done
    for id; do
        bond=
        if [ "$(value connection.slave-type "$id")" = bond ]; then
            bond=$(value connection.master "$id")
            wanted="$wanted $bond"
            timeout 5 bash -c "until nmcli --get-values GENERAL.STATE connection show '$id' | grep -qx activated; do sleep 1; done" || :
        fi
        for i in {1..10}; do
            [ "$(value GENERAL.STATE "$id")" != activated ] || break
            nmcli connection up "$id" && break
            sleep 5
        done
        if [ "$(value GENERAL.STATE "$id")" = activated ]; then
            came="$came $bond "
        elif [ -z "$bond" ]; then
            echo "$id cannot be activated"
            return 1
        fi
        change "$id" connection.autoconnect yes
    done
    for bond in $wanted; do
        case $came in *" $bond "*) ;; *) return 1 ;; esac
    done
}

# A process cannot bind an IPv6 address that duplicate address detection still looks for.
wait_for_ipv6() {
    local i address
    for i in {1..60}; do
        address=$(ip -6 -oneline address show dev br-ex scope global | awk '{ sub("/.*", "", $4); print $4; exit }')
        [ -n "$address" ] || return 0
        [ -n "$(ip -6 -oneline address show dev br-ex to "$address" tentative)" ] || return 0
        sleep 1
    done
    return 1
}

# failed : keeps copies of the profiles for diagnosis, and undoes everything.
failed() {
    local directory
    directory=$(mktemp -d "/tmp/configure-ovs-$(date +%Y-%m-%d-%H-%M-%S)-XXXXXXXXXX")
    find "$run" \( -name 'br-ex*' -o -name 'ovs-*' -o -name "*$clone*" \) -exec cp {} "$directory/" \;
    roll_back
}

configure() {
    set -eu
    changed=0
    trap 'exit 1' TERM INT
    trap 'status=$?; [ $status = 0 ] || failed; exit $status' EXIT
    local link ids
    systemctl --quiet is-enabled mtu-migration || rm -rf /etc/cno/mtu-migration
    command -v ovs-vsctl
    mkdir -p /etc/ovnk /var/lib/ovnk
    if [ -z "$(valid_hint)" ]; then
        link=$(value connection.interface-name ovs-if-phys0)
        [ -z "$link" ] || echo "$link" >$hint
    fi
    if [ -e $hint ] && [ -e $extra ] && cmp -s $hint $extra; then rm -f $hint $booted; fi
    # Every boot begins with the machine's own profiles.
    [ -e $booted ] || roll_back
    touch $booted

    link=$(uplink)
    if [ "$link" != br-ex ] && { [ -e $extra ] || [ -z "$(nmcli connection show --active br-ex 2>/dev/null)" ]; }; then
        roll_back
    fi
    make_bridge "$link" br-ex phys0 48
    if [ -e $extra ] && ! { exists br-ex1 && exists ovs-if-phys1; }; then
        make_bridge "$(head -n 1 $extra)" br-ex1 phys1 49
    elif [ ! -e $extra ] && { exists br-ex1 || exists ovs-if-phys1; }; then
        remove br-ex1 phys1
    fi
    ids=(br-ex ovs-if-phys0)
    [ ! -e $extra ] || ids+=(br-ex1 ovs-if-phys1)
    mapfile -t -O "${#ids[@]}" ids < <(nmcli --get-values NAME connection show | grep -e "$clone\$")
    ids+=(ovs-if-br-ex)
    [ ! -e $extra ] || ids+=(ovs-if-br-ex1)
    activate "${ids[@]}"
    wait_for_ipv6
    if [ "$kept" != "$run" ]; then
        { files br-ex phys0 "$run"; files br-ex1 phys1 "$run"; } | sort -u | xargs -r mv -t "$kept"
        nmcli connection reload
    fi
}

retry=${RETRY-15m}
while :; do
    trap 'retry=' TERM INT
    (configure)
    status=$?
    [ $status != 0 ] && [ -n "$retry" ] || exit $status
    touch /tmp/configure-ovs-retry
    trap 'exit 1' TERM INT
    sleep "$retry"
done
