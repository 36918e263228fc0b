//! What a pod notices of br-ex: real OVN on the bridge that the agent makes. `bridge::life` has the automatic one, and the
//! migration.

use tests::{
    dayone::{
        DAY_ONE, Document, HASTE, HOST_FILE, MAC, agent, attempt, outcome, pod_started, pod_works,
    },
    lab::{Error, Lab, Nic, Node, Peer},
};

/// A card that waits for nothing.
const UNUSED: &str = "\
[connection]
id=eno2
type=ethernet
interface-name=eno2
[ipv4]
method=disabled
[ipv6]
method=disabled
";

#[tests::case]
fn of_a_document_that_changes() -> Result<(), Error> {
    let lab = Lab::open()?;
    let node = Node::new("worker-0")
        .nic(Nic::new("eno1", MAC))
        .nic(Nic::new("eno2", "52:54:00:00:00:02"))
        .keyfile("eno1", DAY_ONE)
        .keyfile("eno2", UNUSED)
        .file(HOST_FILE, &Document::new().text(), 0o644)
        .settings(HASTE)
        .ovn();
    lab.run(agent(node), &Peer::new(), |case| {
        case.boot()?;
        let inside = case.inside()?;
        assert_eq!(outcome(&inside, None)?.exit, 0);
        pod_started(case)?;

        // NetworkManager reapplies the profile of br-ex.
        let server = "    - 192.0.2.1\n";
        let changed = Document::new().with(server, &format!("{server}    search: [example.org]\n"));
        inside.write(HOST_FILE, &changed.text())?;
        assert_eq!(attempt(&inside)?.exit, 0);
        pod_works(case)?;

        // The roll back of a checkpoint makes the link anew.
        let silent = Document::new().with("hop-address: 192.0.2.1\n", "hop-address: 192.0.2.99\n");
        inside.write(HOST_FILE, &silent.text())?;
        assert_ne!(attempt(&inside)?.exit, 0);
        pod_works(case)?;

        // OVN answers for br-ex's address by the MAC address that br-ex had, so that NetworkManager finds a conflict: such a change
        // needs a boot, which OVN is not up in yet.
        inside.write(HOST_FILE, &Document::new().nic("eno2").text())?;
        let it = attempt(&inside)?;
        assert!(it.text().contains("lacks: 192.0.2.10/24 on br-ex"), "{}", it.text());
        pod_works(case)?;

        inside.write(HOST_FILE, &changed.text())?;
        case.reboot()?;
        let again = outcome(&case.inside()?, None)?;
        assert!(again.text().contains("in force already"), "{}", again.text());
        pod_started(case)
    })
}
