//! An input of several files: a first part, and behind each line `# file: NAME` that file's text.

const MARK: &str = "# file: ";
/// More files only make a run slower.
const MOST: usize = 8;

/// The text before the first file, and the files with names that are safe below a directory.
pub(super) fn split(text: &str) -> (&str, Vec<(&str, &str)>) {
    let mut parts = text.split(MARK);
    let first = parts.next().unwrap_or_default();
    let files = parts.filter_map(|part| part.split_once('\n'));
    (first, files.filter(|(name, _)| is_safe(name)).take(MOST).collect())
}

/// Each of its names exists nowhere but below the directory.
fn is_safe(path: &str) -> bool {
    let is_name = |name: &str| !matches!(name, "" | "." | "..") && name.len() < 200;
    path.len() < 1000 && !path.contains('\0') && path.split('/').all(is_name)
}
