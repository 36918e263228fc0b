//! A guide as a man page: the part of Markdown that this project's guides use.

/// The page `name` of the section; the first heading is what it is about.
pub(super) fn page(name: &str, section: u8, guide: &str) -> String {
    let mut lines = guide.lines().peekable();
    let title = lines.next().unwrap_or_default().trim_start_matches("# ").to_lowercase();
    let (name, title) = (escaped(name), inline(&title));
    let mut page = format!(".TH {name} {section}\n.SH NAME\n{name} \\- {title}\n.SH DESCRIPTION\n");
    let mut is_code = false;
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            is_code = !is_code;
            page += if is_code { ".RS\n.nf\n" } else { ".fi\n.RE\n" };
        } else if is_code {
            page += &format!("{}\n", escaped(line));
        } else if let Some(heading) = line.strip_prefix("## ") {
            page += &format!(".SH {}\n", inline(heading));
        } else if line.starts_with('|') {
            // The header says what the columns are, and is followed by a line of dashes.
            let is_header = lines.peek().is_some_and(|next| next.starts_with("|---"));
            if !is_header && !line.starts_with("|---") {
                page += &row(line);
            }
        } else if let Some((number, text)) = numbered(line) {
            page += &format!(".IP {number}. 4\n{}\n", inline(text));
        } else if line.is_empty() {
            page += ".PP\n";
        } else {
            page += &format!("{}\n", inline(line));
        }
    }
    page + ".SH SEE ALSO\n.BR dayone (8),\n.BR dayone.toml (5),\n.BR journalctl (1)\n"
}

/// A row of a table: the first cell is the term.
fn row(line: &str) -> String {
    let cells: Vec<String> =
        line.trim_matches('|').split(" | ").map(|part| inline(part.trim())).collect();
    let (term, rest) = cells.split_first().map_or(("", &[][..]), |(term, rest)| (term, rest));
    format!(".TP\n{term}\n{}\n", rest.join("; "))
}

fn numbered(line: &str) -> Option<(&str, &str)> {
    let (number, text) = line.split_once(". ")?;
    number.chars().all(|c| c.is_ascii_digit()).then_some((number, text))
}

/// Text with bold code.
fn inline(text: &str) -> String {
    let mut parts = escaped(text).split('`').map(str::to_owned).collect::<Vec<_>>();
    for code in parts.iter_mut().skip(1).step_by(2) {
        *code = format!("\\fB{code}\\fR");
    }
    parts.concat()
}

/// Escapes for roff: a leading dot or apostrophe starts a request, a backslash an escape. A console may
/// have ASCII alone.
pub(super) fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('…', "...");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}
