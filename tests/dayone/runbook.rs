//! `agent/doc/runbook.md`: its commands, as they stand there, on a node whose document names a wrong gateway.

use std::{fs, io};

use tests::{
    dayone::{
        ADDRESS, DAY_ONE, Document, HASTE, HOST_FILE, SOON, kubelet_ran, mark, outcome, worker,
    },
    lab::{Case, Error, Inside, Lab, Peer},
    program::root,
};

/// A command of the guide, and the lines of its output; `…` stands for any.
struct Shown {
    command: String,
    output: Vec<String>,
}

/// The commands of a section, in order.
fn commands(guide: &str, section: &str) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let (mut is_section, mut is_console) = (false, false);
    for line in guide.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            is_section = heading == section;
        } else if line.starts_with("```") {
            is_console = line == "```console";
        } else if is_section && is_console {
            // The output of `dayone diff` is a comment.
            match (line.strip_prefix("# "), shown.last_mut()) {
                (Some(command), _) if command != "no difference" => {
                    let command = command.to_owned();
                    shown.push(Shown { command, output: Vec::new() });
                }
                (_, Some(last)) => last.output.push(line.to_owned()),
                (_, None) => {}
            }
        }
    }
    shown
}

/// Whether the output has the lines in this order, with any others where the guide has `…`.
fn matches(output: &str, expected: &[String]) -> bool {
    let mut lines = output.lines();
    let mut any = false;
    for line in expected {
        if line == "…" {
            any = true;
        } else if any {
            any = false;
            if !lines.any(|it| it == line) {
                return false;
            }
        } else if lines.next() != Some(line) {
            return false;
        }
    }
    true
}

/// Runs a section's commands; `dayone status` exits with `status`, the others with 0.
fn follow(case: &mut Case<'_>, guide: &str, section: &str, status: i32) -> Result<(), Error> {
    let commands = commands(guide, section);
    assert!(!commands.is_empty(), "the guide has no commands in {section:?}");
    for Shown { command, output } in commands {
        if command == "systemctl reboot" {
            case.reboot()?;
            continue;
        }
        let done = case.inside()?.run(&["sh", "-c", &command])?;
        let expected = if command == "dayone status" { status } else { 0 };
        assert_eq!(done.status.code(), Some(expected), "{command}: {done}");
        assert!(output.is_empty() || matches(&done.stdout, &output), "{command}: {done}");
    }
    Ok(())
}

fn kubelet_runs(inside: &Inside) -> Result<(), Error> {
    inside.wait_unit("kubelet.service", "active", SOON)?;
    Ok(())
}

#[test]
fn runbook_leads_a_node_with_a_wrong_document_back() -> Result<(), Error> {
    let Some(lab) = Lab::open()? else { return Ok(()) };
    let guide = fs::read_to_string(root().join("agent/doc/runbook.md"));
    assert!(guide.is_ok(), "{guide:?}");
    let guide = guide.unwrap_or_default();
    let wrong = Document::new().with("192.0.2.1\n    next-hop", "192.0.2.254\n    next-hop").text();
    // Given up after one failure, so that no later attempt changes the node under the reader.
    let settings = HASTE.replace("max-attempts = 0", "max-attempts = 1");
    let node = worker()
        .keyfile("eno1", DAY_ONE)
        .file(HOST_FILE, &wrong, 0o644)
        .file("/etc/dayone/dayone.toml", &settings, 0o644)
        .machine_config_operator();
    lab.run(node, &Peer::new(), |case| {
        case.power_on()?;
        let inside = case.inside()?;
        assert_eq!(outcome(&inside, None)?.exit, 3);
        inside.wait_journal(&["SYSLOG_IDENTIFIER=dayone"], SOON * 3, |it| {
            it.message().contains("failed 1 times and is not tried again")
        })?;
        inside.wait_sh("grep --quiet given-up /run/dayone/status.json", SOON)?;
        for section in ["First look", "The journal", "What to collect"] {
            follow(case, &guide, section, 3)?;
        }
        let inside = case.inside()?;
        let archive = inside.sh("tar --list --gzip --file=/root/dayone.tar.gz")?;
        for file in ["run/dayone/status.json", "var/lib/dayone/record.json", &HOST_FILE[1..]] {
            assert!(archive.lines().any(|it| it == file), "{file} in {archive}");
        }
        assert!(inside.sh("stat --format=%a /root/dayone*")?.lines().all(|it| it == "600"));
        let start = mark(&inside)?;
        follow(case, &guide, "Another attempt", 3)?;
        let inside = case.inside()?;
        let again = outcome(&inside, Some(&start))?;
        assert!(again.text().contains("gateway 192.0.2.254"), "{}", again.text());
        assert!(!kubelet_ran(&inside)?);

        // The rest of that section brings the agent back for later boots.
        follow(case, &guide, "Without the agent for one boot", 3)?;
        let inside = case.inside()?;
        kubelet_runs(&inside)?;
        assert_eq!(inside.read("/run/dayone/status.json")?, None);
        assert!(inside.read("/run/lab-ovs-configuration")?.is_some());
        assert!(case.peer().pings(ADDRESS, SOON)?);

        follow(case, &guide, "A corrected document", 0)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        follow(case, &guide, "The last good configuration", 0)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);

        follow(case, &guide, "The node without the agent", 0)?;
        let inside = case.inside()?;
        kubelet_runs(&inside)?;
        assert_eq!(inside.read("/run/dayone/undecided")?, None);
        assert_eq!(inside.unit("dayone.service")?.active_state, "inactive");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

/// The guide has each message's id and each unit.
#[test]
fn runbook_is_complete() -> io::Result<()> {
    let guide = fs::read_to_string(root().join("agent/doc/runbook.md"))?;
    let system = root().join("systemd/usr/lib/systemd");
    let catalog = fs::read_to_string(system.join("catalog/dayone.catalog"))?;
    let ids = catalog.lines().filter_map(|line| line.strip_prefix("-- "));
    for id in ids {
        let (prefix, end) = id.split_at(30);
        assert!(guide.contains(&format!("`{prefix}`")), "{prefix}");
        assert!(guide.contains(&format!("\n| `{end}` |")), "{end}");
    }
    let preset = fs::read_to_string(system.join("system-preset/80-dayone.preset"))?;
    let without = commands(&guide, "The node without the agent");
    let disable: Vec<&str> = without
        .iter()
        .filter_map(|it| it.command.strip_prefix("systemctl disable "))
        .flat_map(str::split_whitespace)
        .collect();
    for unit in preset.lines().filter_map(|line| line.strip_prefix("enable ")) {
        assert!(disable.contains(&unit), "{unit}");
        assert!(guide.contains(&format!("\n| `{unit}` |")), "{unit}");
    }
    Ok(())
}
