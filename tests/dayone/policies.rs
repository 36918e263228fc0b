//! Policies without captures: their needs are those of the resolved state.

use tests::{
    dayone::{
        ADDRESS, DAY_ONE, Document, HASTE, HOST_FILE, MAC, SOON, attempt, configure_ovs, outcome,
        picture, replays, run_is_over, settle, worker,
    },
    lab::{Error, Lab, Nic, Peer},
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
    let lab = Lab::open()?;
    let node = worker().keyfile("eno1", DAY_ONE).file(HOST_FILE, &policy(&Document::new()), 0o644);
    lab.run(node, &Peer::new(), |case| {
        case.unplug("eno1");
        case.power_on()?;
        let inside = case.inside()?;
        let waits = "if systemctl show --property=StatusText dayone.service | grep 'waiting for .*eno1'; then :; else \
                     journalctl --boot --output=cat --identifier=dayone | grep 'not committed'; fi";
        let said = inside.wait_sh(waits, 3 * SOON)?;
        assert!(said.contains("waiting for"), "{said}");
        case.plug(Nic::new("eno1", MAC))?;
        let outcome = outcome(&inside, None)?;
        assert_eq!(outcome.exit, 0, "{}", outcome.text());
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

#[tests::case]
fn policy_is_undone_with_its_bridge() -> Result<(), Error> {
    let lab = Lab::open()?;
    // A second attempt would make the bridge again while the case looks at what the first one has left.
    let once = HASTE.replace("max-attempts = 0", "max-attempts = 1");
    let node = worker().keyfile("eno1", DAY_ONE).settings(&once).file(
        HOST_FILE,
        &policy(&wrong_gateway()),
        0o644,
    );
    lab.run(node, &Peer::new(), |case| {
        case.power_on()?;
        let inside = case.inside()?;
        let first = outcome(&inside, None)?;
        assert_eq!(first.exit, 3, "{}", first.text());
        assert_eq!(inside.sh("ovs-vsctl list-br")?, "", "the policy's bridge is still there");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        inside.write(HOST_FILE, &policy(&Document::new()))?;
        let second = attempt(&inside)?;
        assert_eq!(second.exit, 0, "{}", second.text());
        assert_eq!(inside.sh("ovs-vsctl list-br")?, "br-ex");
        run_is_over(&inside)?;
        replays(&inside)?;
        assert!(inside.sh("dayone diff")?.contains("# no difference"));
        Ok(())
    })
}

#[tests::case]
fn policy_takes_over_the_bridge_of_configure_ovs() -> Result<(), Error> {
    let lab = Lab::open()?;
    let node = configure_ovs(worker()).file(HOST_FILE, "", 0o644).settings(HASTE);
    lab.run(node, &Peer::new(), |case| {
        case.boot()?;
        let inside = case.inside()?;
        assert_eq!(outcome(&inside, None)?.exit, 0);
        settle(&inside)?;
        let before = picture(&inside)?;
        inside.write(HOST_FILE, &policy(&wrong_gateway()))?;
        let first = attempt(&inside)?;
        assert!(first.text().contains("gateway 192.0.2.3"), "{}", first.text());
        assert_eq!(first.exit, 3, "{}", first.text());
        assert_eq!(picture(&inside)?, before);

        inside.write(HOST_FILE, &policy(&Document::new()))?;
        let second = attempt(&inside)?;
        assert_eq!(second.exit, 0, "{}", second.text());
        assert!(case.peer().pings(ADDRESS, SOON)?);
        let profiles = inside.sh("nmcli --get-values NAME connection show")?;
        assert!(!profiles.lines().any(|name| name.starts_with("ovs-")), "{profiles}");
        Ok(())
    })
}
