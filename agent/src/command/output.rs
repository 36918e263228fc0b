//! Standard output.

use std::io::{IsTerminal as _, Write as _};

use serde::Serialize;

use crate::{
    error::{Error, Result},
    paths::Paths,
    status::log,
};

/// Prints text, in which nothing controls a terminal.
pub(super) fn print(text: &str) -> Result {
    print_bytes(nmgen::printable_lines(text).as_bytes())
}

/// Prints about a node that may be a collected one: with the paths of its files there.
pub(super) fn print_of(paths: &Paths, text: &str) -> Result {
    print(&paths.on_node(text))
}

/// Prints a page that the program has coloured for a terminal.
pub(super) fn print_page(text: &str) -> Result {
    match log::is_coloured(&std::io::stdout()) {
        true => print_bytes(nmgen::printable_page(text).as_bytes()),
        false => print(text),
    }
}

/// Writes to stdout what has to stay as it is, such as a document.
pub(super) fn print_bytes(bytes: &[u8]) -> Result {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(Error::Output)
}

/// One JSON object, in which nothing controls a terminal.
pub(super) fn as_json<T: Serialize>(value: &T) -> Result<String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Error::Output(error.into()))?;
    Ok(nmgen::printable_json(text) + "\n")
}

/// The rows of a console without a size of its own, as a serial one.
const ROWS: usize = 25;

/// Prints what is made for people: a terminal gets what fits, its prompt counted, and `whole` names the command for the rest.
pub(super) fn print_to_fit(text: &str, whole: &str) -> Result {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return print_page(text);
    }
    let rows = rustix::termios::tcgetwinsize(&stdout).map_or(0, |size| usize::from(size.ws_row));
    print_page(&cut(text, if rows == 0 { ROWS } else { rows }, whole))
}

/// The first lines of a text, if all of it would scroll its beginning away.
fn cut(text: &str, rows: usize, whole: &str) -> String {
    let room = rows.saturating_sub(1);
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= room {
        return text.to_owned();
    }
    let kept = room.saturating_sub(1);
    let left = lines.len() - kept;
    format!("{}\n... {left} more lines: {whole}\n", lines[..kept].join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_console_cannot_show_is_counted() {
        let text: String = (1..=30).map(|line| format!("line {line}\n")).collect();
        assert_eq!(cut(&text, 31, "x | less"), text);
        let shown = cut(&text, 25, "x | less");
        assert_eq!(shown.lines().count(), 24, "{shown}");
        assert!(shown.ends_with("line 23\n... 7 more lines: x | less\n"), "{shown}");
    }
}
