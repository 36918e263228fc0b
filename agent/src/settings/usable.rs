//! Settings for a run on a node: a key that cannot be used has its default, and the others count.
//!
//! The file may be of a newer version of the agent (after an OS roll back), or have a typing error: neither is a reason to hold a
//! boot, nor to forget `on-failure` in the same file. `dayone check` is strict instead.

use std::{collections::BTreeSet, ops::Range, path::Path};

use serde::Deserialize as _;
use toml::{
    Spanned,
    de::{DeArray, DeString, DeTable, DeValue, Deserializer},
};

use nmgen::spelling::is_alike;

use super::Settings;
use crate::paths::Paths;

/// Settings, and a sentence for each part of the file that is not used.
#[derive(Debug, Default)]
pub(crate) struct Usable {
    pub(crate) settings: Settings,
    pub(crate) faults: Vec<String>,
}

impl Usable {
    /// The settings of this node; the defaults where there is no file, or none that can be read.
    pub(crate) fn load(paths: &Paths) -> Self {
        match Settings::read(paths) {
            Ok(None) => Self::default(),
            Ok(Some(text)) => Self::parse(&paths.settings(), &text),
            Err(error) => {
                let fault = format!("{}; every setting has its default", nmgen::chain(&error));
                Self { settings: Settings::default(), faults: vec![fault] }
            }
        }
    }

    /// The settings, each fault as a line of the log: for commands that change nothing.
    pub(crate) fn told(self) -> Settings {
        self.faults.iter().for_each(|fault| tracing::warn!("{fault}"));
        self.settings
    }

    pub(super) fn parse(path: &Path, text: &str) -> Self {
        // The usual file is right as a whole.
        if let Ok(settings) = toml::from_str(text) {
            return Self { settings, faults: Vec::new() };
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        let mut usable = Self::default();
        let mut faults = Vec::new();
        let mut tell = |line: usize, why: &str| {
            faults.push((line, format!("{}:{line}: {why}; the default is used", path.display())));
        };
        let mut broken = BTreeSet::new();
        for error in &errors {
            let line = line(text, error.span().map_or(0, |span| span.start));
            // One message a line: the parser may stumble several times.
            if broken.insert(line) {
                tell(line, error.message());
            }
        }
        let mut found = Vec::new();
        gather(&[], table.into_inner(), &mut found);
        let mut used = DeTable::new();
        for setting in found {
            let lines = setting.lines(text);
            // The parser makes a value up where it finds none.
            if broken.iter().any(|line| lines.contains(line)) {
                continue;
            }
            let mut more = used.clone();
            setting.insert(&mut more);
            let root = Spanned::new(0..text.len(), more.clone());
            match Settings::deserialize(Deserializer::from(root)) {
                Ok(settings) => {
                    used = more;
                    usable.settings = settings;
                }
                Err(error) => tell(lines.start, &with_meant(error.message())),
            }
        }
        faults.sort();
        usable.faults = faults.into_iter().map(|(_, fault)| fault).collect();
        usable
    }
}

/// The message of serde for an unknown key, with the key that was meant.
fn with_meant(message: &str) -> String {
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = names.next().filter(|_| message.starts_with("unknown "));
    let meant = unknown.and_then(|unknown| names.find(|name| is_alike(unknown, name)));
    match meant {
        Some(meant) => format!("{message}; did you mean `{meant}`?"),
        None => message.to_owned(),
    }
}

/// The line of a byte, counted from 1.
fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// A key of a table with its value, or one element of an array of tables.
struct Setting<'t> {
    /// From the outermost table to the key; never empty.
    tables: Vec<Spanned<DeString<'t>>>,
    key: Spanned<DeString<'t>>,
    value: Spanned<DeValue<'t>>,
    is_element: bool,
}

/// Adds every setting of a table, in the order of the keys.
#[allow(clippy::wildcard_enum_match_arm, reason = "any other value is one setting")]
fn gather<'t>(tables: &[Spanned<DeString<'t>>], table: DeTable<'t>, found: &mut Vec<Setting<'t>>) {
    for (key, value) in table {
        let span = value.span();
        let mut setting = |value, is_element| {
            found.push(Setting { tables: tables.to_vec(), key: key.clone(), value, is_element });
        };
        match value.into_inner() {
            DeValue::Table(inner) => {
                gather(&[tables, &[key]].concat(), inner, found);
            }
            DeValue::Array(elements)
                if elements.iter().all(|element| element.get_ref().is_table()) =>
            {
                elements.into_iter().for_each(|element| setting(element, true));
            }
            value => setting(Spanned::new(span, value), false),
        }
    }
}

impl<'t> Setting<'t> {
    fn lines(&self, text: &str) -> Range<usize> {
        let start = if self.is_element { self.value.span() } else { self.key.span() }.start;
        line(text, start)..line(text, self.value.span().end) + 1
    }

    /// Adds it to `root`, below the tables that it is in.
    fn insert(self, root: &mut DeTable<'t>) {
        let mut table = root;
        for name in self.tables {
            let span = name.span();
            let inner = table
                .entry(name)
                .or_insert_with(|| Spanned::new(span, DeValue::Table(DeTable::new())));
            let DeValue::Table(inner) = inner.get_mut() else { return };
            table = inner;
        }
        if !self.is_element {
            table.insert(self.key, self.value);
            return;
        }
        let span = self.key.span();
        let elements = table
            .entry(self.key)
            .or_insert_with(|| Spanned::new(span, DeValue::Array(DeArray::new())));
        if let DeValue::Array(elements) = elements.get_mut() {
            elements.push(self.value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::OnFailure;

    fn parse(text: &str) -> Usable {
        Usable::parse(Path::new("dayone.toml"), text)
    }

    #[test]
    fn a_key_that_cannot_be_used_has_its_default_and_the_others_count() {
        let cases: [(&str, &[&str]); 8] = [
            ("", &[]),
            (
                "on-falure = \"fail\"\non-failure = \"continue\"\n",
                &["1: unknown field `on-falure`, expected one of"],
            ),
            ("[wait]\nlnik = 1\nlink = 7\n", &["2: unknown field `lnik`"]),
            ("[wait]\nlink = 7\nturn = -1\n", &["3: -1 is not between 0 and 86400 seconds"]),
            (
                "[wait]\nlink = 7\n[wire]\nmtu = true\nvlan = true\n",
                &["4: unknown field `wire`", "5: "],
            ),
            ("max-attempts = = 3\non-failure = \"continue\"\n[wait]\nlink = 7\n", &["1: "]),
            (
                "[wait]\nlink = 7\n[[probe.target]]\nname = \"a\"\n",
                &["3: probe target a needs exactly one of"],
            ),
            ("wait = 5\non-failure = \"continue\"\n", &["1: invalid type: integer `5`"]),
        ];
        for (text, expected) in cases {
            let Usable { settings, faults } = parse(text);
            assert_eq!(faults.len(), expected.len(), "{text}: {faults:?}");
            for (fault, start) in faults.iter().zip(expected) {
                assert!(fault.starts_with(&format!("dayone.toml:{start}")), "{text}: {fault}");
                assert!(fault.ends_with("; the default is used"), "{fault}");
            }
            let is_used = |words| text.contains(words);
            assert_eq!(
                settings.on_failure == OnFailure::Continue,
                is_used("\"continue\""),
                "{text}"
            );
            assert_eq!(settings.wait.link.get().as_secs() == 7, is_used("link = 7"), "{text}");
            assert_eq!((settings.max_attempts, settings.probe.target.len()), (3, 0), "{text}");
        }
    }

    #[test]
    fn a_misspelt_key_or_value_comes_with_the_one_that_was_meant() {
        for (text, meant) in [
            ("on-falure = \"fail\"\n", Some("on-failure")),
            ("[wait]\nlnik = 1\n", Some("link")),
            ("on-failure = \"contniue\"\n", Some("continue")),
            ("[probe]\ngatewy = \"off\"\n", Some("gateway")),
            ("[wire]\nmtu = true\n", None),
        ] {
            let faults = parse(text).faults;
            let [fault] = faults.as_slice() else { unreachable!("{text}: {faults:?}") };
            match meant {
                Some(meant) => {
                    assert!(fault.contains(&format!("did you mean `{meant}`?")), "{fault}");
                }
                None => assert!(!fault.contains("did you mean"), "{fault}"),
            }
        }
    }

    #[test]
    fn targets_that_are_right_stay() {
        let usable = parse(
            "[[probe.target]]\nname = \"a\"\n[[probe.target]]\nname = \"b\"\ntcp = \"192.0.2.5:1\"\n[wait]\nlink = true\n",
        );
        let names: Vec<&str> =
            usable.settings.probe.target.iter().map(|target| target.name.as_str()).collect();
        assert_eq!(names, ["b"]);
        let lines: Vec<&str> =
            usable.faults.iter().filter_map(|fault| fault.split(':').nth(1)).collect();
        assert_eq!(lines, ["1", "7"], "{:?}", usable.faults);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_none() -> Result<(), std::io::Error> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        assert_eq!(Usable::load(&paths).faults, Vec::<String>::new());
        std::fs::create_dir_all(paths.settings())?;
        let usable = Usable::load(&paths);
        assert_eq!((usable.faults.len(), usable.settings.max_attempts), (1, 3));
        std::fs::remove_dir(paths.settings())?;
        std::fs::write(paths.settings(), [0xff])?;
        assert!(Usable::load(&paths).faults[0].contains("is not UTF-8"));
        Ok(())
    }
}
