//! `/etc/dayone/dayone.toml`: optional, and every key has a default.

mod usable;

use std::{net::IpAddr, path::PathBuf, time::Duration};

use nmgen::source::bounded;
use serde::Deserialize;
use thiserror::Error;

pub(crate) use self::usable::Usable;
use crate::paths::{PathError, Paths, cannot};

/// Larger settings are refused.
const LIMIT: usize = 1 << 20;

/// Why the settings cannot be used.
#[derive(Debug, Error)]
pub(crate) enum SettingsError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("{path} is not UTF-8")]
    Encoding { path: PathBuf, source: std::string::FromUtf8Error },
    /// A sentence for each key.
    #[error("{}", .0.join("; "))]
    Keys(Vec<String>),
}

/// A whole or fractional number of seconds, not negative, at most a day.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub(crate) struct Seconds(f64);

impl TryFrom<f64> for Seconds {
    type Error = String;
    fn try_from(value: f64) -> Result<Self, String> {
        match (0.0..=86_400.0).contains(&value) {
            true => Ok(Self(value)),
            false => Err(format!("{value} is not between 0 and 86400 seconds")),
        }
    }
}

impl Seconds {
    pub(crate) fn get(self) -> Duration {
        Duration::from_secs_f64(self.0)
    }
}

/// How a boot continues when its document failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OnFailure {
    /// Hold the units that wait for the network, and try again.
    #[default]
    Fail,
    /// As `fail`, also where the last good configuration carries the node: a rollout ends with the first node.
    Hold,
    /// Report the failure, and let the boot go on with the old network.
    Continue,
}

/// Which results of a probe fail the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Policy {
    /// Must answer after the change.
    Required,
    /// Must answer after the change if it answered before.
    IfItWorkedBefore,
    /// Not run.
    Off,
}

/// A section of the file: each key with its type and its default.
macro_rules! section {
    ($(#[$what:meta])* $name:ident { $($(#[$of_key:meta])* $key:ident: $type:ty = $default:expr,)+ }) => {
        $(#[$what])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
        pub(crate) struct $name {
            $($(#[$of_key])* pub(crate) $key: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($key: $default,)+ }
            }
        }
    };
}

section! {
    /// The whole file.
    Settings {
        /// `fail` (default), `hold` or `continue`.
        on_failure: OnFailure = OnFailure::default(),
        /// Failures after which a document is not tried again; 0 means never give up.
        max_attempts: u32 = 3,
        bridge: Bridge = Bridge::default(),
        wait: Wait = Wait::default(),
        /// Bounds of the phases.
        timeout: Timeouts = Timeouts::default(),
        probe: Probes = Probes::default(),
        /// The bounds after which `dayone health` fails.
        health: Health = Health::default(),
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Bridge {
    /// Datapath of Open vSwitch, such as `netdev`. Default: the kernel's.
    pub(crate) datapath_type: Option<String>,
}

section! {
    /// Bounds of the waits before the transaction, in seconds.
    Wait {
        /// The end of another run that holds the lock.
        turn: Seconds = Seconds(600.0),
        /// A host name other than localhost, if host files exist.
        hostname: Seconds = Seconds(300.0),
        /// NetworkManager on the bus.
        network_manager: Seconds = Seconds(60.0),
        /// The end of NetworkManager's start-up of a named device; afterwards the agent goes on.
        device_settled: Seconds = Seconds(15.0),
        /// OVSDB, if the document uses OVS.
        ovsdb: Seconds = Seconds(30.0),
        /// Each link that the document names.
        link: Seconds = Seconds(60.0),
        /// The network of a document already in force.
        network: Seconds = Seconds(60.0),
        /// The uplink of the automatic bridge.
        uplink: Seconds = Seconds(60.0),
        /// An answer that the network gave earlier in this boot, and gives neither with the change nor without it.
        answer: Seconds = Seconds(900.0),
    }
}

section! {
    /// The bound of each phase, in seconds.
    Timeouts {
        /// Reading the current state.
        snapshot: Seconds = Seconds(20.0),
        /// Probes before the change.
        baseline: Seconds = Seconds(5.0),
        /// Creating a checkpoint, or committing it.
        checkpoint: Seconds = Seconds(20.0),
        /// Removing leftovers of other tools.
        take_over: Seconds = Seconds(30.0),
        /// Handing the document to NetworkManager.
        apply: Seconds = Seconds(120.0),
        /// Waiting until the current state matches the document. Default 90: behind a switch port that forwards nothing for 30 s,
        /// NetworkManager's DHCP client gets its lease with the request that it sends after some 65 s.
        verify: Seconds = Seconds(90.0),
        /// All probes together. Default 45: a switch port with classic spanning tree forwards nothing
        /// for 30 s.
        probe: Seconds = Seconds(45.0),
        /// Each step of a roll back. Default 90, as for `verify`.
        roll_back: Seconds = Seconds(90.0),
    }
}

/// Bound of the activation of other profiles' links after a change. NetworkManager answers within milliseconds, on a busy node
/// within seconds, and works on by itself.
pub(crate) const OTHER_PROFILES: Duration = Duration::from_secs(10);

/// The time that a card, its driver and udev take for one virtual function, and the most that nmstate waits for all of a card.
const VIRTUAL_FUNCTION: f64 = 5.0;
const VIRTUAL_FUNCTIONS: f64 = 300.0;

impl Timeouts {
    /// Returns the bounds of a document that has so many virtual functions.
    pub(crate) fn with_virtual_functions(&self, count: u32) -> Self {
        let more = (f64::from(count) * VIRTUAL_FUNCTION).min(VIRTUAL_FUNCTIONS);
        let longer = |bound: Seconds| Seconds(bound.0 + more);
        Self { apply: longer(self.apply), verify: longer(self.verify), ..self.clone() }
    }

    /// Timeout of the transaction's checkpoints, the sum of the phases they cover. Not a round
    /// number: the timeout distinguishes them from checkpoints of other programs.
    pub(crate) fn checkpoint_seconds(&self) -> u32 {
        let whole = [self.take_over, self.apply, self.verify, self.probe, self.checkpoint];
        let whole = whole.iter().map(|bound| bound.get()).sum::<Duration>() + OTHER_PROFILES;
        let seconds = u32::try_from(whole.as_secs()).unwrap_or(u32::MAX - 20);
        seconds - seconds % 10 + 17
    }
}

section! {
    /// The bounds of what is no failure for a while, in seconds.
    Health {
        /// A changed document that waits for its boot.
        pending: Seconds = Seconds(86_400.0),
        /// A run, a boot before its first run, a service that is down.
        run: Seconds = Seconds(600.0),
    }
}

section! {
    /// Policy of each probe.
    Probes {
        /// Default gateways. Default `if-it-worked-before`; one that the document names is required
        /// unless this is `off`.
        gateway: Policy = Policy::IfItWorkedBefore,
        /// Any configured name server answers. Default `if-it-worked-before`.
        dns: Policy = Policy::IfItWorkedBefore,
        /// The name to look up; any answer counts. Default `.` (the root's name servers).
        dns_name: String = ".".to_owned(),
        /// The API accepts a connection. Default `if-it-worked-before`.
        api: Policy = Policy::IfItWorkedBefore,
        /// `host:port`; default from `/etc/kubernetes/apiserver-url.env`.
        api_address: Option<String> = None,
        /// Carrier and speed of a bond's ports. Default `off`, as for each probe of the wire.
        bond: Policy = Policy::Off,
        lacp: Policy = Policy::Off,
        /// A neighbour on each VLAN.
        vlan: Policy = Policy::Off,
        /// Packets of full size.
        mtu: Policy = Policy::Off,
        /// Addresses that another machine has too.
        duplicate: Policy = Policy::Off,
        /// The other ends of the cables.
        lldp: Policy = Policy::Off,
        /// Machines that `mtu` and `vlan` ask beside the gateways.
        peers: Vec<IpAddr> = Vec::new(),
        /// The expected other ends.
        lldp_neighbour: Vec<LldpNeighbour> = Vec::new(),
        /// Custom targets.
        target: Vec<Target> = Vec::new(),
    }
}

/// `[[probe.lldp-neighbour]]`: the switch and the port at the end of a cable, as they say of themselves.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct LldpNeighbour {
    pub(crate) link: String,
    /// The system's name, else its chassis id; any without it.
    pub(crate) system: Option<String>,
    /// The port's id; any without it.
    pub(crate) port: Option<String>,
}

/// `[[probe.target]]`: a name, one of `tcp` and `http`, and a policy.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "RawTarget")]
pub(crate) struct Target {
    /// Shown in results.
    pub(crate) name: String,
    pub(crate) reach: Reach,
    /// Default `required`.
    pub(crate) policy: Policy,
}

/// The target of a custom probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// `host:port` accepts a connection.
    Tcp(String),
    /// `http://host[:port]/path` answers with a status below 500.
    Http(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawTarget {
    name: String,
    tcp: Option<String>,
    http: Option<String>,
    #[serde(default = "required")]
    policy: Policy,
}

impl TryFrom<RawTarget> for Target {
    type Error = String;
    fn try_from(raw: RawTarget) -> Result<Self, String> {
        let RawTarget { name, tcp, http, policy } = raw;
        let reach = match (tcp, http) {
            (Some(address), None) => Reach::Tcp(address),
            (None, Some(url)) => Reach::Http(url),
            (None, None) | (Some(_), Some(_)) => {
                return Err(format!("probe target {name} needs exactly one of tcp and http"));
            }
        };
        Ok(Self { name, reach, policy })
    }
}

fn required() -> Policy {
    Policy::Required
}

impl Settings {
    /// The file's settings, or the defaults without a file; an error if a key cannot be used.
    pub(crate) fn load(paths: &Paths) -> Result<Self, SettingsError> {
        let Some(text) = Self::read(paths)? else { return Ok(Self::default()) };
        let Usable { settings, faults } = Usable::parse(&paths.settings(), &text);
        if faults.is_empty() { Ok(settings) } else { Err(SettingsError::Keys(faults)) }
    }

    /// The file's text; `None` without a file.
    fn read(paths: &Paths) -> Result<Option<String>, SettingsError> {
        let path = paths.settings();
        match bounded::read(&path, LIMIT) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Some(text)),
                Err(source) => Err(SettingsError::Encoding { path, source }),
            },
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(cannot("read", &path)(error).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{OnFailure, Policy, Reach, Settings, SettingsError};
    use crate::paths::Paths;

    #[test]
    fn every_key_has_a_default() -> Result<(), toml::de::Error> {
        let settings: Settings = toml::from_str("")?;
        assert_eq!(settings.max_attempts, 3);
        assert_eq!(settings.on_failure, OnFailure::Fail);
        Ok(())
    }

    #[test]
    fn without_a_file_there_are_the_defaults_and_one_that_cannot_be_read_is_an_error()
    -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        assert_eq!(Settings::load(&paths)?.max_attempts, 3);
        let file = paths.settings();
        std::fs::create_dir_all(&file)?;
        assert!(matches!(Settings::load(&paths), Err(SettingsError::Path(_))));
        std::fs::remove_dir(&file)?;
        std::fs::write(&file, "max-attempts = 5\n")?;
        assert_eq!(Settings::load(&paths)?.max_attempts, 5);
        std::fs::write(&file, [0xff])?;
        assert!(matches!(Settings::load(&paths), Err(SettingsError::Encoding { .. })));
        std::fs::write(&file, "max-attempt = 5\n")?;
        let strict =
            Settings::load(&paths).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(
            strict.contains(":1: ") && strict.contains("did you mean `max-attempts`?"),
            "{strict}"
        );
        Ok(())
    }

    #[test]
    fn the_documented_file_is_the_default() -> Result<(), toml::de::Error> {
        let documented: Settings = toml::from_str(include_str!("../doc/dayone.toml"))?;
        assert_eq!(format!("{documented:?}"), format!("{:?}", Settings::default()));
        Ok(())
    }

    /// `dayone.toml(5)` is generated from this file: a key missing here is undocumented.
    #[test]
    fn every_key_is_documented() {
        let documented = include_str!("../doc/dayone.toml");
        let default = format!("{:?}", Settings::default());
        let words = default.split(|c: char| !(c.is_ascii_alphanumeric() || "_:".contains(c)));
        for field in words.filter_map(|word| word.strip_suffix(':')) {
            let key = field.replace('_', "-");
            let is_said = documented.lines().any(|line| {
                let line = line.trim_start_matches("# ");
                line.starts_with(&format!("{key} = "))
                    || [format!("[{key}]"), format!("[[probe.{key}]]")].contains(&line.to_owned())
            });
            assert!(is_said, "{key} is not documented");
        }
    }

    #[test]
    fn reads_targets() -> Result<(), toml::de::Error> {
        let settings: Settings = toml::from_str(
            "on-failure = \"continue\"\n[wait]\nlink = 0.5\n[[probe.target]]\nname = \"registry\"\ntcp = \"192.0.2.5:5000\"\n",
        )?;
        assert!(matches!(&settings.probe.target[0].reach, Reach::Tcp(t) if t == "192.0.2.5:5000"));
        assert_eq!(settings.probe.target[0].policy, Policy::Required);
        Ok(())
    }

    /// NetworkManager must not undo a change while the agent is at work, and the agent knows its checkpoints by the last digit.
    #[test]
    fn a_checkpoint_outlasts_the_phases_that_it_covers() -> Result<(), toml::de::Error> {
        for apply in [0, 1, 4, 5, 9, 120, 12_345] {
            let settings: Settings = toml::from_str(&format!("[timeout]\napply = {apply}"))?;
            let t = settings.timeout;
            let covered = [t.take_over, t.apply, t.verify, t.probe, t.checkpoint];
            let covered: f64 = covered.iter().map(|bound| bound.get().as_secs_f64()).sum();
            let covered = covered + super::OTHER_PROFILES.as_secs_f64();
            let seconds = t.checkpoint_seconds();
            assert_eq!(seconds % 10, 7, "{seconds}");
            let spare = f64::from(seconds) - covered;
            assert!((8.0..=17.0).contains(&spare), "{seconds} for {covered}");
        }
        Ok(())
    }

    #[test]
    fn virtual_functions_take_their_time() {
        let t = super::Timeouts::default();
        let bounds = |count| {
            let t = t.with_virtual_functions(count);
            [t.apply, t.verify, t.roll_back].map(|bound| bound.get().as_secs())
        };
        assert_eq!(bounds(0), [120, 90, 90]);
        assert_eq!(bounds(8), [160, 130, 90]);
        // As long as nmstate waits for them.
        assert_eq!([bounds(60), bounds(256)], [[420, 390, 90]; 2]);
        let whole = |count| t.with_virtual_functions(count).checkpoint_seconds();
        assert_eq!(whole(60) - whole(0), 600);
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        assert!(toml::from_str::<Settings>("on-falure = \"continue\"").is_err());
        assert!(toml::from_str::<Settings>("[wait]\nlink = -1").is_err());
        assert!(toml::from_str::<Settings>("[wait]\nlnik = 1").is_err());
    }
}
