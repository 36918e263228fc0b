//! Names: of interfaces, profiles and hosts.

use nmgen_document::diagnostic::{Rule, Severity, rules};
use nmgen_document::format::is_control;

use super::purpose::Purpose;
use super::subject::{Interface, Report, Subject};

rules! {
    error INTERFACE_NAME_LENGTH = "interface-name-length";
    error INTERFACE_NAME_CHARACTERS = "interface-name-characters";
    warning RESERVED_NAME = "reserved-name";
    error PROFILE_NAME_UNSAFE = "profile-name-unsafe";
    error HOSTNAME = "hostname-invalid";
}

/// The kernel's IFNAMSIZ is 16, including the NUL.
const MAX_NAME_LENGTH: usize = 15;
/// `NAME_MAX` without `.nmconnection` and the suffix of a temporary file.
const MAX_PROFILE_ID_LENGTH: usize = 200;

/// Names of OpenShift's own components, which its NetworkManager configuration ignores.
const RESERVED: &[&str] =
    &["br-int", "br-local", "br-nexthop", "tun0", "br0", "br-ext", "ext-vxlan", "ext", "int"];
const RESERVED_PREFIXES: &[&str] = &["ovn-k8s-", "k8s-", "patch-br-", "vxlan_sys_", "genev_sys_"];

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    for interface in &subject.interfaces {
        interface_name(subject, interface, report);
        profile_name(interface, report);
    }
    hostname(subject, report);
}

/// True for a name that the assisted installer replaces on a node: a card's, which it finds by its address, and a VLAN's of base
/// and id, which it shortens.
fn is_renamed(interface: &Interface<'_>) -> bool {
    let node = interface.node;
    if interface.kind == "vlan" {
        let base = node.at(&["vlan", "base-iface"]).and_then(|value| value.text());
        let id = node.at(&["vlan", "id"]).and_then(|value| value.text());
        return base.zip(id).is_some_and(|(base, id)| {
            interface.name.strip_prefix(base).and_then(|rest| rest.strip_prefix('.')) == Some(id)
        });
    }
    interface.is_hardware() && node.mac_at("mac-address").is_some()
}

fn interface_name(subject: &Subject<'_>, interface: &Interface<'_>, report: &mut Report<'_>) {
    let name = interface.name;
    let path = interface.path.key("name");
    // ipsec connections and OVS bridges are no kernel interfaces.
    let in_kernel = !matches!(interface.kind, "ipsec" | "ovs-bridge");
    if in_kernel && name.len() > MAX_NAME_LENGTH {
        let message =
            format!("\"{name}\" has {} bytes; an interface name has at most 15", name.len());
        if subject.purpose == Purpose::HandedOn && is_renamed(interface) {
            let rule = Rule { severity: Severity::Warning, ..INTERFACE_NAME_LENGTH };
            let help = "whoever brings the profile to a node has to shorten it there, as the assisted installer does";
            report.add(rule, &path, message, help);
        } else {
            let help = "the kernel cuts or refuses longer names";
            report.add(INTERFACE_NAME_LENGTH, &path, message, help);
        }
    }
    if let Some(problem) = name_problem(name) {
        let message = format!("\"{}\" cannot name an interface: {problem}", name.escape_debug());
        let help = "use letters, digits, '-', '_' and '.'";
        report.add(INTERFACE_NAME_CHARACTERS, &path, message, help);
    }
    if is_reserved(name) && interface.is_up() {
        let help = "NetworkManager ignores this name on an OpenShift node; choose another one";
        report.add(RESERVED_NAME, &path, format!("{name} is reserved by OpenShift"), help);
    }
}

/// The kernel's dev_valid_name(), and NetworkManager's further restrictions.
pub fn name_problem(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    }
    if name == "." || name == ".." {
        return Some("it is a directory entry");
    }
    if name.contains(['/', ':']) {
        return Some("'/' and ':' are not allowed");
    }
    if name.contains('%') {
        return Some("'%' stands for a number that the kernel chooses");
    }
    name.chars()
        .any(|c| c.is_whitespace() || is_control(c))
        .then_some("white space and control characters are not allowed")
}

/// True for a name of the kernel's own devices.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn profile_name(interface: &Interface<'_>, report: &mut Report<'_>) {
    let Some(name) = interface.node.text_at("profile-name") else { return };
    if !is_safe_profile_id(name) {
        let message = format!("\"{}\" cannot be a file name", name.escape_debug());
        let help = "a profile name becomes <name>.nmconnection: no '/', no leading '.', no trailing '~', no control \
             characters, at most 200 bytes";
        report.add(PROFILE_NAME_UNSAFE, &interface.path.key("profile-name"), message, help);
    }
}

/// True when `<id>.nmconnection` is a single file name that NetworkManager loads: it skips hidden
/// files and backups (nm_keyfile_utils_ignore_filename).
pub fn is_safe_profile_id(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= MAX_PROFILE_ID_LENGTH
        && !id.starts_with('.')
        && !id.ends_with('~')
        && id.trim() == id
        && !id.chars().any(|c| c == '/' || c == '\\' || is_control(c))
}

fn hostname(subject: &Subject<'_>, report: &mut Report<'_>) {
    for key in ["config", "running"] {
        let Some(name) = subject.root.at(&["hostname", key]).and_then(|node| node.text()) else {
            continue;
        };
        if !name.is_empty() && !is_hostname(name) {
            let message = format!("\"{}\" is not a host name", name.escape_debug());
            let help = "labels of letters, digits and hyphens, at most 63 each and 64 in all (RFC 1123, hostname(7))";
            let at = nmgen_document::Path::default().key("hostname").key(key);
            report.add(HOSTNAME, &at, message, help);
        }
    }
}

fn is_hostname(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 64 && name.split('.').all(is_label)
}

/// Returns whether udev gives a card this name by its place (systemd.net-naming-scheme(7)): `^en[PsvxXbucaipod]`, the names that
/// assisted-service takes without a MAC address.
pub fn is_predictable(name: &str) -> bool {
    name.strip_prefix("en").is_some_and(|rest| rest.starts_with(|c| "PsvxXbucaipod".contains(c)))
}
