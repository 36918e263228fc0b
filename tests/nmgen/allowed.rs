//! Comments of sources that allow a warning, with the reason.

use std::fs;
use std::process::Output;

use tests::program::{self, Exits as _};

/// A host with one warning, at the line of its address: no default route.
const HOST: &str = "\
interfaces:
  - name: eno1
    type: ethernet
    state: up
    ipv4:
      enabled: true
      dhcp: false
      address:
        - ip: 192.0.2.10
          prefix-length: 24
dns-resolver:
  config:
    server: [192.0.2.53]
";
const ADDRESS: &str = "        - ip: 192.0.2.10\n";

/// The host with this comment alone on the line above the finding.
fn above(comment: &str) -> String {
    HOST.replace(ADDRESS, &format!("        {comment}\n{ADDRESS}"))
}

/// A command on the host's file.
fn run(text: &str, arguments: &[&str]) -> Output {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("hosts")).unwrap();
    fs::write(place.path().join("hosts/worker-0.yml"), text).unwrap();
    program::nmgen_in(place.path(), &[arguments, &["hosts"]].concat())
}

fn told(text: &str) -> String {
    run(text, &["check"]).err().to_owned()
}

const WHY: &str = "# nmgen: allow no-default-route: a storage network alone";

#[tests::case]
fn a_warning_with_a_reason_at_its_line_or_above_it_is_counted_and_not_told() {
    assert!(told(HOST).contains("warning[no-default-route]"), "{}", told(HOST));
    let at_its_line = HOST.replace(ADDRESS, &format!("        - ip: 192.0.2.10  {WHY}\n"));
    let two = above(
        "# nmgen: allow mtu-differs-in-role: not here\n        # nmgen: allow no-default-route: here",
    );
    for text in [above(WHY), at_its_line] {
        let output = run(&text, &["check", "--deny-warnings"]).exits(0);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            told,
            "1 host in hosts, no errors\n1 warning suppressed by comments in the sources\n"
        );
        let generated = run(&text, &["generate", "--to", "gc"]);
        assert!(generated.stderr.is_empty(), "{generated:?}");
    }
    assert!(!told(&two).contains("[no-default-route]"), "{}", told(&two));
    // Elsewhere it is of no use.
    let far = format!("{WHY}\n{HOST}");
    let found = told(&far);
    assert!(found.contains("[no-default-route]") && found.contains("[allow-unused]"), "{found}");
}

#[tests::case]
fn a_suppressed_warning_is_in_sarif_with_its_reason() {
    let output = run(&above(WHY), &["check", "--format", "sarif"]);
    let log = output.json();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{results:?}");
    assert_eq!(results[0]["ruleId"], "no-default-route");
    let suppression = &results[0]["suppressions"][0];
    assert_eq!(suppression["kind"], "inSource");
    assert_eq!(suppression["justification"], "a storage network alone");
    assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][0]["id"], "no-default-route");
    for form in ["json", "short", "github"] {
        let output = run(&above(WHY), &["check", "--format", form]);
        let text = output.out();
        assert!(!text.contains("no-default-route"), "{text}");
    }
}

#[tests::case]
fn a_comment_without_a_reason_or_a_finding_is_told_itself() {
    for (comment, rule, words) in [
        ("# nmgen: allow no-default-route", "allow-without-reason", "without a reason"),
        ("# nmgen: allow no-default-route:", "allow-without-reason", "without a reason"),
        ("# nmgen: allow no-default-rout: why", "allow-unused", "did you mean no-default-route?"),
        (
            "# nmgen: allow mtu-differs-in-role: why",
            "allow-unused",
            "no finding of mtu-differs-in-role here",
        ),
        ("# nmgen: allow unknown-field: why", "allow-unused", "errors, which are always told"),
        ("# nmgen: allow : why", "allow-unused", "names no rule"),
    ] {
        let told = told(&above(comment));
        assert!(told.contains(&format!("warning[{rule}]")) && told.contains(words), "{told}");
        let is_suppressed = !told.contains("warning[no-default-route]");
        assert_eq!(is_suppressed, rule == "allow-without-reason", "{told}");
    }
    // An error is told whatever a comment says, and may be why another finding is not there.
    let wrong = above("# nmgen: allow unknown-field: why").replace(
        "          prefix-length",
        "          prefix-lenght: 24 # nmgen: allow unknown-field: why\n          prefix-length",
    );
    assert!(told(&wrong).contains("error[unknown-field]"), "{}", told(&wrong));
    let faulty = above("# nmgen: allow mtu-differs-in-role: why") + "foo: 1\n";
    let found = told(&faulty);
    assert!(
        found.contains("error[") && !found.contains("no finding of mtu-differs-in-role"),
        "{found}"
    );
    // Neither a choice of hosts nor the use on a node has every finding.
    for more in [&["--host", "worker-0"][..], &["--for", "node"]] {
        let output =
            run(&above("# nmgen: allow mtu-differs-in-role: why"), &[&["check"], more].concat());
        let told = output.err();
        assert!(!told.contains("allow-unused"), "{told}");
    }
}

#[tests::case]
fn a_comment_in_an_install_config_or_within_its_text_is_one_too() {
    let text = fs::read_to_string(program::root().join("examples/cluster/install-config.yaml"));
    let text = text.unwrap();
    let place = tempfile::tempdir().unwrap();
    let check = |text: &str| {
        fs::write(place.path().join("install-config.yaml"), text).unwrap();
        program::nmgen_in(place.path(), &["check", "install-config.yaml"]).err().to_owned()
    };
    let odd = text.replacen("replicas: 3", "replicas: 4", 1);
    let found = check(&odd);
    assert!(found.contains("warning[fewer-hosts-than-replicas]"), "{found}");
    let why = "replicas: 4 # nmgen: allow fewer-hosts-than-replicas: the fourth comes later";
    let found = check(&text.replacen("replicas: 3", why, 1));
    assert!(found.ends_with("1 warning suppressed by comments in the sources\n"), "{found}");
}

/// The gate for strangers' changes: what their comments allow is not allowed.
#[tests::case]
fn a_gate_ignores_the_comments_of_the_text_that_it_judges() {
    let two = above(&format!("{WHY}\n        # nmgen: allow mtu-differs-in-role: not here"));
    for text in
        [above(WHY), HOST.replace(ADDRESS, &format!("        - ip: 192.0.2.10  {WHY}\n")), two]
    {
        for command in ["check", "generate"] {
            let deny = [command, "--deny-warnings"];
            let gate = [command, "--deny-warnings", "--ignore-allow-comments"];
            let told = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
            let judged = run(&text, &gate).exits(2);
            assert!(told(&judged).contains("warning[no-default-route]"), "{}", told(&judged));
            assert!(!told(&judged).contains("allow-unused"), "{}", told(&judged));
            assert!(!told(&run(&text, &deny)).contains("[no-default-route]"), "{text}");
        }
        let log = run(&text, &["check", "--format", "sarif", "--ignore-allow-comments"]).json();
        let results = log["runs"][0]["results"].as_array().unwrap();
        assert!(results.iter().all(|result| result["suppressions"].is_null()), "{log:#}");
    }
}
