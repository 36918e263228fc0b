//! Links of the documentation: their files and sections exist.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use tests::{program::root, tree::files};

/// Folders at the top without a page of ours; `vendor` and `debian` are in the tarball of `make dist` and a build from it.
const NOT_OURS: [&str; 4] = ["target", ".git", "vendor", "debian"];

/// Every page of the repository but the fixtures.
fn pages() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(root()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !NOT_OURS.iter().any(|folder| path.ends_with(folder)) {
            found.extend(files(&path).unwrap().into_keys().map(|name| path.join(name)));
        } else {
            found.push(path);
        }
    }
    let fixtures = root().join("tests/fixtures");
    found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    found.retain(|path| !path.starts_with(&fixtures));
    assert!(found.len() > 30, "{found:?}");
    found
}

/// A page without its blocks of code, in which brackets are no links.
fn prose(page: &Path) -> String {
    let text = fs::read_to_string(page).unwrap();
    let outside = text.split("\n```").step_by(2);
    outside.collect::<Vec<_>>().join("\n")
}

/// Names of a page's sections, as GitHub and GitLab make them.
fn sections(page: &Path) -> BTreeSet<String> {
    let text = prose(page);
    let titles = text.lines().filter(|line| line.starts_with('#'));
    let name = |title: &str| {
        let words = title.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        words
            .chars()
            .filter(|character| character.is_alphanumeric() || "-_".contains(*character))
            .collect()
    };
    titles.map(name).collect()
}

fn links(page: &Path) -> Vec<String> {
    let text = prose(page);
    let ends = text.split("](").skip(1);
    ends.filter_map(|rest| rest.split_once(')')).map(|(link, _)| link.to_owned()).collect()
}

#[tests::case]
fn links_lead_to_a_file_and_a_section() {
    let (mut checked, mut broken) = (0, Vec::new());
    for page in pages() {
        for link in links(&page).into_iter().filter(|link| !link.contains("://")) {
            checked += 1;
            let (file, section) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { page.clone() } else { page.with_file_name(file) };
            let is_there =
                target.exists() && (section.is_empty() || sections(&target).contains(section));
            if !is_there {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(checked > 50, "{checked}");
    assert!(broken.is_empty(), "{broken:#?}");
}

#[tests::case]
fn the_index_of_decisions_has_every_page() {
    let index = root().join("doc/decisions/README.md");
    let listed: BTreeSet<String> = links(&index).into_iter().collect();
    let pages: BTreeSet<PathBuf> = files(index.parent().unwrap()).unwrap().into_keys().collect();
    let missing =
        |page: &&PathBuf| !page.ends_with("README.md") && !listed.contains(page.to_str().unwrap());
    assert_eq!(pages.iter().find(missing), None);
}

/// A dead entry is a broken link.
#[tests::case]
fn the_book_has_every_page_once() {
    let summary = root().join("doc/book/SUMMARY.md");
    let listed: Vec<PathBuf> = links(&summary)
        .iter()
        .map(|link| summary.with_file_name(link).canonicalize().unwrap())
        .collect();
    let mut pages: Vec<PathBuf> = pages();
    pages.retain(|page| *page != summary);
    let missing: Vec<&PathBuf> = pages.iter().filter(|page| !listed.contains(page)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    assert_eq!(listed.len(), pages.len(), "a page has two entries");
}

#[tests::case]
fn the_readme_fits_on_two_screens() {
    let lines = fs::read_to_string(root().join("README.md")).unwrap().lines().count();
    assert!(lines <= 95, "{lines} lines: detail has a page of its own");
}
