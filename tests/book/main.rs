//! Makes the guides and references a book: `make book`. The pages of `doc/book/SUMMARY.md` and the files that they lead to are
//! copied to where mdBook reads, a README as the index of its directory; each link of the book is followed.

#![allow(clippy::print_stderr, clippy::print_stdout, reason = "a program for people")]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitCode};

use tests::program::root;
use tests::tree;

/// Pages that mdBook makes beside those of the summary.
const OWN: [&str; 3] = ["404.html", "print.html", "toc.html"];

fn main() -> ExitCode {
    match make() {
        Ok((pages, broken)) if broken.is_empty() => {
            println!("{pages} pages: target/book/html/index.html");
            ExitCode::SUCCESS
        }
        Ok((_, broken)) => {
            eprintln!("links that lead nowhere:\n{}", broken.join("\n"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("book: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The number of pages, and the links that lead nowhere.
fn make() -> Result<(usize, Vec<String>), Box<dyn Error>> {
    let book = root().join("target/book");
    if book.exists() {
        fs::remove_dir_all(&book)?;
    }
    let source = book.join("src");
    fs::create_dir_all(&source)?;
    let home = root().join("doc/book");
    fs::copy(home.join("book.toml"), book.join("book.toml"))?;
    let summary = fs::read_to_string(home.join("SUMMARY.md"))?;
    let mut copied = BTreeSet::new();
    let mut moved = summary.clone();
    for link in links(&summary) {
        let page = normal(&Path::new("doc/book").join(&link));
        moved = moved.replace(&format!("({link})"), &format!("({})", staged(&page).display()));
        copy(&page, &source, &mut copied)?;
    }
    fs::write(source.join("SUMMARY.md"), moved)?;
    let program = root().join("target/mdbook/bin/mdbook");
    let html = book.join("html");
    let made = Command::new(program).args(["build", "-d"]).args([&html, &book]).status()?;
    if !made.success() {
        return Err(format!("mdbook: {made}").into());
    }
    let pages = links(&summary).len();
    Ok((pages, broken(&html)?))
}

/// Copies a file, and if it is a page those that it leads to but other pages.
fn copy(path: &Path, to: &Path, copied: &mut BTreeSet<PathBuf>) -> Result<(), Box<dyn Error>> {
    if !copied.insert(path.to_owned()) {
        return Ok(());
    }
    let (from, target) = (root().join(path), to.join(staged(path)));
    fs::create_dir_all(target.parent().unwrap_or(to))?;
    if path.extension().is_none_or(|extension| extension != "md") {
        fs::copy(from, target)?;
        return Ok(());
    }
    let text = fs::read_to_string(from)?;
    let directory = path.parent().unwrap_or(Path::new(""));
    for link in links(&text) {
        let file = link.split('#').next().unwrap_or_default();
        let other = normal(&directory.join(file));
        let is_page = other.extension().is_some_and(|extension| extension == "md");
        if !file.contains("://") && !is_page && root().join(&other).is_file() {
            copy(&other, to, copied)?;
        }
    }
    let text = text.replace("README.md)", "index.md)").replace("README.md#", "index.md#");
    fs::write(target, text)?;
    Ok(())
}

/// The place of a page in the book's source.
fn staged(page: &Path) -> PathBuf {
    if page.ends_with("README.md") { page.with_file_name("index.md") } else { page.to_owned() }
}

/// The targets of a page's links, outside of blocks of code.
fn links(text: &str) -> Vec<String> {
    let outside: Vec<&str> = text.split("\n```").step_by(2).collect();
    let outside = outside.join("\n");
    let ends = outside.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(link, _)| link.to_owned()).collect()
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => normal.push(part),
        }
    }
    normal
}

/// The links of a book that lead to no file, or to no section of it.
fn broken(html: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut pages: BTreeMap<PathBuf, String> = BTreeMap::new();
    let files: BTreeSet<PathBuf> = tree::files(html)?.into_keys().collect();
    for page in
        files.iter().filter(|page| page.extension().is_some_and(|extension| extension == "html"))
    {
        pages.insert(page.clone(), fs::read_to_string(html.join(page))?);
    }
    let mut broken = Vec::new();
    for (page, text) in &pages {
        if OWN.iter().any(|own| page.ends_with(own)) {
            continue;
        }
        let values = [" href=\"", " src=\""].into_iter().flat_map(|name| text.split(name).skip(1));
        for link in values.filter_map(|rest| rest.split('"').next()) {
            let is_outside = ["://", "data:", "mailto:"].iter().any(|part| link.contains(part));
            let (file, section) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                _ => normal(&page.parent().unwrap_or(Path::new("")).join(file)),
            };
            let has_section = || {
                let name = format!(" id=\"{section}\"");
                pages.get(&target).is_some_and(|text| text.contains(&name))
            };
            if !is_outside && !(files.contains(&target) && (section.is_empty() || has_section())) {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    Ok(broken)
}
