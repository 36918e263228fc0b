//! A document in force whose file was removed.

use tests::{
    dayone::{ADDRESS, APPLIED, DAY_ONE, Document, HOST_FILE, SOON, outcome, try_document, worker},
    lab::{Case, Error, Peer},
};

#[tests::case]
fn document_that_goes_is_told_and_its_network_stays() -> Result<(), Error> {
    let text = Document::new().text();
    worker().day_one().document(&text).machine_config_operator().run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        // Neither does its network come up by itself in the next boot.
        inside.write("/etc/dayone/dayone.toml", "[wait]\nnetwork = 5\n")?;
        inside.sh(
            "nmcli connection modify br-ex-if connection.autoconnect no; \
             for it in br-ex-br br-ex-port; do nmcli connection modify $it connection.autoconnect-slaves 0; done",
        )?;
        inside.sh(&format!("rm {HOST_FILE}"))?;
        inside.run(&["dayone", "status"])?.exits(3);
        let inside = case.reboot()?;
        outcome(&inside, None)?.exits(0).says("was removed; its network stays");
        inside.wait_unit("kubelet.service", "active", SOON)?;
        // configure-ovs would delete br-ex under the profiles in force. The mark holds it back, and with `applied` it does nothing.
        assert_eq!(inside.read(APPLIED)?.as_ref(), Some(&text));
        assert_eq!(inside.read("/run/lab-ovs-configuration")?, None);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        inside.run(&["dayone", "status"])?.exits(3).says(&format!("removed: {HOST_FILE}"));
        let json = inside.run(&["dayone", "status", "--json"])?.json();
        assert_eq!((&json["outcome"], &json["in-force"]), (&"removed".into(), &false.into()));
        // A document that comes again needs no work.
        try_document(&inside, &text)?.says("in force already");
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
    let inside = case.boot()?;
    inside.wait_unit("kubelet.service", "active", SOON)?;
    assert!(inside.read("/run/lab-ovs-configuration")?.is_some(), "configure-ovs was held back");
    let status = inside.run(&["dayone", "status"])?.exits(0);
    assert!(status.stdout.starts_with("NO DOCUMENT: "), "{status}");
    Ok(())
}
