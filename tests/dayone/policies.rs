//! Policies without captures: their needs are those of the resolved state.

use tests::{
    dayone::{
        ADDRESS, Document, HASTE, MAC, SOON, configure_ovs, outcome, picture, replays, run_is_over,
        settle, try_document, worker,
    },
    lab::{Error, Nic, Peer},
};

fn policy(document: &Document) -> String {
    let lines = document.text().lines().map(|line| format!("  {line}\n")).collect::<String>();
    format!("desiredState:\n{lines}")
}

fn wrong_gateway() -> Document {
    Document::new().with("next-hop-address: 192.0.2.1", "next-hop-address: 192.0.2.3")
}

#[tests::case]
fn policy_waits_for_its_card() -> Result<(), Error> {
    worker().day_one().document(&policy(&Document::new())).run(&Peer::new(), |case| {
        case.unplug("eno1");
        let inside = case.power_on()?;
        let waits = "if systemctl show --property=StatusText dayone.service | grep 'waiting for .*eno1'; then :; else \
                     journalctl --boot --output=cat --identifier=dayone | grep 'not committed'; fi";
        let said = inside.wait_sh(waits, 3 * SOON)?;
        assert!(said.contains("waiting for"), "{said}");
        case.plug(Nic::new("eno1", MAC))?;
        outcome(&inside, None)?.exits(0);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

#[tests::case]
fn policy_is_undone_with_its_bridge() -> Result<(), Error> {
    // A second attempt would make the bridge again while the case looks at what the first one has left.
    let once = HASTE.replace("max-attempts = 0", "max-attempts = 1");
    let node = worker().day_one().settings(&once).document(&policy(&wrong_gateway()));
    node.run(&Peer::new(), |case| {
        let inside = case.power_on()?;
        outcome(&inside, None)?.exits(3);
        assert_eq!(inside.sh("ovs-vsctl list-br")?, "", "the policy's bridge is still there");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        try_document(&inside, &policy(&Document::new()))?.exits(0);
        assert_eq!(inside.sh("ovs-vsctl list-br")?, "br-ex");
        run_is_over(&inside)?;
        replays(&inside)?;
        assert!(inside.sh("dayone diff")?.contains("# no difference"));
        Ok(())
    })
}

#[tests::case]
fn policy_takes_over_the_bridge_of_configure_ovs() -> Result<(), Error> {
    configure_ovs(worker()).document("").settings(HASTE).run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        settle(&inside)?;
        let before = picture(&inside)?;
        try_document(&inside, &policy(&wrong_gateway()))?.exits(3).says("gateway 192.0.2.3");
        assert_eq!(picture(&inside)?, before);

        try_document(&inside, &policy(&Document::new()))?.exits(0);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        let profiles = inside.sh("nmcli --get-values NAME connection show")?;
        assert!(!profiles.lines().any(|name| name.starts_with("ovs-")), "{profiles}");
        Ok(())
    })
}
