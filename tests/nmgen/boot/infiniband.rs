//! InfiniBand: the queue pair and the subnet in an address change from boot to boot, the port's GUID does not.

use tests::machine::{DEFAULT_PROFILE, EARLY, Machine, RUNNING};

use super::marked;

/// Addresses of one port at two boots.
const DOCUMENTED: &str = "80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:0a:6f";
const PRESENT: &str = "80:00:02:08:fe:80:00:00:00:00:00:01:00:02:c9:03:00:00:0a:6f";

#[tests::case]
fn a_port_is_known_by_its_guid() {
    let document = format!(
        "interfaces:\n- {{name: ib0, type: infiniband, mac-address: '{DOCUMENTED}', infiniband: {{mode: datagram, pkey: '0xffff'}}}}\n"
    );
    let own = format!("{DEFAULT_PROFILE}\n[infiniband]\nmac-address={DOCUMENTED}\n");
    let machine = Machine::new()
        .card("ibp3s0", PRESENT)
        .file(&format!("{EARLY}/ib.nmconnection"), &own.replace("ethernet", "infiniband"))
        .host("worker-0", &document);
    machine.boot().exits(0).says("; ib0 is ibp3s0\n");
    assert_eq!(machine.profiles(EARLY), ["ibp3s0"]);
    machine.persist().exits(0);
    assert_eq!(machine.profiles(RUNNING), ["ibp3s0"]);
    let profile = machine.read(&format!("{RUNNING}/ibp3s0.nmconnection"));
    assert!(profile.contains(&format!("\nmac-address={PRESENT}\n")), "{profile}");
}

#[tests::case]
fn a_file_named_after_a_port_is_found() {
    let machine =
        Machine::new().card("ibp3s0", PRESENT).host(&DOCUMENTED.replace(':', "-"), &marked("ours"));
    let said = machine.boot();
    assert_eq!((said.code, machine.early()), (Some(0), vec!["ours".to_owned()]), "{said:?}");
}
