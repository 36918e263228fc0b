//! A document in force whose file was removed.

use tests::{
    dayone::{ADDRESS, APPLIED, DAY_ONE, Document, HOST_FILE, SOON, attempt, outcome, worker},
    lab::{Case, Error, Lab, Peer},
};

#[tests::case]
fn document_that_goes_is_told_and_its_network_stays() -> Result<(), Error> {
    let lab = Lab::open()?;
    let text = Document::new().text();
    let node =
        worker().keyfile("eno1", DAY_ONE).file(HOST_FILE, &text, 0o644).machine_config_operator();
    lab.run(node, &Peer::new(), |case| {
        case.boot()?;
        let inside = case.inside()?;
        let first = outcome(&inside, None)?;
        assert_eq!(first.exit, 0, "{}", first.text());
        // Neither does its network come up by itself in the next boot.
        inside.write("/etc/dayone/dayone.toml", "[wait]\nnetwork = 5\n")?;
        inside.sh(
            "nmcli connection modify br-ex-if connection.autoconnect no; \
             for it in br-ex-br br-ex-port; do nmcli connection modify $it connection.autoconnect-slaves 0; done",
        )?;
        inside.sh(&format!("rm {HOST_FILE}"))?;
        let status = inside.run(&["dayone", "status"])?;
        assert_eq!(status.status.code(), Some(3), "{status}");
        case.reboot()?;
        let inside = case.inside()?;
        let second = outcome(&inside, None)?;
        assert_eq!(second.exit, 0, "{}", second.text());
        assert!(second.text().contains("was removed; its network stays"), "{}", second.text());
        inside.wait_unit("kubelet.service", "active", SOON)?;
        // configure-ovs would delete br-ex under the profiles in force. The mark holds it back, and with `applied` it does nothing.
        assert_eq!(inside.read(APPLIED)?.as_ref(), Some(&text));
        assert_eq!(inside.read("/run/lab-ovs-configuration")?, None);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        let status = inside.run(&["dayone", "status"])?;
        assert_eq!(status.status.code(), Some(3), "{status}");
        assert!(status.stdout.contains(&format!("removed: {HOST_FILE}")), "{status}");
        let json = inside.run(&["dayone", "status", "--json"])?;
        let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap_or_default();
        assert_eq!((&json["outcome"], &json["in-force"]), (&"removed".into(), &false.into()));
        // A document that comes again needs no work.
        inside.write(HOST_FILE, &text)?;
        let again = attempt(&inside)?;
        assert!(again.text().contains("in force already"), "{}", again.text());
        a_deployment_before_it_has_none(case)
    })
}

/// A roll back of the operating system: OSTree's `/etc` is a deployment's own, and the card's profile has the uuid that nmstate has
/// kept when it edited it. configure-ovs makes br-ex as before the document.
fn a_deployment_before_it_has_none(case: &mut Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    inside.sh(&format!("rm {HOST_FILE} {APPLIED} /etc/NetworkManager/system-connections/*"))?;
    let profile = "/etc/NetworkManager/system-connections/eno1.nmconnection";
    inside.write(profile, DAY_ONE)?;
    inside.sh(&format!("chmod 600 {profile}; sync"))?;
    case.cut_power()?;
    case.boot()?;
    let inside = case.inside()?;
    inside.wait_unit("kubelet.service", "active", SOON)?;
    assert!(inside.read("/run/lab-ovs-configuration")?.is_some(), "configure-ovs was held back");
    let status = inside.run(&["dayone", "status"])?;
    assert_eq!(status.status.code(), Some(0), "{status}");
    assert!(status.stdout.starts_with("NO DOCUMENT: "), "{status}");
    Ok(())
}
