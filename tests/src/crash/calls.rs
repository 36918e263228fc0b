//! strace's text: one system call a line, with every string in hexadecimal digits and the path of every descriptor.

use std::collections::HashMap;

use super::Fault;

/// A system call that succeeded, in the order of their ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The thread.
    pub thread: u32,
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// The result: a number, of a descriptor too.
    pub result: i64,
}

/// An argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// A descriptor, or `AT_FDCWD` with -1, and its path; none once the file is deleted.
    Descriptor(i64, Option<String>),
    /// Bytes: a path or data. The parts of a vector are joined.
    Bytes(Vec<u8>),
    /// A number, or flags and structures as they stand.
    Other(String),
}

/// All successful calls of a trace.
///
/// # Errors
/// If a line is not strace's.
pub(super) fn parse(text: &str) -> Result<Vec<Call>, Fault> {
    let mut unfinished: HashMap<u32, String> = HashMap::new();
    let mut calls = Vec::new();
    for line in text.lines() {
        let fault = || Fault::Trace(line.to_owned());
        let (thread, rest) = line.split_once(' ').ok_or_else(fault)?;
        let (thread, rest) = (thread.parse().map_err(|_| fault())?, rest.trim_start());
        // strace leaves a call of another process unfinished when it detaches.
        if rest.starts_with("+++") || rest.starts_with("---") || rest.ends_with("<detached ...>") {
            continue;
        }
        if let Some(begin) = rest.strip_suffix(" <unfinished ...>") {
            unfinished.insert(thread, begin.to_owned());
            continue;
        }
        let whole = match rest.strip_prefix("<... ") {
            None => rest.to_owned(),
            Some(end) => {
                let (_, end) = end.split_once(" resumed>").ok_or_else(fault)?;
                // The begin of a call may be older than the trace.
                let Some(begin) = unfinished.remove(&thread) else { continue };
                begin + end
            }
        };
        if let Some(call) = call(thread, &whole).ok_or_else(fault)? {
            calls.push(call);
        }
    }
    Ok(calls)
}

/// A line; the inner `None` is a call that failed.
fn call(thread: u32, text: &str) -> Option<Option<Call>> {
    let (name, rest) = text.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let Some(result) = number(result) else { return Some(None) };
    if result < 0 {
        return Some(None);
    }
    let arguments = arguments.trim_end().strip_suffix(')')?;
    let arguments = split(arguments).into_iter().map(argument).collect::<Option<_>>()?;
    Some(Some(Call { thread, name: name.to_owned(), arguments, result }))
}

fn number(text: &str) -> Option<i64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(text.len());
    text[..end].parse().ok()
}

/// Splits at commas outside of brackets: strings are hexadecimal and hold none.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

fn argument(text: &str) -> Option<Argument> {
    if text.starts_with('"') {
        return Some(Argument::Bytes(hexadecimal(text)?));
    }
    if text.starts_with("[{iov_base=") {
        let parts = text.split("iov_base=").skip(1).map(hexadecimal);
        return Some(Argument::Bytes(parts.collect::<Option<Vec<_>>>()?.concat()));
    }
    if let Some((descriptor, path)) = text.split_once('<')
        && let Some((path, rest)) = path.split_once('>')
    {
        let descriptor = if descriptor == "AT_FDCWD" { -1 } else { descriptor.parse().ok()? };
        let path = hexadecimal(&format!("\"{path}\""))?;
        let path = String::from_utf8_lossy(&path).into_owned();
        return Some(Argument::Descriptor(descriptor, rest.is_empty().then_some(path)));
    }
    Some(Argument::Other(text.to_owned()))
}

/// The bytes of a whole string in `\xNN`; `None` if strace has cut it.
fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let (digits, rest) = text.strip_prefix('"')?.split_once('"')?;
    if rest.starts_with("...") {
        return None;
    }
    digits.split("\\x").skip(1).map(|byte| u8::from_str_radix(byte, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Argument, parse};

    #[test]
    fn calls_are_read_in_the_order_of_their_ends() -> Result<(), super::Fault> {
        let text = "\
7 write(4<\\x2f\\x61>, \"\\x2c\\x29\", 2 <unfinished ...>
8  renameat(3<\\x2f>, \"\\x61\", AT_FDCWD<\\x2f>, \"\\x62\") = 0
7 <... write resumed>) = 2
8 writev(5<\\x2f\\x62>(deleted), [{iov_base=\"\\x31\", iov_len=1}, {iov_base=\"\\x32\", iov_len=1}], 2) = 2
8 openat(AT_FDCWD<\\x2f>, \"\\x63\", O_WRONLY|O_CREAT, 0600) = 5<\\x2f\\x63>
8 unlink(\"\\x61\") = -1 ENOENT (No such file or directory)
9 <... unlink resumed>) = 0
8 +++ exited with 0 +++
9 write(6<\\x61>, \"\\x01\", 8 <detached ...>
";
        let calls = parse(text)?;
        let names: Vec<_> = calls.iter().map(|call| &*call.name).collect();
        assert_eq!(names, ["renameat", "write", "writev", "openat"]);
        let file = |path: &str| Some(path.to_owned());
        assert_eq!(calls[0].arguments[2], Argument::Descriptor(-1, file("/")));
        assert_eq!(calls[1].arguments[1], Argument::Bytes(b",)".to_vec()));
        assert_eq!(calls[2].arguments[0], Argument::Descriptor(5, None));
        assert_eq!(calls[2].arguments[1], Argument::Bytes(b"12".to_vec()));
        assert_eq!((calls[3].result, &calls[3].arguments[3]), (5, &Argument::Other("0600".into())));
        assert!(parse("7 write(4, \"\\x61\"..., 9) = 9\n").is_err(), "a string that strace cut");
        Ok(())
    }
}
