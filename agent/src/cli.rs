//! The command line.

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand, ValueEnum};

/// Applies a node's network as one transaction, early in boot: check, checkpoint, apply, verify,
/// probe, commit; or roll back everything.
///
/// Exit codes: 0 done, or nothing to do; 1 failure on this machine; 2 wrong document or wrong call,
/// or not root;
/// 3 applied, did not hold, rolled back (`status`: not in force; `probe`: the wire failed); 4 the roll back failed.
#[derive(Debug, Parser)]
#[command(name = "dayone", version = nmgen_core::VERSION, max_term_width = 80, after_long_help = PLACES)]
pub(crate) struct Cli {
    /// Take all paths relative to this directory
    #[arg(long, global = true, default_value = "/", value_name = "DIR")]
    pub(crate) root: PathBuf,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Where things are; the rest is in the runbook.
const PLACES: &str = "\
Files:
  /etc/nmstate/openshift/    the documents; this node's is named after
                             its host name, a MAC address or DMI, else
                             cluster.yml
  /etc/dayone/dayone.toml    the settings, see dayone.toml(5)
  /run/dayone/status.json    the account of this boot
  /var/lib/dayone/           last good document, history, and an open
                             transaction

Units:
  dayone.service             puts the document in force
  dayone-bridge.service      br-ex on a node without a document
  dayone-recover.service     undoes an open transaction early in boot
  dayone-wait.service        kubelet requires it
  dayone-pending.path        checks a changed document and settings
  dayone-trial.service       a trial; systemctl stop ends it
  dayone-health.timer        watches the node's network
  dayone-health@REASON.service
                             failed while the reason holds

Variables:
  DAYONE_LOG                 error, warn, info, debug or trace
  NO_COLOR                   no colours on a terminal

The journal:
  journalctl --boot --identifier=dayone

dayone-runbook(7): a node that does not come up; the messages by their
id, the exit codes, what to collect, the node without the agent.";

/// The forms of answers by their names on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people
    Text,
    /// One object
    Json,
}

/// The forms of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusForm {
    /// For people
    Text,
    /// One object
    Json,
    /// Metrics, for a textfile collector
    Prometheus,
}

/// The command.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the chosen document, the reason, the result of the run, and drift
    ///
    /// The first line is the verdict, then come the reason, what to do next, and the details. Asks whether
    /// Open vSwitch and NetworkManager run and a gateway answers. Exits with 0 when this node's document is
    /// in force, or it has none; with 3 if kubelet waits, if the document is not in force, has drifted or
    /// waits for the next boot, even if the last good configuration carries the node, while a run is at
    /// work, was interrupted or has failed, and if no gateway answers or a unit of the agent is disabled.
    /// As metrics it says the same in `dayone_in_force`, and nothing on stderr; write them to a file beside the
    /// collector's, and rename that: a half of them would be read too.
    Status {
        /// The form of the status
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t = StatusForm::Text)]
        format: StatusForm,
        /// Short for `--format json`
        #[arg(long, conflicts_with = "format")]
        json: bool,
        /// Answer from FILE of `dayone collect` as on its node; `-` is standard input
        #[arg(long, value_name = "FILE", conflicts_with = "root")]
        from: Option<PathBuf>,
    },
    /// Choose this node's document and put it in force
    ///
    /// First undoes a transaction left open by a killed run. If the document is already in force,
    /// waits for its network and activates its profiles where they are down; if another tool has put
    /// it in force, records it. A change of day two stays: a call by hand prints it and exits with 3;
    /// `dayone rollback` puts the document's network back, `dayone adopt` keeps the change. If
    /// the document fails, puts the last good configuration back, unless that carries the node
    /// already: its gateway answers. Only one run at a time changes the network; another waits.
    ///
    /// With `--trial`, another document is applied for a while; see there.
    Apply {
        /// Choose and check only; print the changes
        #[arg(long)]
        dry_run: bool,
        /// Apply FILE, and take everything back unless `dayone confirm` comes within SECONDS
        ///
        /// FILE is any document; `-` is standard input. dayone-trial.service carries the trial out:
        /// the old network returns by itself also when the terminal, its session or the agent dies,
        /// at a reboot and after a power cut. The time begins when FILE is applied, verified and
        /// probed. Ctrl-C ends the display alone; `systemctl stop dayone-trial.service` ends the
        /// trial. This node's document stays what it is: a confirmed trial lasts until the next
        /// boot, `dayone apply` or `dayone rollback`. Exits with 0 when it is confirmed, with 3 when
        /// the old network is back.
        #[arg(
            long,
            value_name = "SECONDS",
            value_parser = clap::value_parser!(u32).range(10..=3600),
            requires = "file",
            conflicts_with_all = ["dry_run", "retry", "keep_trying"]
        )]
        trial: Option<u32>,
        /// The document on trial
        #[arg(value_name = "FILE", requires = "trial")]
        file: Option<PathBuf>,
        /// Take FILE in place of this node's document; `-` is standard input
        #[arg(long, value_name = "FILE")]
        document: Option<PathBuf>,
        /// Answer from FILE of `dayone collect` as on its node; `-` is standard input
        #[arg(long, value_name = "FILE", conflicts_with = "root", requires = "dry_run")]
        from: Option<PathBuf>,
        /// Try again although the document failed too often
        #[arg(long)]
        retry: bool,
        /// Go on trying, with growing pauses, until the boot may go on
        ///
        /// Pauses grow from 5 s to 5 min. A change below /etc/nmstate or of dayone.toml ends one,
        /// and so does SIGHUP, which forgets earlier failures too. A refused or given up document
        /// is not tried again before that. Used by dayone.service.
        #[arg(long, conflicts_with = "dry_run")]
        keep_trying: bool,
    },
    /// Check this node's document as a boot would, and apply nothing
    ///
    /// Reports whether it is in force or pending. Exits with 2 when a boot would refuse it. Needs
    /// neither NetworkManager nor a network; `apply --dry-run` also prints what it would change.
    Check {
        /// The form of the verdict
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Form::Text)]
        format: Form,
        /// Check FILE in place of this node's document; `-` is standard input
        #[arg(long, value_name = "FILE")]
        document: Option<PathBuf>,
        /// Answer from FILE of `dayone collect` as on its node; `-` is standard input
        #[arg(long, value_name = "FILE", conflicts_with = "root")]
        from: Option<PathBuf>,
    },
    /// Print in what the current state differs from this node's document
    ///
    /// A field a line, with the value of now and the wanted one: `+` is to come, `-` to go, `~` to change. Additions of other
    /// programs are no difference. For a document in force follow the changes that the next activation of the saved profiles
    /// makes in it, as after `nmcli connection modify` or an edited file.
    Diff {
        /// The form of the differences
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Form::Text)]
        format: Form,
        /// Exit with 1 if there is a difference, and with 2 for everything that goes wrong
        #[arg(long)]
        exit_code: bool,
        /// Compare with FILE in place of this node's document; `-` is standard input
        #[arg(long, value_name = "FILE")]
        document: Option<PathBuf>,
        /// Answer from FILE of `dayone collect` as on its node; `-` is standard input
        #[arg(long, value_name = "FILE", conflicts_with = "root")]
        from: Option<PathBuf>,
    },
    /// Ask the wire now: cables, LACP, VLANs, MTU, duplicate addresses, gateways, switches; change nothing
    ///
    /// Asks the gateways too, and those of a document that is not in force on the links of now.
    /// Works with or without a document, in an installer's live root too. Each failure has its likely cause and
    /// the next step; what nobody answers, as ICMP or LLDP that a network refuses, is unknown and no failure.
    /// `probe` in dayone.toml has more machines to ask and the expected switches. Exits with 3 when a probe
    /// failed.
    Probe {
        /// The form of the findings
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Form::Text)]
        format: Form,
    },
    /// Put the last good configuration back in force
    ///
    /// Applies the last committed document again as a transaction. Changes made by hand since its commit
    /// go; what it does not describe stays, such as another route. A document that failed in this boot
    /// stays failed: the next boot tries it once.
    Rollback,
    /// Accept a change of this node's network that was made on purpose: it is no drift any more
    ///
    /// Takes over what `dayone diff` shows now, with its values. `dayone status` tells the change, and
    /// dayone-health.service does not fail for it; any other difference is drift as before. It holds
    /// until the document is applied anew, by a changed one, a repair or `dayone rollback`. Changes neither the
    /// network nor the document: a change that is to last belongs into the document. Exits with 3 where
    /// no document is in force, and where the network leads nowhere: a boot would wait for it.
    Adopt {
        /// Why, for whoever reads the status
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        /// Make an adopted change drift again
        #[arg(long, conflicts_with = "reason")]
        forget: bool,
        /// Adopt a network without a default route too
        #[arg(long, conflicts_with = "forget")]
        force: bool,
        /// The form of the answer
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Form::Text)]
        format: Form,
    },
    /// Write the document of the running network: this node's profiles as NMState
    ///
    /// For a node that configure-ovs, a policy or somebody by hand has configured: `dayone diff --document FILE`
    /// is empty then, and an apply changes no setting. It replaces the profiles of configure-ovs and of the
    /// automatic bridge, which are for one boot, so that br-ex and the ports of a bond below it come up anew
    /// once; the metric 48 of their routes stays until a document says another `auto-route-metric`. nmstate says
    /// what is there, NetworkManager's profiles which of it is configured; comments at its head name what is
    /// left out, and why. Has no secrets, but with `--last-good`. Changes nothing.
    Export {
        /// Write a NodeNetworkConfigurationPolicy of kubernetes-nmstate for this node
        #[arg(long)]
        policy: bool,
        /// Write the document of the last commit instead: the one in force, or the last good one, with its secrets
        #[arg(long, conflicts_with = "policy")]
        last_good: bool,
        /// Answer from FILE of `dayone collect` as on its node; `-` is standard input
        #[arg(long, value_name = "FILE", conflicts_with = "root")]
        from: Option<PathBuf>,
    },
    /// Write this node into one file, without secrets
    ///
    /// The file has the status, the journals of this boot, documents, profiles, the states of nmstate, NetworkManager, the kernel
    /// and Open vSwitch, cards, neighbours by LLDP, versions. Works on a broken node: a source that does not answer has its error
    /// there. Takes at most ten seconds, unless `--timeout` says otherwise. `plan`, `check`, `diff`, `export`, `status` and
    /// `apply --dry-run` answer from it elsewhere (`--from FILE`), `nmgen report` from many. On the node
    /// `dayone export --last-good` prints the document in force with its secrets.
    Collect {
        /// Write to FILE, for root alone, compressed if its name ends in `.gz`; standard output without it
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Wait for each source, all at the same time, for at most SECONDS: more than the default on a very slow node
        #[arg(
            long,
            value_name = "SECONDS",
            default_value_t = 8,
            value_parser = clap::value_parser!(u64).range(1..=600)
        )]
        timeout: u64,
    },
    /// Show the br-ex that this node would get without a document, and change nothing
    ///
    /// Chooses the uplink as configure-ovs.sh does and prints the reason, a tree of the interfaces,
    /// settings that do not come along, and the result as an NMState document; all but the document
    /// are comments. On a node that has br-ex already, by configure-ovs.sh or by dayone, the plan is
    /// the next boot's. Exits with 2 when a file below /etc/ovnk has to be corrected.
    Plan {
        /// Print one JSON object with all profiles and their properties
        #[arg(long)]
        json: bool,
        /// Answer from FILE of `dayone collect` as on its node; `-` is standard input
        #[arg(long, value_name = "FILE", conflicts_with = "root")]
        from: Option<PathBuf>,
    },
    /// Make br-ex on a node without a document
    ///
    /// Chooses the uplink as configure-ovs.sh does and makes the same profiles, as one transaction.
    /// Does nothing on a node with a document in force, or without OVN-Kubernetes.
    Bridge {
        /// Go on trying, with growing pauses, until br-ex is there
        ///
        /// Pauses grow from 15 s to 5 min. A change below /etc/ovnk or of dayone.toml ends one,
        /// and so does SIGHUP. Used by dayone-bridge.service.
        #[arg(long)]
        keep_trying: bool,
    },
    /// Keep the document on trial until the next boot
    ///
    /// To keep it for good, make it this node's document. Exits with 1 without a trial, or while it is
    /// not applied yet; with 3 after its time, when the old network is back.
    Confirm,
    /// Undo a transaction that a crash or a power cut left open
    ///
    /// The unit runs before NetworkManager and needs neither it nor a network: it restores the profiles
    /// that NetworkManager reads when it starts. By hand, while NetworkManager runs, it undoes as `apply`
    /// does, and puts nothing else in force.
    Recover,
    /// Report in one line whether the node is as its document wants, for monitoring
    ///
    /// Exits with 3 while it is not: not in force, fallen back, drifted, refused, removed, held, or
    /// for longer than the bounds of `[health]` in dayone.toml pending or at work. Used by
    /// dayone-health.service, which keeps the account in /run/dayone/health.json and asks
    /// NetworkManager only after something has changed, and every half hour. By hand it always
    /// asks, and writes nothing. No gateway is asked; `dayone status` does.
    Health {
        /// The form of the account
        #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Form::Text)]
        format: Form,
        /// Exit with 3 while the last account fails for REASON; used by dayone-health@.service
        #[arg(long, value_name = "REASON", conflicts_with = "format")]
        only: Option<String>,
    },
    /// Carry out the trial that `apply --trial` asked for
    ///
    /// Undoes it instead if it was interrupted. Used by dayone-trial.service.
    Trial,
    /// Return when the boot may go on
    ///
    /// The boot may go on when the node's document is in force or the node has none, when the last
    /// good configuration carries the node, or after a failure with `on-failure = "continue"`. Used
    /// by dayone-wait.service, which kubelet requires.
    Wait,
    /// Print `skip` where the script of mtu-migration.service would fail, and tell the MTU that the cluster wants
    ///
    /// The condition of that unit: systemd skips it where a document in force has profiles of other names than
    /// configure-ovs. The MTU is in the unit's environment, TARGET_MTU.
    #[command(hide = true)]
    MtuMigration,
}

impl Command {
    /// Whether it may change the network, or what is told of it, so that its run belongs into the journal.
    pub(crate) fn is_for_the_journal(&self) -> bool {
        matches!(
            self,
            Self::Apply { dry_run: false, trial: None, .. }
                | Self::Bridge { .. }
                | Self::Recover
                | Self::Trial
                | Self::Adopt { .. }
                | Self::Rollback
        )
    }

    /// Whether its first line is the verdict, which no warning comes before.
    pub(crate) fn has_verdict(&self) -> bool {
        matches!(self, Self::Status { .. } | Self::Health { .. })
    }

    /// Returns what is wrong with a call that the parser of options takes.
    pub(crate) fn fault(&self) -> Option<String> {
        let Self::Apply { dry_run: false, document: Some(file), .. } = self else { return None };
        let file = file.display();
        Some(format!(
            "`--document` needs `--dry-run`, which changes nothing; to apply {file} for a while: `dayone apply --trial 120 {file}`"
        ))
    }

    /// Whether it reads or writes what root alone may.
    pub(crate) fn needs_root(&self) -> bool {
        self.from().is_none() && !matches!(self, Self::Check { document: Some(_), .. })
    }

    /// The collected node of which it answers.
    pub(crate) fn from(&self) -> Option<&Path> {
        let (Self::Apply { from, .. }
        | Self::Status { from, .. }
        | Self::Check { from, .. }
        | Self::Plan { from, .. }
        | Self::Diff { from, .. }
        | Self::Export { from, .. }) = self
        else {
            return None;
        };
        from.as_deref()
    }
}
