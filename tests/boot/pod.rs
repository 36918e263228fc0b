//! A pod behind real OVN and the kernel's datapath: first boot, a changed document, a roll back, a second boot. The suite dayone
//! has the same with Open vSwitch's datapath in userspace.

use std::time::Duration;

use tests::{
    dayone::{pod_started_within, pod_works_at},
    lab::{Inside, Machines, Nic, Peer, VirtualMachine, VmCase},
    two_stage::{
        ADDRESS, Ignition, MACS, NAME, br_ex, default_route, kubelet_last, one_card,
        static_address, tell,
    },
};

use crate::Result;

/// A thousand echo requests a second of the pod, beside an apply whose exit code is kept.
const PINGED: &str = "\
    ip netns exec pod ping -n -q -i 0.001 198.51.100.10 >/root/ping & \
    until ip netns exec pod ping -n -q -c1 -W1 198.51.100.10; do :; done >/dev/null; \
    dayone apply >/root/apply 2>&1 && code=0 || code=$?; \
    until ip netns exec pod ping -n -q -c1 -W1 198.51.100.10; do :; done >/dev/null; \
    kill -INT $(pidof ping); wait; cat /root/apply; grep transmitted /root/ping; exit $code";

/// Applies a document beside the pod's echo requests, and returns what both print.
fn applies(inside: &Inside, document: &str, code: i32) -> Result<String> {
    inside.write(&format!("/etc/nmstate/openshift/{NAME}.yml"), document)?;
    let output = inside.run_within(&["sh", "-c", PINGED], VmCase::BOOT)?;
    assert_eq!(output.status.code(), Some(code), "{output}");
    Ok(output.stdout)
}

/// What the pod's ping has lost, in words of ping(8).
fn told(what: &str, said: &str) {
    let lost = said.lines().find(|line| line.contains(" packets transmitted"));
    tell(&format!("{what}: {}", lost.unwrap_or("ping ended without a word")));
}

fn works(case: &VmCase<'_>) -> Result<Inside> {
    let inside = case.inside()?;
    pod_works_at(&inside, case.peer(), ADDRESS)?;
    let datapath = inside.sh("ovs-appctl dpctl/dump-dps")?;
    assert_eq!(datapath, "system@ovs-system");
    Ok(inside)
}

#[tests::case]
fn behind_the_kernels_datapath() -> Result<()> {
    const BOUND: Duration = VmCase::BOOT;
    let machines = Machines::open()?;
    let gateway = Peer::GATEWAY;
    let early =
        one_card("eth1", MACS[0], &static_address(ADDRESS), &default_route(gateway, "eth1"));
    let document = br_ex("enp0s16", "ethernet", ADDRESS, gateway);
    let config = Ignition::new(NAME).ovn().document(NAME, &document);
    let machine = VirtualMachine::new()
        .nic(Nic::new("nic1", MACS[0]))
        .early(&format!("/etc/nmgen/{NAME}.yml"), &early)
        .ignition(&gateway.to_string(), &config.text());
    machines.run(&machine, &Peer::new(), |case| {
        case.boot()?;
        let inside = case.inside()?;
        kubelet_last(&inside)?;
        pod_started_within(BOUND, &inside, case.peer(), ADDRESS)?;
        let inside = works(case)?;

        let server = "    - 192.0.2.1\n";
        let changed = document.replace(server, &format!("{server}    search: [example.org]\n"));
        assert_ne!(changed, document);
        told("a search domain", &applies(&inside, &changed, 0)?);
        works(case)?;

        let silent = changed.replace("hop-address: 192.0.2.1\n", "hop-address: 192.0.2.99\n");
        assert_ne!(silent, changed);
        told("a roll back", &applies(&inside, &silent, 3)?);
        works(case)?;

        inside.write(&format!("/etc/nmstate/openshift/{NAME}.yml"), &changed)?;
        case.reboot()?;
        let inside = case.inside()?;
        pod_started_within(BOUND, &inside, case.peer(), ADDRESS)?;
        let status = works(case)?.run(&["dayone", "status"])?;
        assert_eq!(status.status.code(), Some(0), "{status}");
        Ok(())
    })
}
