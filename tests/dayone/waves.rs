//! A fleet of five nodes gets a document in waves, as the guide says: a wrong one stops at its canary, a right one reaches all.

use std::{
    fs,
    io::{Write as _, stderr},
    net::Ipv4Addr,
    time::Instant,
};

use tests::{
    dayone::{
        Cluster, DAY_ONE, Document, HASTE, Monitoring, SOON, agent, faults_of_metrics,
        follow_inside, kubelet_ran, outcome,
    },
    guide::{blocks, file, section},
    lab::{Error, Lab, Nic, Node, Output, Peer},
    program::{monitoring, nmgen, root},
};

/// The canary, and the one whose power is cut.
const CANARY: &str = "worker-0";
const CUT_OFF: &str = "worker-1";
const NODES: usize = 5;

/// A node's name and address.
fn of(number: usize) -> (String, Ipv4Addr) {
    let last = u8::try_from(10 + number).unwrap_or_default();
    (format!("worker-{number}"), Ipv4Addr::new(192, 0, 2, last))
}

/// Each node's document.
fn documents(change: impl Fn(Document) -> Document) -> Vec<String> {
    let own = |number| {
        let (_, address) = of(number);
        change(Document::new()).with("192.0.2.10", &address.to_string()).text()
    };
    (0..NODES).map(own).collect()
}

fn settings() -> String {
    HASTE.replace("max-attempts = 0", "max-attempts = 1")
}

fn node(number: usize, document: &str) -> Node {
    let (name, address) = of(number);
    let mac = format!("52:54:00:00:00:{:02x}", 0x10 + number);
    agent(Node::new(&name).nic(Nic::new("eno1", &mac)))
        .keyfile("eno1", &DAY_ONE.replace("192.0.2.10/", &format!("{address}/")))
        .file(&format!("/etc/nmstate/openshift/{name}.yml"), document, 0o644)
        .settings(&settings())
        .exporter()
}

/// Writes a role's documents and their MachineConfig at the workstation.
fn render(cluster: &mut Cluster<'_, '_>, documents: &[String]) -> Result<(), Error> {
    for (number, text) in documents.iter().enumerate() {
        cluster.write(&format!("br-ex/{}.yml", of(number).0), text);
    }
    let command = "nmgen generate --to machine-config --role worker -o 10-br-ex-worker.yaml br-ex/";
    cluster.run(command)?.success().map(drop)
}

/// `dayone status --json` of a node.
fn verdict(cluster: &Cluster<'_, '_>, node: &str) -> Result<String, Error> {
    let output = cluster.login(node, &["dayone", "status", "--json"])?;
    let status: serde_json::Value = serde_json::from_str(&output.stdout).unwrap_or_default();
    Ok(status["verdict"].as_str().unwrap_or_default().to_owned())
}

/// The files of all nodes that have pods, and what a report says of them.
fn report(cluster: &mut Cluster<'_, '_>) -> Result<Output, Error> {
    let gather = root().join("packaging/must-gather/gather_dayone");
    let output = cluster.run(&format!("DAYONE_JOBS=5 {} || :", gather.display()))?;
    // A node that is held has no pod, and everything else answers.
    for line in output.stderr.lines() {
        assert_eq!(line, format!("gather_dayone: {CANARY}: error: the pod was never started"));
        let collected = cluster.login(CANARY, &["dayone", "collect"])?;
        cluster.write(&format!("must-gather/dayone/{CANARY}.json"), &collected.success()?);
    }
    cluster.run("nmgen report must-gather/")
}

/// The metrics of a node are what Prometheus's own tool wants them to be.
fn metrics(cluster: &Cluster<'_, '_>, node: &str, expected: &[&str]) -> Result<(), Error> {
    let readme = fs::read_to_string(root().join("packaging/alerts/README.md")).unwrap_or_default();
    let section = section(&readme, "Without the systemd collector");
    let command = blocks(section)
        .find(|block| block.kind == "sh")
        .map(|block| block.text)
        .unwrap_or_default();
    let (assigned, rest) = command.split_once('\n').unwrap_or_default();
    assert!(assigned.starts_with("directory=/"), "{command}");
    let output = cluster.login(node, &["sh", "-euc", &format!("directory=/run\n{rest}")])?;
    assert_eq!(output.stderr, "", "{output}");
    output.success()?;
    let text = cluster.login(node, &["cat", "/run/dayone.prom"])?.stdout;
    assert_eq!(faults_of_metrics(&text)?, "", "{text}");
    for line in expected {
        assert!(text.lines().any(|it| it == *line), "{line} in\n{text}");
    }
    Ok(())
}

#[tests::case]
fn a_wrong_document_stops_at_its_canary_and_a_right_one_reaches_all() -> Result<(), Error> {
    let lab = Lab::open()?;
    // Built and fetched before the nodes are there.
    let _ = (nmgen(), monitoring());
    let guide = fs::read_to_string(root().join("nmgen/doc/guides/waves.md")).unwrap_or_default();
    let good = documents(|document| document);
    let bad =
        documents(|document| document.with("192.0.2.1\n    next-hop", "192.0.2.254\n    next-hop"));
    let nodes = good.iter().enumerate().map(|(number, text)| node(number, text)).collect();
    lab.run_fleet(nodes, &Peer::new(), |fleet| {
        let begin = Instant::now();
        let step = |what: &str| {
            let _ = writeln!(stderr(), "waves: {:5.1} s {what}", begin.elapsed().as_secs_f32());
        };
        let names = fleet.names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let addresses: Vec<_> = (0..NODES).map(of).collect();
        let monitoring = Monitoring::start(fleet.peer(), &addresses)?;
        fleet.boot(&names)?;
        for name in &names {
            let inside = fleet.inside(name)?;
            let first = outcome(&inside, None)?;
            assert_eq!(first.exit, 0, "{name}: {}", first.text());
            inside.wait_unit("kubelet.service", "active", SOON)?;
        }
        step("five nodes are Ready");
        let mut cluster = Cluster::new(fleet);
        canary_pool(&mut cluster, &guide)?;
        render(&mut cluster, &good)?;
        cluster.run("oc apply -f 10-br-ex-worker.yaml")?.success()?;

        // The document arrives, and no node's own hardware is against it.
        render(&mut cluster, &bad)?;
        cluster.follow(&guide, "The document arrives", 2)?;
        for name in &names {
            assert_eq!(verdict(&cluster, name)?, "PENDING", "{name}");
        }
        // The label has brought it the pool's settings.
        assert_eq!(cluster.waves, [[CANARY]]);
        step("all have the wrong document");

        // The canary alone reboots; and another node, by accident.
        cluster.fleet().cut_power(CUT_OFF)?;
        cluster.fleet().power_on(&[CUT_OFF])?;
        cluster.follow(&guide, "The canaries reboot", 2)?;
        assert_eq!(cluster.waves, [[CANARY]; 2]);
        cluster.wait_ready(CUT_OFF)?;
        let canary = cluster.fleet().inside(CANARY)?;
        follow_inside(&canary, &guide, "The canaries reboot", 3)?;
        assert!(!kubelet_ran(&canary)?);
        assert!(cluster.fleet().peer().pings(of(0).1, SOON)?, "nobody can log in");
        step("the canary is held");
        let alerts =
            [["DayoneBootHeld", "waiting", CANARY], ["DayoneDocumentFailed", "fell-back", CUT_OFF]];
        monitoring.wait_alerts(cluster.fleet().peer(), &alerts)?;
        step("two alerts");
        metrics(
            &cluster,
            CANARY,
            &[
                "dayone_in_force 0",
                "dayone_boot_held 1",
                "dayone_verdict{verdict=\"WAITING\",reason=\"held-on-purpose\"} 1",
            ],
        )?;
        let told = report(&mut cluster)?.exits(3);
        for row in [
            "OUTCOME    REASON            NODES",
            "PENDING    document-changed  3      worker-2 worker-3 worker-4",
            "FELL BACK  rolled-back       1      worker-1",
            "WAITING    held-on-purpose   1      worker-0",
        ] {
            assert!(told.stdout.lines().any(|it| it == row), "{row} in {told}");
        }
        assert!(told.stdout.contains("gateway … failed"), "{told}");
        step("the report");

        // The former document comes back: at once, but for the canary, on which somebody goes on with its last good network.
        render(&mut cluster, &good)?;
        cluster.follow(&guide, "Go back", 2)?;
        assert_eq!(verdict(&cluster, "worker-4")?, "IN FORCE");
        follow_inside(&canary, &guide, "Go back", 0)?;
        cluster.wait_ready(CANARY)?;
        monitoring.wait_alerts(cluster.fleet().peer(), &[])?;
        assert_eq!(cluster.waves, [[CANARY]; 2]);
        let told = report(&mut cluster)?.exits(0);
        assert!(told.stdout.starts_with("OUTCOME   NODES\nIN FORCE  5\n"), "{told}");
        step("all are as before");

        right_one(&mut cluster, &guide)?;
        step("all have the right document");
        monitoring.wait_alerts(cluster.fleet().peer(), &[])
    })
}

/// The guide's pool of one node, and its setting beside those that the role has.
fn canary_pool(cluster: &mut Cluster<'_, '_>, guide: &str) -> Result<(), Error> {
    let pool = file(guide, "canary.yaml").unwrap_or_default();
    let encoded = settings().replace('\n', "%0A").replace(' ', "%20");
    let pool = pool.replace("%22hold%22%0A", &format!("%22hold%22%0A{encoded}"));
    assert!(pool.contains("max-attempts"), "{pool}");
    cluster.write("canary.yaml", &pool);
    cluster.follow(guide, "The canaries", 2)?;
    cluster.wait_ready(CANARY)?;
    let settings = cluster.login(CANARY, &["head", "-n1", "/etc/dayone/dayone.toml"])?;
    assert_eq!(settings.stdout, "on-failure = \"hold\"\n");
    Ok(())
}

/// A change that works goes to the canary, and from there to all others.
fn right_one(cluster: &mut Cluster<'_, '_>, guide: &str) -> Result<(), Error> {
    let route = "  - destination: 203.0.113.0/24\n    next-hop-address: 192.0.2.1\n    next-hop-interface: br-ex\n";
    let right = documents(|mut document| {
        document.rest.push_str(route);
        document
    });
    render(cluster, &right)?;
    cluster.follow(guide, "The document arrives", 2)?;
    cluster.follow(guide, "The canaries reboot", 3)?;
    assert_eq!(cluster.waves, [[CANARY]; 3]);
    assert_eq!(verdict(cluster, CANARY)?, "IN FORCE");
    assert_eq!(verdict(cluster, "worker-4")?, "PENDING");
    cluster.follow(guide, "The waves", 3)?;
    // The pool of canaries inherits what workers are asked for.
    let last: [&[&str]; 4] = [&[CANARY, "worker-1"], &["worker-2"], &["worker-3"], &["worker-4"]];
    assert_eq!(cluster.waves[3..], last);
    for number in 0..NODES {
        let node = of(number).0;
        let routes = cluster.login(&node, &["ip", "route", "show", "203.0.113.0/24"])?;
        assert!(routes.stdout.contains("via 192.0.2.1 dev br-ex"), "{node}: {routes}");
        assert_eq!(verdict(cluster, &node)?, "IN FORCE", "{node}");
    }
    Ok(())
}
