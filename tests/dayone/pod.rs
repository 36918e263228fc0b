//! What a pod notices of br-ex: real OVN on the bridge that the agent makes. `bridge::life` has the automatic one, and the migration.

use tests::{
    dayone::{
        DAY_ONE, Document, HASTE, HOST_FILE, MAC, agent, attempt, outcome, pod_started, pod_works,
    },
    lab::{Error, Lab, Nic, Node, Peer},
};

#[tests::case]
fn of_a_document_that_changes() -> Result<(), Error> {
    let lab = Lab::open()?;
    let node = Node::new("worker-0")
        .nic(Nic::new("eno1", MAC))
        .keyfile("eno1", DAY_ONE)
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

        inside.write(HOST_FILE, &changed.text())?;
        case.reboot()?;
        let again = outcome(&case.inside()?, None)?;
        assert!(again.text().contains("in force already"), "{}", again.text());
        pod_started(case)
    })
}
