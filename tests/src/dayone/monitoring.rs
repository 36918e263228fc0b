//! Prometheus and its alertmanager beside nodes, with the rules of `packaging/alerts/` and the node's exporter.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    net::Ipv4Addr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;

use crate::{
    lab::{Error, Gateway, Node, Result, wait_every},
    program,
};

/// From a unit's failure to the alert: two scrapes, the rules, the alertmanager's turn.
const ALERT: Duration = Duration::from_secs(60);
/// The exporter's unit.
const EXPORTER: &str = "\
[Service]
ExecStart=/usr/bin/prometheus-node-exporter --collector.disable-defaults --collector.systemd \
--collector.systemd.unit-include=dayone-health.*
[Install]
WantedBy=multi-user.target
";
const PROMETHEUS: &str = "\
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yml]
alerting: {alertmanagers: [{static_configs: [{targets: ['127.0.0.1:9093']}]}]}
scrape_configs:
- job_name: node
  static_configs:
";
/// Their own files, below /usr/share, where the host has none.
const WITH_FILES: &str = "\
mount -t overlay -o ro,lowerdir=$0/usr/share:/usr/share overlay /usr/share
program=$0/usr/bin/$1; shift; exec $program \"$@\"";
const ALERTMANAGER: &str = "\
route: {receiver: nobody, group_wait: 0s, group_interval: 1s}
receivers: [{name: nobody}]
";

impl Node {
    /// With node_exporter and its systemd collector, for the health units alone.
    #[must_use]
    pub fn exporter(self) -> Self {
        let name = "prometheus-node-exporter";
        self.bind(program::monitoring().join("usr/bin").join(name), &format!("/usr/bin/{name}"))
            .unit("node-exporter.service", EXPORTER)
            .enable("node-exporter.service")
    }
}

/// Both programs, in the peer's network; they end with this value.
#[derive(Debug)]
pub struct Monitoring {
    children: Vec<Child>,
    files: TempDir,
}

impl Monitoring {
    /// Starts them for these nodes, with the rules of the tree but for their patience.
    ///
    /// # Errors
    /// If a file cannot be written, or a program does not start.
    pub fn start(peer: &Gateway, nodes: &[(String, Ipv4Addr)]) -> Result<Self> {
        let files = tempfile::tempdir().map_err(Error::file("make", Path::new("/tmp")))?;
        let source = program::root().join("packaging/alerts/dayone.rules.yml");
        let rules = fs::read_to_string(&source).map_err(Error::file("read", &source))?;
        // A minute of failure is a second here.
        let impatient: String = rules
            .lines()
            .map(|line| match line.split_once("for: ") {
                Some((indent, _)) if indent.trim().is_empty() => format!("{indent}for: 1s\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let target = |(name, address): &(String, Ipv4Addr)| {
            format!("  - {{targets: ['{address}:9100'], labels: {{instance: {name}}}}}\n")
        };
        let prometheus: String =
            std::iter::once(PROMETHEUS.to_owned()).chain(nodes.iter().map(target)).collect();
        for (name, text) in [
            ("rules.yml", impatient.as_str()),
            ("prometheus.yml", prometheus.as_str()),
            ("alertmanager.yml", ALERTMANAGER),
        ] {
            let path = files.path().join(name);
            fs::write(&path, text).map_err(Error::file("write", &path))?;
        }
        let mut it = Self { children: Vec::new(), files };
        it.run(
            peer,
            "prometheus-alertmanager",
            &[
                "--config.file=alertmanager.yml",
                "--storage.path=alertmanager",
                "--web.listen-address=127.0.0.1:9093",
                "--cluster.listen-address=",
            ],
        )?;
        it.run(
            peer,
            "prometheus",
            &[
                "--config.file=prometheus.yml",
                "--storage.tsdb.path=prometheus",
                "--web.listen-address=127.0.0.1:9090",
            ],
        )?;
        Ok(it)
    }

    fn run(&mut self, peer: &Gateway, name: &str, arguments: &[&str]) -> Result<()> {
        let tree = program::monitoring();
        let log = self.log(name);
        let log = File::create(&log).map_err(Error::file("write", &log))?;
        let mut command = peer.command("unshare");
        command.args(["--mount", "sh", "-euc", WITH_FILES]).arg(tree).arg(name).args(arguments);
        command.current_dir(self.files.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = command.spawn().map_err(Error::file("run", tree.join("usr/bin").join(name)))?;
        self.children.push(child);
        Ok(())
    }

    fn log(&self, name: &str) -> PathBuf {
        self.files.path().join(format!("{name}.log"))
    }

    /// Waits until exactly these alerts of nodes are active, as name, reason and node.
    ///
    /// # Errors
    /// If they do not come, with those that are there.
    pub fn wait_alerts(&self, peer: &Gateway, expected: &[[&str; 3]]) -> Result<()> {
        let expected: BTreeSet<[String; 3]> =
            expected.iter().map(|alert| alert.map(str::to_owned)).collect();
        let mut last = BTreeSet::new();
        let pace = Duration::from_millis(200)..=Duration::from_secs(1);
        let waited = wait_every(pace, "the alerts", ALERT, || {
            last = active(peer)?;
            Ok((last == expected).then_some(()))
        });
        waited.map_err(|_| Error::Output {
            program: "amtool",
            problem: format!("{expected:?} are wanted, and {last:?} are there\n{}", self.told()),
        })
    }

    /// The last lines of both programs.
    fn told(&self) -> String {
        let log = |name: &&str| fs::read_to_string(self.log(name)).unwrap_or_default();
        let last = |text: String| text.lines().rev().take(5).collect::<Vec<_>>().join("\n");
        ["prometheus-alertmanager", "prometheus"].iter().map(log).map(last).collect()
    }
}

impl Drop for Monitoring {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Faults that Prometheus's own tool finds in metrics; empty if it finds none.
///
/// # Errors
/// If it does not start.
pub fn faults_of_metrics(text: &str) -> Result<String> {
    let promtool = program::monitoring().join("usr/bin/promtool");
    let mut command = Command::new(&promtool);
    let output = program::with_input(command.args(["check", "metrics"]), text)
        .map_err(Error::file("run", &promtool))?;
    let mut told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if !output.status.success() {
        told += &output.status.to_string();
    }
    Ok(told)
}

/// The alerts of nodes that the alertmanager has; none before it answers.
fn active(peer: &Gateway) -> Result<BTreeSet<[String; 3]>> {
    let amtool = program::monitoring().join("usr/bin/amtool");
    let mut command: Command = peer.command(&amtool.to_string_lossy());
    command.args(["--alertmanager.url=http://127.0.0.1:9093", "--output=json", "alert", "query"]);
    let output = command.output().map_err(Error::file("run", &amtool))?;
    let alerts: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let labels = |alert: &serde_json::Value| {
        ["alertname", "reason", "instance"]
            .map(|name| alert["labels"][name].as_str().unwrap_or_default().to_owned())
    };
    let of_nodes = alerts.iter().map(labels).filter(|alert| !alert[2].is_empty());
    Ok(of_nodes.collect())
}
