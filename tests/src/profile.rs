//! A run of the agent, moment by moment: each call over D-Bus with the time until its answer, NetworkManager's changes of state,
//! the kernel's changes of links, addresses and routes, and Open vSwitch's; and of each phase, who was waited for.

use std::{collections::HashMap, fmt, fmt::Write as _};

use serde_json::Value;

use crate::lab::Entry;

/// Microseconds since the epoch.
pub type Moment = u64;

/// The program that something is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The agent, nmstate in it included.
    Agent,
    /// A call of the agent's, until its answer.
    Call,
    /// NetworkManager.
    Manager,
    /// The kernel.
    Kernel,
    /// Open vSwitch's database.
    OpenVswitch,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Agent => "dayone",
            Self::Call => "D-Bus",
            Self::Manager => "NetworkManager",
            Self::Kernel => "kernel",
            Self::OpenVswitch => "Open vSwitch",
        })
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    at: Moment,
    /// 0 for what has no length.
    lasts: u64,
    source: Source,
    text: String,
}

/// The calls in the output of `busctl monitor --json=short` of those who greet the bus from `begin` on: the agent's connections,
/// nmstate's among them. A call without an answer is none.
pub fn calls(text: &str, begin: Moment) -> Vec<Event> {
    let messages: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let number = |message: &Value, field: &str| message[field].as_u64().unwrap_or_default();
    let name =
        |message: &Value, field: &str| message[field].as_str().unwrap_or_default().to_owned();
    let moment = |message: &Value| number(message, "timestamp-realtime");
    let mut connections: Vec<String> = Vec::new();
    let mut open: HashMap<(String, u64), &Value> = HashMap::new();
    let mut events = Vec::new();
    for message in messages.iter().filter(|message| moment(message) >= begin) {
        let (sender, destination) = (name(message, "sender"), name(message, "destination"));
        match message["type"].as_str() {
            Some("method_call") => {
                if message["member"] == "Hello" {
                    connections.push(sender.clone());
                }
                open.insert((sender, number(message, "cookie")), message);
            }
            Some("method_return" | "error") => {
                let Some(call) =
                    open.remove(&(destination.clone(), number(message, "reply_cookie")))
                else {
                    continue;
                };
                let Some(place) =
                    connections.iter().position(|connection| *connection == destination)
                else {
                    continue;
                };
                let path = name(call, "path");
                let object = path.rsplit("NetworkManager/").next().unwrap_or_default();
                let at = moment(call);
                events.push(Event {
                    at,
                    lasts: moment(message).saturating_sub(at),
                    source: Source::Call,
                    text: format!("connection {}: {} {object}", place + 1, name(call, "member")),
                });
            }
            _ => {}
        }
    }
    events
}

/// The journal's entries of the agent, and NetworkManager's changes of state and what it was asked for.
pub fn journal(entries: &[Entry]) -> Vec<Event> {
    let event = |entry: &Entry| {
        let at = entry.field("_SOURCE_REALTIME_TIMESTAMP").or(entry.field("__REALTIME_TIMESTAMP"));
        let at = at?.parse().ok()?;
        let message = entry.message();
        let (source, text) = match entry.field("SYSLOG_IDENTIFIER")? {
            "dayone" => (Source::Agent, message),
            "NetworkManager" => {
                let (_, text) = message.split_once("] ")?;
                let is_told = text.contains(": state change:") || text.starts_with("audit:");
                (Source::Manager, text.split(" (reason").next().filter(|_| is_told)?)
            }
            _ => return None,
        };
        Some(Event { at, lasts: 0, source, text: text.to_owned() })
    };
    entries.iter().filter_map(event).collect()
}

/// The lines of a program that begins each with a time of `SECONDS.FRACTION` in brackets.
pub fn lines(text: &str, source: Source) -> Vec<Event> {
    let event = |line: &str| {
        let (time, text) = line.strip_prefix('[')?.split_once("] ")?;
        let at = (time.parse::<f64>().ok()? * 1e6) as Moment;
        let text = text.split("\\").next().unwrap_or_default().trim().to_owned();
        Some(Event { at, lasts: 0, source, text })
    };
    text.lines().filter_map(event).collect()
}

/// A phase of the agent: its account comes at its end.
#[derive(Debug, Clone, PartialEq)]
struct Phase {
    name: String,
    begin: Moment,
    end: Moment,
}

fn phases(events: &[Event]) -> Vec<Phase> {
    let phase = |event: &Event| {
        let (name, time) = event.text.strip_suffix(" ms")?.rsplit_once(": ")?;
        let microseconds = (time.parse::<f64>().ok()? * 1e3) as u64;
        let begin = event.at.saturating_sub(microseconds);
        Some(Phase { name: name.to_owned(), begin, end: event.at })
    };
    events.iter().filter(|event| event.source == Source::Agent).filter_map(phase).collect()
}

/// The time within `phase` with a call open: somebody else was waited for.
fn answering(events: &[Event], phase: &Phase) -> u64 {
    let mut until = phase.begin;
    let calls = events.iter().filter(|event| event.source == Source::Call);
    calls.fold(0, |sum, call| {
        let (begin, end) = (call.at.max(until), (call.at + call.lasts).min(phase.end));
        until = until.max(end);
        sum + end.saturating_sub(begin)
    })
}

/// Everything in its order, with milliseconds from `begin`; calls that only read are counted, not listed. Then a line for each
/// phase.
pub fn table(mut events: Vec<Event>, begin: Moment) -> String {
    events.sort_by_key(|event| event.at);
    let milliseconds = |moment: u64| moment as f64 / 1e3;
    let mut text = String::new();
    let mut reads = 0_usize;
    for event in events.iter().filter(|event| event.at >= begin) {
        if event.source == Source::Call && is_read(&event.text) {
            reads += 1;
            continue;
        }
        if reads > 0 {
            let _ = writeln!(text, "{:>10} {:<14} {reads} calls that read", "", Source::Call);
            reads = 0;
        }
        let at = milliseconds(event.at - begin);
        let _ = write!(text, "{at:>10.1} {:<14} {}", event.source, event.text);
        let _ = match event.lasts {
            0 => writeln!(text),
            lasts => writeln!(text, ", {:.1} ms", milliseconds(lasts)),
        };
    }
    let _ = writeln!(
        text,
        "\n{:<52} {:>9} {:>9} {:>6} {:>9}",
        "phase", "ms", "answers", "calls", "rest"
    );
    for phase in phases(&events).iter().filter(|phase| phase.end >= begin) {
        let whole = phase.end - phase.begin;
        let answers = answering(&events, phase);
        let is_in = |event: &&Event| {
            event.source == Source::Call && (phase.begin..phase.end).contains(&event.at)
        };
        let _ = writeln!(
            text,
            "{:<52} {:>9.1} {:>9.1} {:>6} {:>9.1}",
            phase.name,
            milliseconds(whole),
            milliseconds(answers),
            events.iter().filter(is_in).count(),
            milliseconds(whole - answers.min(whole)),
        );
    }
    text
}

fn is_read(call: &str) -> bool {
    let member = call.split(' ').nth(2).unwrap_or_default();
    let reads = ["Get", "List", "Hello", "NameHasOwner", "AddMatch", "RemoveMatch", "Introspect"];
    reads.iter().any(|verb| member.starts_with(verb))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUS: &str = r#"
{"type":"method_call","cookie":1,"timestamp-realtime":900,"sender":":1.1","path":"/","member":"Hello"}
{"type":"method_call","cookie":1,"timestamp-realtime":1000,"sender":":1.6","path":"/","member":"Hello"}
{"type":"method_return","reply_cookie":1,"timestamp-realtime":1100,"sender":"bus","destination":":1.6"}
{"type":"method_call","cookie":2,"timestamp-realtime":2000,"sender":":1.6","path":"/org/freedesktop/NetworkManager/Settings","member":"AddConnection2"}
{"type":"method_call","cookie":3,"timestamp-realtime":2500,"sender":":1.6","path":"/a","member":"Get"}
{"type":"method_return","reply_cookie":3,"timestamp-realtime":2600,"sender":":1.2","destination":":1.6"}
{"type":"method_return","reply_cookie":2,"timestamp-realtime":3000,"sender":":1.2","destination":":1.6"}
{"type":"method_call","cookie":9,"timestamp-realtime":3500,"sender":":1.1","path":"/","member":"Action2"}
{"type":"method_return","reply_cookie":9,"timestamp-realtime":3600,"sender":":1.3","destination":":1.1"}
"#;

    #[test]
    fn a_phase_is_divided_into_answers_and_the_rest() {
        let mut events = calls(BUS, 1000);
        assert_eq!(events.len(), 3, "other programs' calls are none: {events:?}");
        let of_agent =
            |at, text: &str| Event { at, lasts: 0, source: Source::Agent, text: text.to_owned() };
        events.push(of_agent(4000, "applying the document: 3.0 ms"));
        events
            .extend(lines("[0.002200] 4: br-ex    inet 192.0.2.10/24\\   forever", Source::Kernel));
        let table = table(events, 1000);
        let lines: Vec<String> = table
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            lines,
            [
                "D-Bus 1 calls that read",
                "1.0 D-Bus connection 1: AddConnection2 Settings, 1.0 ms",
                "1.2 kernel 4: br-ex inet 192.0.2.10/24",
                "D-Bus 1 calls that read",
                "3.0 dayone applying the document: 3.0 ms",
                "",
                "phase ms answers calls rest",
                // The read is within the time of the other call.
                "applying the document 3.0 1.1 3 1.9",
            ]
        );
    }
}
