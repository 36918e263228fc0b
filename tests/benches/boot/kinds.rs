//! Nodes side by side, by turns: a table of medians with the least and the most, of the first boot and of the second one.

use tests::{
    lab::{Error, Machines, kvm},
    measure::quantile,
    two_stage::{Boot, Kind},
};

/// Number of runs of each kind; the median counts.
const RUNS: usize = 3;
/// The bound on what nmgen adds once the last card is there, on hardware.
const AFTER_LAST_CARD: f64 = 0.020;
/// The bound by a clock of counted instructions, 50 million of them: a core of 2.5 GHz executes these in 20 ms at one a cycle.
const IN_INSTRUCTIONS: f64 = 0.100;

/// The figures of a table, in seconds or in milliseconds.
#[derive(Clone, Copy)]
enum Form {
    Moment,
    Span,
}

type Row = (&'static str, Form, fn(&Boot) -> Option<f64>);

const ROWS: [Row; 18] = [
    ("udev names the last card", Form::Moment, |boot| boot.named),
    ("systemd knows of it", Form::Moment, |boot| boot.last_card),
    ("nmgen.service before the last card", Form::Span, Boot::nmgen_before),
    ("nmgen.service after its name, at most", Form::Span, Boot::nmgen_after_name),
    ("nmgen.service after systemd knows", Form::Span, Boot::nmgen_after),
    ("last card to NetworkManager's start", Form::Span, Boot::card_to_manager),
    ("last card to a network", Form::Span, Boot::card_to_network),
    ("NetworkManager starts in the initramfs", Form::Moment, |boot| boot.early_manager),
    ("its network is there", Form::Moment, |boot| boot.early_online),
    ("Ignition has its configuration", Form::Moment, |boot| boot.fetched),
    ("nmgen-persist.service", Form::Span, |boot| boot.persist),
    ("the end of nmgen.service", Form::Span, |boot| boot.release),
    ("the pivot", Form::Moment, |boot| boot.pivot),
    ("NetworkManager starts", Form::Moment, |boot| boot.manager),
    ("what makes br-ex begins", Form::Moment, |boot| boot.makers),
    ("what makes br-ex is over", Form::Moment, |boot| boot.makers_end),
    ("kubelet starts", Form::Moment, |boot| boot.kubelet),
    ("network's units in kubelet's chain", Form::Span, Boot::in_chain),
];

pub(crate) fn compare(machines: &Machines) -> Result<(), Error> {
    let mut boots: [Vec<[Boot; 2]>; Kind::ALL.len()] = Default::default();
    for turn in 1..=RUNS {
        for (kind, boots) in Kind::ALL.into_iter().zip(&mut boots) {
            let both = kind.boots(machines)?;
            let kubelet = both.each_ref().map(|boot| boot.kubelet.unwrap_or_default());
            println!("turn {turn}, {}: kubelet after {kubelet:.2?} s", kind.name());
            boots.push(both);
        }
    }
    println!(
        "medians of {RUNS} boots by turns (the least - the most): s after the kernel's start, or ms that something takes"
    );
    for (boot, which) in ["the first boot", "the second boot"].into_iter().enumerate() {
        println!("\n{which:<40}{}", Kind::ALL.map(|kind| format!("{:>28}", kind.name())).concat());
        for (what, form, figure) in ROWS {
            let cells = boots.each_ref().map(|runs| {
                let figures = runs.iter().filter_map(|run| figure(&run[boot]));
                format!("{:>28}", cell(form, &figures.collect::<Vec<_>>()))
            });
            println!("  {what:<38}{}", cells.concat());
        }
        for (kind, runs) in Kind::ALL.into_iter().zip(&boots) {
            let Some([first, second]) = runs.last() else { continue };
            let network = [first, second][boot].network_chain().into_iter();
            let network: Vec<String> = network.map(ToString::to_string).collect();
            println!("  in kubelet's chain, {}: {}", kind.name(), network.join(", "));
        }
    }
    if let Some([first, _]) = boots[0].last() {
        println!("\nkubelet's critical chain, {}, the first boot:", Kind::ALL[0].name());
        first.chain.iter().for_each(|link| println!("  {link}"));
    }
    is_within(&boots[0])
}

/// Holds nmgen's part of the first boot to its bound.
fn is_within(boots: &[[Boot; 2]]) -> Result<(), Error> {
    let after: Vec<f64> = boots.iter().filter_map(|[first, _]| first.nmgen_after_name()).collect();
    let median = quantile(after.iter().copied(), 0.5);
    let bound = if kvm().is_ok() { AFTER_LAST_CARD } else { IN_INSTRUCTIONS };
    let [shown, most] = [median, bound].map(|seconds| seconds * 1e3);
    println!(
        "\nnmgen after the last card, udev's other rules included: {shown:.1} ms (at most {most:.0} by this clock)"
    );
    assert!(after.len() == RUNS && median <= bound, "{after:?}");
    Ok(())
}

fn cell(form: Form, figures: &[f64]) -> String {
    let at = |share| quantile(figures.iter().copied(), share);
    match form {
        _ if figures.is_empty() => "-".to_owned(),
        Form::Moment => format!("{:.2} ({:.2}-{:.2})", at(0.5), at(0.0), at(1.0)),
        Form::Span => {
            let [median, least, most] = [0.5, 0.0, 1.0].map(|share| at(share) * 1e3);
            format!("{median:.1} ({least:.1}-{most:.1})")
        }
    }
}
