//! Bonds: ports, and the options of each mode.

use nmgen_document::Node;
use nmgen_document::diagnostic::{Rule, rules};

use super::subject::{Interface, Report, Subject};
use crate::stack::{self, Relation};

rules! {
    pub(super) warning BOND_WITHOUT_PORTS = "bond-without-ports";
    pub(super) error BOND_WITHOUT_MODE = "bond-without-mode";
    error BOND_OPTION_REFUSED = "bond-option-refused";
    warning BOND_OPTION_IGNORED = "bond-option-ignored";
    warning BOND_PRIMARY_NOT_A_PORT = "bond-primary-not-a-port";
}

/// The names and numbers of the modes, as the kernel has them.
const MODES: &[(&str, &str)] = &[
    ("balance-rr", "0"),
    ("active-backup", "1"),
    ("balance-xor", "2"),
    ("broadcast", "3"),
    ("802.3ad", "4"),
    ("balance-tlb", "5"),
    ("balance-alb", "6"),
];

const WITH_PRIMARY: &[&str] = &["active-backup", "balance-tlb", "balance-alb"];
const WITH_ARP: &[&str] = &["balance-rr", "active-backup", "balance-xor", "broadcast"];
const LACP: &[&str] = &["802.3ad"];

/// An option, the modes that support it, and NetworkManager's reaction in other modes: refuses the
/// profile or drops the option (verify() in nm-setting-bond.c).
const OPTIONS: &[(&str, &[&str], Rule)] = &[
    ("primary", WITH_PRIMARY, BOND_OPTION_REFUSED),
    ("arp_interval", WITH_ARP, BOND_OPTION_REFUSED),
    ("arp_missed_max", WITH_ARP, BOND_OPTION_REFUSED),
    ("lacp_rate", LACP, BOND_OPTION_REFUSED),
    ("lacp_active", LACP, BOND_OPTION_REFUSED),
    ("balance_slb", &["balance-xor"], BOND_OPTION_REFUSED),
    ("balance-slb", &["balance-xor"], BOND_OPTION_REFUSED),
    ("arp_ip_target", WITH_ARP, BOND_OPTION_IGNORED),
    ("arp_validate", WITH_ARP, BOND_OPTION_IGNORED),
    ("ad_actor_sys_prio", LACP, BOND_OPTION_IGNORED),
    ("ad_actor_system", LACP, BOND_OPTION_IGNORED),
    ("ad_user_port_key", LACP, BOND_OPTION_IGNORED),
    ("packets_per_slave", &["balance-rr"], BOND_OPTION_IGNORED),
    ("tlb_dynamic_lb", &["balance-tlb", "balance-alb"], BOND_OPTION_IGNORED),
];

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    let mut ports = vec![0_usize; subject.interfaces.len()];
    for (index, reference) in &subject.references {
        ports[*index] += usize::from(reference.role == Relation::Port);
    }
    // A port may also name its bond itself, by `controller`.
    for index in subject.controllers() {
        ports[index] += 1;
    }
    for (index, interface) in subject.interfaces.iter().enumerate() {
        if interface.kind == "bond" && interface.is_up() {
            bond(subject, interface, ports[index], report);
        }
    }
}

fn bond(subject: &Subject<'_>, interface: &Interface<'_>, ports: usize, report: &mut Report<'_>) {
    let name = interface.name;
    let section = interface.section(&["link-aggregation", "bond"]);
    let lists = ["port", "ports", "ports-config"];
    let list =
        section.and_then(|(_, bond)| lists.into_iter().find(|list| bond.get(list).is_some()));
    // On a node, a missing list leaves the ports unchanged.
    if ports == 0 && (list.is_some() || subject.is_offline()) {
        let path = match (section, list) {
            (Some((key, _)), Some(list)) => interface.path_to(&[key, list]),
            (Some((key, _)), None) => interface.path.key(key),
            (None, _) => interface.path.key("name"),
        };
        let help = "without ports it never has a carrier; list its interfaces under port";
        report.add(BOND_WITHOUT_PORTS, &path, format!("bond {name} has no ports"), help);
    }
    let mode = section.and_then(|(_, bond)| mode(bond.text_at("mode")?));
    let has_mode = section.is_some_and(|(_, bond)| bond.get("mode").is_some());
    if !has_mode && subject.is_offline() {
        let path =
            section.map_or_else(|| interface.path.key("name"), |(key, _)| interface.path.key(key));
        let help = "set one, such as mode: active-backup or mode: 802.3ad";
        let message = format!("bond {name} has no mode");
        report.add_at_key(BOND_WITHOUT_MODE, &path, message, help);
    }
    let Some((key, options)) = section.and_then(|(key, bond)| Some((key, bond.get("options")?)))
    else {
        return;
    };
    let bond = BondOptions { interface, section: key, options };
    if let Some(mode) = mode {
        bond.with_mode(mode, report);
    }
    if subject.is_offline() {
        bond.with_each_other(report);
    }
    bond.primary(ports, report);
}

/// The kernel's name of a mode, given by name or number.
pub fn mode(text: &str) -> Option<&'static str> {
    let text = if text == "lacp" { "802.3ad" } else { text };
    MODES.iter().find(|(name, number)| *name == text || *number == text).map(|(name, _)| *name)
}

/// Whether a bond of this mode, by the kernel's name, has the option: NetworkManager refuses or drops it in another one.
pub fn has_option(mode: &str, option: &str) -> bool {
    OPTIONS.iter().all(|(name, modes, _)| *name != option || modes.contains(&mode))
}

struct BondOptions<'s> {
    interface: &'s Interface<'s>,
    section: &'s str,
    options: &'s Node<'s>,
}

impl BondOptions<'_> {
    fn with_mode(&self, mode: &str, report: &mut Report<'_>) {
        for (option, modes, rule) in OPTIONS {
            let Some(value) = self.options.get(option) else { continue };
            if modes.contains(&mode) || self.is_harmless(option, value) {
                continue;
            }
            let message =
                format!("{option} does not go with mode {mode} of bond {}", self.interface.name);
            let help = if *rule == BOND_OPTION_REFUSED {
                "NetworkManager refuses such a profile"
            } else {
                "NetworkManager drops the option"
            };
            let help = format!("{help}; the option is for {}", modes.join(", "));
            self.add(*rule, option, message, &help, report);
        }
    }

    /// Turning an option off is valid in every mode, except where nmstate is stricter.
    fn is_harmless(&self, option: &str, value: &Node<'_>) -> bool {
        match option {
            "arp_interval" | "arp_missed_max" => value.number() == Some(0),
            "balance_slb" | "balance-slb" => value.boolean() == Some(false),
            "arp_validate" => matches!(value.text(), Some("none" | "0")),
            "arp_ip_target" => value.text() == Some(""),
            _ => false,
        }
    }

    /// Options that require or exclude others. Offline only: a node may have the others set already.
    fn with_each_other(&self, report: &mut Report<'_>) {
        let name = self.interface.name;
        let number = |option: &str| self.options.number_at(&[option]);
        let is_set = |option: &str| {
            self.options.get(option).is_some_and(|node| {
                !node.items().is_empty() || node.text().is_some_and(|text| !text.is_empty())
            })
        };
        let interval = number("arp_interval").unwrap_or(0);
        let targets = ["arp_ip_target", "ns_ip6_target"];
        if interval > 0 {
            if !targets.into_iter().any(is_set) {
                let message = format!("arp_interval of bond {name} has no target address");
                self.add(BOND_OPTION_REFUSED, "arp_interval", message, "add arp_ip_target", report);
            }
            if number("miimon").is_some_and(|miimon| miimon > 0) {
                let message =
                    format!("bond {name} monitors its links by both miimon and arp_interval");
                self.add(
                    BOND_OPTION_REFUSED,
                    "arp_interval",
                    message,
                    "use one of the two",
                    report,
                );
            }
        }
        for target in targets.into_iter().filter(|target| interval == 0 && is_set(target)) {
            let message = format!("{target} of bond {name} needs arp_interval");
            self.add(
                BOND_OPTION_REFUSED,
                target,
                message,
                "set the interval in milliseconds",
                report,
            );
        }
        // NetworkManager's default for miimon is 100, so only an explicit 0 turns it off.
        if number("miimon") == Some(0) {
            for option in ["updelay", "downdelay"] {
                if number(option).is_some_and(|value| value > 0) {
                    let message = format!("{option} of bond {name} needs miimon, which is 0");
                    let help = "give miimon a value, such as 100";
                    self.add(BOND_OPTION_REFUSED, option, message, help, report);
                }
            }
        }
        if let (Some(arp), Some(na)) = (number("num_grat_arp"), number("num_unsol_na"))
            && arp != na
        {
            let message = format!("num_grat_arp and num_unsol_na of bond {name} differ");
            let help = "the kernel has one value with two names: set one of them";
            self.add(BOND_OPTION_REFUSED, "num_unsol_na", message, help, report);
        }
    }

    fn primary(&self, ports: usize, report: &mut Report<'_>) {
        let Some(primary) = self.options.text_at("primary").filter(|name| !name.is_empty()) else {
            return;
        };
        let is_port = stack::below(self.interface.node).iter().any(|port| port.name == primary);
        if ports > 0 && !is_port {
            let message = format!("{primary} is not a port of bond {}", self.interface.name);
            let help = "the kernel waits for a port of this name, and uses any other until then";
            self.add(BOND_PRIMARY_NOT_A_PORT, "primary", message, help, report);
        }
    }

    fn add(&self, rule: Rule, option: &str, message: String, help: &str, report: &mut Report<'_>) {
        let path = self.interface.path_to(&[self.section, "options", option]);
        report.add(rule, &path, message, help);
    }
}
