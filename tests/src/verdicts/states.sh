# Applies the states /root/states/*.yml one after another, on the network that the one before has left: all of them with nmstate's own
# apply(), then, from the same initial network, with dayone, which takes each for the first one. Prints a line for each verdict, for
# each fact after a commit that only one of both made (`differs`), and for each that a roll back did not bring back (`remains`).

# What the kernel, NetworkManager's files and Open vSwitch have, a fact a line; with `exact` also what another run may have otherwise.
facts() {
    names=
    for file in /etc/NetworkManager/system-connections/*.nmconnection; do
        [ -e "$file" ] || continue
        names="$names;s/$(sed -n 's/^uuid=//p' "$file")/@$(sed -n 's/^id=//p' "$file" | sed 's/[^[:alnum:].-]/_/g')/g"
        [ "$1" != exact ] || sha256sum "$file"
    done
    everything "$1" | sed "${names#;}" | sort
}

everything() {
    for link in /sys/class/net/*; do
        name=${link##*/}
        case $name in lo | ovs-netdev | ovs-system) continue ;; esac
        echo "kernel link $name $(ip -o link show dev "$name" | sed -n 's/.*\(mtu [0-9]*\).*/\1/p') $(
            ip -o link show dev "$name" | grep -o 'master [^ ]*\|altname [^ ]*' | grep -v ovs-system | tr '\n' ' '
        )"
        [ "$1" != exact ] || echo "kernel address of $name $(cat "$link/address")"
    done
    ip -o addr show scope global | sed 's/^[0-9]*: \([^ ]*\) *\([^ ]*\) \([^ ]*\).*/kernel address \1 \3/'
    for family in -4 -6; do
        ip $family route show table all | grep -v 'table local\|proto kernel\|^local\|^multicast\|^anycast\|dev lo' |
            sed 's/ expires [0-9]*sec//; s/ linkdown//; s/ dead//; s/ pref medium//; s/ nhid [0-9]*//; s/ *$//; s/^/kernel route /'
        ip $family rule | sed "s/^/kernel rule $family /"
    done
    for file in /etc/NetworkManager/system-connections/*.nmconnection; do
        [ -e "$file" ] || continue
        # nmstate stores rules in no order.
        sed "/^\$/d; /^uuid=/d; /^timestamp=/d; s/^routing-rule[0-9]*=/routing-rule=/; s|^|profile $(basename "$file" .nmconnection) |" "$file"
    done
    ovs-vsctl --format=csv --no-headings \
        --columns=name,datapath_type,fail_mode,protocols,stp_enable,rstp_enable,mcast_snooping_enable,other_config,external_ids \
        list Bridge | hidden "$1" | sed 's/^/ovsdb bridge /'
    ovs-vsctl --format=csv --no-headings \
        --columns=name,tag,trunks,vlan_mode,bond_mode,lacp,bond_updelay,bond_downdelay,other_config,external_ids \
        list Port | sed 's/^/ovsdb port /'
    ovs-vsctl --format=csv --no-headings --columns=name,type,mtu_request,options,external_ids list Interface | sed 's/^/ovsdb interface /'
    ovs-vsctl --format=csv --no-headings --columns=other_config,external_ids list Open_vSwitch |
        sed 's/[^,{]*system-id[^,}]*//; s/^/ovsdb all /'
    for bridge in $(ovs-vsctl list-br); do ovs-vsctl list-ports "$bridge" | sed "s/^/ovsdb port of $bridge /"; done
    busctl get-property org.freedesktop.NetworkManager /org/freedesktop/NetworkManager org.freedesktop.NetworkManager \
        GlobalDnsConfiguration | sed 's/^/profile dns /'
    echo "kernel name $(hostname)"
}

# A bridge has the address of a port, which may be any of them.
hidden() {
    if [ "$1" = exact ]; then cat; else sed 's/hwaddr=[^,}]*//'; fi
}

# The facts once they stay, or are those of the file $2.
settled() {
    facts "$1" >/root/now
    for _ in 1 2 3 4 5 6 7 8; do
        cp /root/now /root/before
        sleep 0.5
        facts "$1" >/root/now
        if [ -n "$2" ]; then cmp -s /root/now "$2" && break; else cmp -s /root/now /root/before && break; fi
    done
    cat /root/now
}

lines() {
    diff "$2" "$3" | sed -n "s/^\([<>]\) /$1 \1 /p" | head -n 40
}

rm -rf /root/facts
mkdir -p /root/facts
reset
for state in /root/states/*.yml; do
    step=$(basename "$state" .yml)
    verdict "verdict $step nmstate" sh -c "nmstate-apply <$state"
    echo "$exit" >"/root/facts/$step.exit"
    settled compared >"/root/facts/$step"
done
reset
for state in /root/states/*.yml; do
    step=$(basename "$state" .yml)
    # Only the document counts, not the one before: dayone removes what is gone from a document, nmstate merges.
    rm -rf $here /var/lib/dayone /run/dayone
    mkdir -p $here
    cp "$state" $here/cluster.yml
    settled exact >/root/earlier
    verdict "verdict $step dayone" dayone apply
    done=$exit
    if [ "$done" = 0 ]; then
        verdict "verdict $step diff" dayone diff
        settled compared "/root/facts/$step" >/root/after
        [ "$(cat "/root/facts/$step.exit")" != 0 ] || lines "differs $step" "/root/facts/$step" /root/after
    else
        settled exact /root/earlier >/root/after
        lines "remains $step" /root/earlier /root/after
    fi
    # The steps after it would begin on another network than nmstate's.
    [ $((done != 0)) = $(($(cat "/root/facts/$step.exit") != 0)) ] || break
done
