//! The licence texts of a program: which licence each linked crate has, and every text that a crate's sources bring. Whoever
//! distributes a program has to distribute the texts of MIT, BSD and Zlib with it. A static one needs those of LGPL and GPL too:
//! the toolchain's libraries come without sources, and their texts are SPDX's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use spdx::{AdditionItem, Expression};

use crate::component::Component;
use crate::error::Error;
use crate::sources::Sources;

/// A text of a licence, by the beginning of its file's name.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
/// The largest file that counts as a text, in bytes: no licence is longer.
const LARGEST: u64 = 256 * 1024;
/// The folders below a crate's own that are searched: C sources bring their text along (`c_src/mimalloc/LICENSE`).
const DEPTH: usize = 3;

/// Returns one SPDX expression for a program with all of these components, in the order of the alphabet.
pub(crate) fn expression<'a>(components: impl Iterator<Item = &'a Component>) -> String {
    let distinct: BTreeSet<String> = components
        .flat_map(|component| parts(component.licence()))
        .map(|part| if part.contains(" OR ") { format!("({part})") } else { part.to_owned() })
        .collect();
    distinct.into_iter().collect::<Vec<_>>().join(" AND ")
}

/// Splits an expression at its outer `AND`, and takes the brackets around a part away.
fn parts(expression: &str) -> impl Iterator<Item = &str> {
    expression.split(" AND ").map(|part| part.trim_start_matches('(').trim_end_matches(')'))
}

/// Returns the page of licences of a program: its expression, each component with its own one, and each text once, with the
/// components that bring it.
pub(crate) fn page(components: &[Component], sources: &Sources) -> Result<String, Error> {
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut page = format!("License: {}\n\nComponents:\n", expression(components.iter()));
    for component in components {
        let title = component.title();
        page.push_str(&format!("  {title}: {}\n", component.licence()));
        let own = match sources.of(&component.identity()) {
            Some(directory) => read(directory, DEPTH)?,
            None => of_spdx(component)?,
        };
        for text in own {
            texts.entry(text).or_default().insert(title.clone());
        }
    }
    let mut texts: Vec<(String, BTreeSet<String>)> = texts.into_iter().collect();
    texts.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    for (text, titles) in texts {
        let titles: Vec<String> = titles.into_iter().collect();
        let rule = "-".repeat(80);
        page.push_str(&format!("\n{rule}\n{}\n{rule}\n\n{text}\n", titles.join(", ")));
    }
    Ok(page)
}

/// Returns SPDX's text of each licence and each exception that a component's expression names.
fn of_spdx(component: &Component) -> Result<Vec<String>, Error> {
    let expression = Expression::parse(component.licence()).map_err(|source| {
        let (name, version) = component.identity();
        Error::Licence { name, version, source: Box::new(source) }
    })?;
    let mut texts = Vec::new();
    for requirement in expression.requirements() {
        texts.extend(requirement.req.license.id().map(|licence| licence.text()));
        if let Some(AdditionItem::Spdx(exception)) = requirement.req.addition {
            texts.push(exception.text());
        }
    }
    Ok(texts.into_iter().map(|text| text.trim().to_owned()).collect())
}

/// Reads the texts of licences in a directory, and `depth` folders below it.
fn read(directory: &Path, depth: usize) -> Result<Vec<String>, Error> {
    let failed = |source| Error::Read { path: directory.to_owned(), source };
    let mut texts = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if kind.is_dir() && depth > 0 && name != "TARGET" {
            texts.extend(read(&path, depth - 1)?);
        } else if kind.is_file()
            && NAMES.iter().any(|begin| name.starts_with(begin))
            && entry.metadata().map_err(failed)?.len() <= LARGEST
        {
            let bytes = fs::read(&path).map_err(|source| Error::Read { path, source })?;
            let text = String::from_utf8_lossy(&bytes).replace('\r', "");
            texts.push(text.trim_end().to_owned());
        }
    }
    Ok(texts)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn library(name: &str, licence: &str) -> Component {
        Component::library(name, "1.0.0", licence, format!("pkg:cargo/{name}@1.0.0"))
    }

    #[test]
    fn one_expression_has_each_licence_once() {
        let components = [
            library("a", "MIT OR Apache-2.0"),
            library("b", "(MIT OR Apache-2.0) AND Unicode-3.0"),
            library("c", "MIT"),
            library("d", "MIT"),
        ];
        let all = expression(components.iter());
        assert_eq!(all, "(MIT OR Apache-2.0) AND MIT AND Unicode-3.0");
        assert!(spdx::Expression::parse(&all).is_ok());
    }

    #[test]
    fn equal_texts_stand_once_with_all_their_components() {
        let directory = tempfile::tempdir().unwrap();
        let mut sources = Vec::new();
        for (name, text) in [("a", "Permission"), ("b", "Permission\r\n"), ("c", "Other")] {
            let folder = directory.path().join(name).join("c_src");
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("License.md"), text).unwrap();
            fs::write(folder.join("main.c"), "int main;").unwrap();
            sources.push(((name.to_owned(), "1.0.0".to_owned()), directory.path().join(name)));
        }
        let components = ["a", "b", "c"].map(|name| library(name, "MIT"));
        let page = page(&components, &Sources::new(sources.into_iter())).unwrap();
        assert_eq!(page.matches("Permission").count(), 1, "{page}");
        assert!(page.contains("a 1.0.0, b 1.0.0\n") && page.contains("\nOther\n"), "{page}");
        assert!(!page.contains("main"), "{page}");
    }

    #[test]
    fn a_component_without_sources_has_the_texts_of_spdx() {
        let of = |licence| {
            page(&[library("libgcc", licence)], &Sources::new(std::iter::empty())).unwrap()
        };
        let page = of("GPL-3.0-or-later WITH GCC-exception-3.1");
        assert!(page.contains("GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007"), "{page}");
        assert!(page.contains("GCC RUNTIME LIBRARY EXCEPTION"), "{page}");
        assert!(of("LGPL-2.1-or-later").contains("GNU LESSER GENERAL PUBLIC LICENSE"));
    }
}
