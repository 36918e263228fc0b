//! `nmgen show --format html` and `nmgen diff --format html`, as text; the suite `page` opens them in a browser.

use std::fs;
use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use tests::program::{self, Exits as _};

fn page(here: &Path, arguments: &[&str]) -> String {
    program::nmgen_in(here, arguments).out().to_owned()
}

/// The start tags of a page, without those that are text.
fn tags<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let start = format!("<{name}");
    let tags = page.split(&start).skip(1).map(|rest| rest.split_once('>').unwrap().0);
    tags.filter(|tag| tag.is_empty() || tag.starts_with(' ')).collect()
}

#[tests::case]
fn a_page_has_every_host_by_cluster_and_role_with_its_findings() {
    let place = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(program::root().join("examples/cluster/install-config.yaml"));
    let text = text.unwrap().replace("192.0.2.11", "192.0.2.10");
    // One finding is between two hosts, at the second, the other one of the first.
    let text = text.replacen("prefix-length: 24", "prefix-length: 99", 1);
    fs::write(place.path().join("install-config.yaml"), text).unwrap();
    let page = page(place.path(), &["show", "--format", "html", "--br-ex", "install-config.yaml"]);
    let hosts = tags(&page, "details").into_iter().filter(|tag| tag.contains("class=\"host\""));
    assert_eq!(hosts.count(), 3, "{page}");
    // Both stages of each, and the legend.
    assert_eq!(tags(&page, "svg").len(), 2 * 3 + 1);
    assert_eq!(page.matches("on the running node").count(), 3);
    assert!(page.contains("<h3>master</h3>"), "{page}");
    assert!(page.contains("<p>error[address-on-two-hosts]"), "{page}");
    let kept = tags(&page, "tr").iter().filter(|tag| tag.contains("data-state=\"error\"")).count();
    assert_eq!(kept, 2, "{page}");
    let (_, second) = page.split_once("<b>master-1</b>").unwrap();
    let second = second.split_once("</details>").unwrap().0;
    assert!(second.contains("<p>error[address-on-two-hosts]"), "{page}");
}

#[tests::case]
fn a_page_of_one_host_has_its_findings_and_picture_and_nothing_to_search_in() {
    let place = tempfile::tempdir().unwrap();
    let document = "interfaces: [{name: eno1, type: ethernet, state: up, mtu: 50}]\n";
    fs::write(place.path().join("a.yml"), document).unwrap();
    let page = page(place.path(), &["show", "--format", "html", "a.yml"]);
    assert!(page.contains("<p>error[mtu"), "{page}");
    // The picture, and the legend.
    assert_eq!(tags(&page, "svg").len(), 2, "{page}");
    for absent in ["form", "table"] {
        assert!(tags(&page, absent).is_empty(), "{absent} in {page}");
    }
}

#[tests::case]
fn the_text_of_strangers_is_text_on_a_page() {
    let place = tempfile::tempdir().unwrap();
    let hostile =
        "\\\"'></title></style></script></svg><script>alert(1)</script><!--&lt;\\e[2J\\u202e\\0";
    let document = |mtu: &str| {
        format!(
            "hostname: {{config: \"{hostile}\"}}\n\
             interfaces: [{{name: \"{hostile}\", type: ethernet, mtu: {mtu}, \"{hostile}\": 1}}]\n\
             dns-resolver: {{config: {{search: [\"{hostile}\"]}}}}\n"
        )
    };
    let manifest = format!(
        "apiVersion: agent-install.openshift.io/v1beta1\nkind: NMStateConfig\n\
         metadata: {{name: \"{hostile}\", namespace: \"{hostile}\", labels: {{a: \"{hostile}\"}}}}\n\
         spec: {{config: {{interfaces: [{{name: \"{hostile}\", type: ethernet}}]}}}}\n"
    );
    let name = "<img src=x>&\"'.yml";
    fs::write(place.path().join(name), document("1500")).unwrap();
    fs::write(place.path().join("b.yml"), document("9000")).unwrap();
    fs::write(place.path().join("manifest.yaml"), manifest).unwrap();
    for arguments in [
        &["show", "--format", "html", name, "manifest.yaml"][..],
        &["diff", "--format", "html", name, "b.yml"],
        &["diff", "--format", "html", "b.yml", "manifest.yaml"],
    ] {
        let page = page(place.path(), arguments);
        // A diff refuses what cannot be read.
        let is_refused = arguments[0] == "diff" && arguments.contains(&"manifest.yaml");
        assert_eq!(page.is_empty(), is_refused, "{arguments:?}: {page}");
        for (tag, count) in [("script", 1), ("style", 1), ("img", 0), ("!--", 0)] {
            let count = if page.is_empty() { 0 } else { count };
            assert_eq!(page.matches(&format!("<{tag}")).count(), count, "{tag} in {page}");
        }
        let is_control = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!page.contains(is_control), "{page}");
    }
}

#[tests::case]
fn the_policy_of_a_page_allows_its_own_style_and_script_alone() {
    let page = page(&program::root().join("examples"), &["show", "--format", "html", "hosts"]);
    let (_, policy) = page.split_once("Content-Security-Policy\" content=\"").unwrap();
    let policy = policy.split_once('"').unwrap().0;
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    for tag in ["style", "script"] {
        let (_, text) = page.split_once(&format!("<{tag}>")).unwrap();
        let text = text.split_once(&format!("</{tag}>")).unwrap().0;
        assert!(!text.contains("http") && !text.contains("url(") && !text.contains("@import"));
        let place = tempfile::NamedTempFile::new().unwrap();
        fs::write(place.path(), text).unwrap();
        let digest = Command::new("sha256sum").arg(place.path()).output().unwrap().stdout;
        let digest: Vec<u8> = (0..32)
            .map(|at| u8::from_str_radix(str::from_utf8(&digest[2 * at..2 * at + 2]).unwrap(), 16))
            .collect::<Result<_, _>>()
            .unwrap();
        let source = format!("{tag}-src 'sha256-{}'", BASE64_STANDARD.encode(digest));
        assert!(policy.contains(&source), "{source} in {policy}");
    }
    // Neither has a way around it.
    for attribute in [" style=", " onclick=", " src=", " href="] {
        assert!(!page.contains(attribute), "{attribute}");
    }
}
