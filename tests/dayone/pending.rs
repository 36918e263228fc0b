//! A document that is written while the node runs: checked at once, applied by the next boot.

use tests::{
    dayone::{ADDRESS, Document, HOST_FILE, SOON, mark, outcome, picture, worker},
    lab::{Error, Peer},
};

const PENDING: &str = "MESSAGE_ID=6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e12";
const REFUSED: &str = "MESSAGE_ID=6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e13";

/// A second command, which runs where the first has nothing to tell.
const LONG_LOOK: &str = "\
[Service]
ExecStart=/bin/sh -c 'while [ -e /run/lab-look ]; do sleep 0.1; done'
";

#[tests::case]
fn changed_document_is_checked_at_once_and_waits_for_a_boot() -> Result<(), Error> {
    let good = Document::new();
    worker().day_one().document(&good.text()).run(&Peer::new(), |case| {
        let inside = case.boots(0)?;
        let before = picture(&inside)?;
        // A look that lasts: what happens meanwhile is not lost.
        inside.write("/run/systemd/system/dayone-health.service.d/lab.conf", LONG_LOOK)?;
        inside.sh("systemctl daemon-reload; touch /run/lab-look")?;

        let mut changed = good.clone();
        changed.rest.push_str("  - destination: 203.0.113.0/24\n    next-hop-address: 192.0.2.2\n    next-hop-interface: br-ex\n");
        let start = mark(&inside)?;
        inside.write(HOST_FILE, &changed.text())?;
        let told = inside.wait_journal(&[start.argument(), PENDING], SOON, |_| true)?;
        assert_eq!(told.field("DAYONE_DOCUMENT"), Some(HOST_FILE));
        let digest = told.field("DAYONE_DIGEST").unwrap_or_default().to_owned();
        assert_eq!(digest.len(), 64, "{}", told.message());
        inside.run(&["dayone", "status"])?.exits(3).says(&format!("pending: {digest}"));
        let json = inside.run(&["dayone", "status", "--json"])?.json();
        assert_eq!(json["pending"].as_str(), Some(&*digest), "{json}");
        inside.run(&["dayone", "check"])?.exits(0).says("pending");

        // A file elsewhere is compared with the current state, and applied no more than the node's.
        let other = changed.text().replace("203.0.113.0/24", "198.18.0.0/15");
        inside.write("/tmp/other.yml", &other)?;
        let dry = inside.run(&["dayone", "apply", "--dry-run", "--document", "/tmp/other.yml"])?.exits(0);
        assert!(dry.stdout.starts_with("# /tmp/other.yml: given by --document\n"), "{dry}");
        assert!(dry.stdout.contains("198.18.0.0/15") && !dry.stdout.contains("203.0.113"), "{dry}");

        let start = mark(&inside)?;
        let wrong = good.text().replace("type: ovs-bridge", "type: ovs-bridge\n  mtu: many");
        inside.write(HOST_FILE, &wrong)?;
        let told = inside.wait_journal(&[start.argument(), REFUSED], SOON, |_| true)?;
        assert!(told.message().contains(HOST_FILE), "{}", told.message());
        inside.wait_unit("dayone-pending.service", "failed", SOON)?;
        inside.sh("rm /run/lab-look")?;
        inside.wait_unit("dayone-health@refused.service", "failed", SOON)?;
        inside.run(&["dayone", "check"])?.exits(2);
        let status = inside.run(&["dayone", "status"])?;
        assert!(status.stdout.starts_with(&format!("REFUSED: {HOST_FILE}\n")), "{status}");
        // Settings are looked at as they are written.
        inside.write(HOST_FILE, &changed.text())?;
        inside.wait_unit("dayone-pending.service", "inactive", SOON)?;
        inside.wait_unit("dayone-health@refused.service", "inactive", SOON)?;
        let start = mark(&inside)?;
        inside.write("/etc/dayone/dayone.toml", "max-attempts = 5\non-failur = \"continue\"\n")?;
        let told = inside.wait_journal(&[start.argument(), REFUSED], SOON, |_| true)?;
        assert!(told.message().contains("on-failur"), "{}", told.message());
        let check = inside.run(&["dayone", "check"])?.exits(2);
        assert!(check.stderr.contains("/etc/dayone/dayone.toml"), "{check}");
        inside.sh("rm /etc/dayone/dayone.toml")?;
        inside.write(HOST_FILE, &wrong)?;
        inside.wait_unit("dayone-pending.service", "failed", SOON)?;
        // Nothing was applied.
        assert_eq!(picture(&inside)?, before);
        assert!(case.peer().pings(ADDRESS, SOON)?);

        // Writing all documents of a role at once does not stop the watch.
        inside.sh("for n in $(seq 300); do echo 'interfaces: []' >/etc/nmstate/openshift/worker-9$n.yml; done")?;
        inside.write(HOST_FILE, &changed.text())?;
        let start = mark(&inside)?;
        inside.sh(&format!("touch {HOST_FILE}"))?;
        inside.wait_journal(&[start.argument(), PENDING], SOON, |_| true)?;
        assert_eq!(inside.unit("dayone-pending.path")?.active_state, "active");

        let inside = case.reboot()?;
        outcome(&inside, None)?.exits(0);
        assert!(inside.sh("ip route")?.contains("203.0.113.0/24 via 192.0.2.2"));
        inside.run(&["dayone", "status"])?.exits(0);
        Ok(())
    })
}
