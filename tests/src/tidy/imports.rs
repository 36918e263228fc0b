//! Imports between the files of a crate, and circular imports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

use super::paths::{Declared, Scan, scan};
use crate::tree::files;

/// The path of a module from the crate's root: empty for the root itself.
type Module = Vec<String>;

/// The files of a crate's `src`, by relative path, and the imports of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imports {
    files: BTreeMap<String, Module>,
    edges: BTreeMap<String, BTreeSet<String>>,
}

/// Files or folders that import each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circle {
    /// Paths of files, or names of folders.
    pub members: Vec<String>,
    /// The imports among them: the importing file, and the imported one.
    pub imports: Vec<(String, String)>,
}

/// Reads every file below a crate's `src`.
///
/// # Errors
/// If a directory or a file cannot be read, or a file is not Rust.
pub fn read(src: &Path) -> io::Result<Imports> {
    let mut texts = BTreeMap::new();
    for path in files(src)?
        .into_keys()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
    {
        texts.insert(path.display().to_string(), fs::read_to_string(src.join(&path))?);
    }
    Imports::new(&texts).map_err(io::Error::other)
}

impl Imports {
    /// From the texts of files, by path. Modules for tests only are left out.
    ///
    /// # Errors
    /// The path of a file that is not Rust, and the cause.
    pub fn new(texts: &BTreeMap<String, String>) -> Result<Self, String> {
        let mut scans = BTreeMap::new();
        for (path, text) in texts {
            scans.insert(path.clone(), scan(text).map_err(|error| format!("{path}: {error}"))?);
        }
        let files = modules(&scans);
        let by_module: BTreeMap<&Module, Vec<&String>> =
            files.iter().fold(BTreeMap::new(), |mut map, (path, module)| {
                map.entry(module).or_insert_with(Vec::new).push(path);
                map
            });
        let mut edges = BTreeMap::new();
        for (path, module) in &files {
            let imported = scans[path]
                .paths
                .iter()
                .filter_map(|segments| resolve(module, segments, &scans[path], &by_module))
                .flatten()
                .filter(|other| *other != path)
                .cloned()
                .collect();
            edges.insert(path.clone(), imported);
        }
        Ok(Self { files, edges })
    }

    /// The imports of a file.
    pub fn of(&self, file: &str) -> Vec<&str> {
        self.edges.get(file).into_iter().flatten().map(String::as_str).collect()
    }

    /// Every circle of files, the largest first.
    pub fn circles_of_files(&self) -> Vec<Circle> {
        let mut found: Vec<Circle> = circles(&self.edges)
            .into_iter()
            .map(|members| {
                let imports = self.imports_among(|file| members.contains(file).then_some(file));
                Circle { members: members.into_iter().collect(), imports }
            })
            .collect();
        found.sort_by_key(|circle| std::cmp::Reverse(circle.members.len()));
        found
    }

    /// Every circle of folders with the same parent. A file with the name of a folder belongs to it; any other file counts as a
    /// folder.
    pub fn circles_of_folders(&self) -> Vec<Circle> {
        let parents: BTreeSet<&[String]> =
            self.files.values().filter_map(|module| Some(module.split_last()?.1)).collect();
        parents.into_iter().flat_map(|parent| self.circles_below(parent)).collect()
    }

    fn circles_below(&self, parent: &[String]) -> Vec<Circle> {
        let child = |file: &String| -> Option<String> {
            let rest = self.files.get(file)?.strip_prefix(parent)?;
            Some([parent, &rest[..1.min(rest.len())]].concat().join("/"))
                .filter(|_| !rest.is_empty())
        };
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (file, imported) in &self.edges {
            let Some(from) = child(file) else { continue };
            let to: Vec<String> =
                imported.iter().filter_map(child).filter(|to| *to != from).collect();
            edges.entry(from).or_default().extend(to);
        }
        circles(&edges)
            .into_iter()
            .map(|members| {
                let imports = self
                    .imports_among(|file| child(file).filter(|member| members.contains(member)));
                Circle { members: members.into_iter().collect(), imports }
            })
            .collect()
    }

    /// The imports between files of different members.
    fn imports_among<'s, M: PartialEq>(
        &'s self,
        member: impl Fn(&'s String) -> Option<M>,
    ) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for (file, imported) in &self.edges {
            let Some(from) = member(file) else { continue };
            for other in imported {
                if member(other).is_some_and(|to| to != from) {
                    found.push((file.clone(), other.clone()));
                }
            }
        }
        found
    }
}

/// The module of each file, by its path or by the `#[path]` of its declaration.
fn modules(scans: &BTreeMap<String, Scan>) -> BTreeMap<String, Module> {
    let mut files: BTreeMap<String, Module> =
        scans.keys().map(|path| (path.clone(), module_of(path))).collect();
    for (path, scan) in scans {
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        for Declared { name, path: at, is_test } in &scan.declared {
            // A file of a module for tests is left out already.
            let Some(own) = files.get(path) else { continue };
            let module = [own.clone(), vec![name.clone()]].concat();
            let file = match at {
                Some(at) if directory.is_empty() => at.clone(),
                Some(at) => format!("{directory}/{at}"),
                None => match files.iter().find(|(_, found)| **found == module) {
                    Some((file, _)) => file.clone(),
                    None => continue,
                },
            };
            if *is_test {
                files.remove(&file);
                files.retain(|_, found| !found.starts_with(&module));
            } else if files.contains_key(&file) {
                files.insert(file, module);
            }
        }
    }
    files
}

fn module_of(path: &str) -> Module {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let mut module: Module = stem.split('/').map(str::to_owned).collect();
    if matches!(module.last().map(String::as_str), Some("lib" | "main" | "mod")) {
        module.pop();
    }
    module
}

/// The files of the module that a path names, or that contains the named item.
fn resolve<'f>(
    module: &Module,
    segments: &[String],
    scan: &Scan,
    by_module: &BTreeMap<&Module, Vec<&'f String>>,
) -> Option<Vec<&'f String>> {
    let mut rest = segments.iter().peekable();
    let mut here = match rest.peek().map(|segment| segment.as_str())? {
        "crate" => Module::new(),
        "self" | "super" => module.clone(),
        first if scan.declared.iter().any(|declared| declared.name == first) => module.clone(),
        _ => return None,
    };
    rest.next_if(|segment| matches!(segment.as_str(), "crate" | "self"));
    while rest.next_if(|segment| *segment == "super").is_some() {
        here.pop()?;
    }
    for segment in rest {
        here.push(segment.clone());
        if !by_module.contains_key(&here) {
            here.pop();
            break;
        }
    }
    by_module.get(&here).cloned()
}

/// The largest sets of more than one member that all import each other, perhaps through others.
fn circles(edges: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<BTreeSet<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        edges.keys().map(|from| (from.as_str(), reached_from(from, edges))).collect();
    let circle = |(member, others): (&&str, &BTreeSet<&str>)| -> BTreeSet<String> {
        let comes_back = |other: &&&str| reached.get(**other).is_some_and(|it| it.contains(member));
        others.iter().filter(comes_back).map(|other| (*other).to_owned()).collect()
    };
    reached.iter().map(circle).filter(|members| !members.is_empty()).collect()
}

fn reached_from<'e>(
    from: &'e str,
    edges: &'e BTreeMap<String, BTreeSet<String>>,
) -> BTreeSet<&'e str> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from];
    while let Some(member) = next.pop() {
        next.extend(
            edges
                .get(member)
                .into_iter()
                .flatten()
                .map(String::as_str)
                .filter(|other| reached.insert(*other)),
        );
    }
    reached
}
