//! The packages of a program, from `cargo tree`: cargo itself chooses features and targets as in a build. Procedural macros and
//! build scripts run on the machine of the build, and are no part of the program.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::process::Command;

use crate::command;
use crate::error::Error;

const CARGO_TREE: &str = "cargo tree";

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// As in its manifest.
    pub(crate) licence: String,
    pub(crate) repository: Option<String>,
    /// Those that are on, with commas between.
    pub(crate) features: String,
}

/// A program's own package, and each package with those that it depends on directly.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    pub(crate) root: Package,
    pub(crate) dependencies: BTreeMap<Package, BTreeSet<Package>>,
}

/// The packages that cargo links for this choice of package and features, and for this target.
pub(crate) fn read(selection: &[String], target: &str) -> Result<Tree, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut tree = Command::new(cargo);
    tree.args(["tree", "--locked", "--edges=normal,no-proc-macro", "--charset=ascii"]);
    tree.args(["--prefix=depth", "--format=\t{p}\t{l}\t{r}\t{f}", "--target", target]);
    parse(&command::output(CARGO_TREE, tree.args(selection))?)
}

/// Each line has the depth, and a package as [`package`] reads it. A package that comes again has no dependencies below it.
fn parse(text: &str) -> Result<Tree, Error> {
    let mut path: Vec<Package> = Vec::new();
    let mut dependencies: BTreeMap<Package, BTreeSet<Package>> = BTreeMap::new();
    for line in text.lines() {
        let unexpected = || Error::Output { command: CARGO_TREE.to_owned(), line: line.to_owned() };
        let (depth, rest) = line.split_once('\t').ok_or_else(unexpected)?;
        let depth: usize = depth.parse().map_err(|_| unexpected())?;
        let package = package(rest).ok_or_else(unexpected)?;
        if depth > path.len() || (depth == 0 && !path.is_empty()) {
            return Err(unexpected());
        }
        path.truncate(depth);
        if let Some(parent) = path.last() {
            dependencies.entry(parent.clone()).or_default().insert(package.clone());
        }
        dependencies.entry(package.clone()).or_default();
        path.push(package);
    }
    let none = || Error::Output { command: CARGO_TREE.to_owned(), line: String::new() };
    let root = path.into_iter().next().ok_or_else(none)?;
    Ok(Tree { root, dependencies })
}

/// `name vVERSION`, perhaps with the place of a package of the workspace; licence; repository; features. A package that comes again
/// has a mark.
fn package(text: &str) -> Option<Package> {
    let mut fields = text.trim_end_matches(" (*)").split('\t');
    let mut identity = fields.next()?.split(' ');
    let name = identity.next().filter(|name| !name.is_empty())?.to_owned();
    let version = identity.next()?.strip_prefix('v')?.to_owned();
    let licence = fields.next()?.to_owned();
    let repository = fields.next().filter(|url| !url.is_empty()).map(str::to_owned);
    let features = fields.next()?.to_owned();
    Some(Package { name, version, licence, repository, features })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn names(tree: &Tree, name: &str) -> Vec<String> {
        let (_, below) =
            tree.dependencies.iter().find(|(package, _)| package.name == name).unwrap();
        below.iter().map(|package| package.name.clone()).collect()
    }

    #[test]
    fn packages_have_the_dependencies_that_are_below_them() {
        let text = "0\tprogram v0.1.0 (/home/builder/program)\tApache-2.0\t\t\n\
                    1\ta v1.0.0\tMIT\thttps://example.org/a\tstd,v2\n\
                    2\tc v2.0.0+deprecated\tMIT/Apache-2.0\t\t\n\
                    1\tb v1.2.3\tMIT\t\t\n\
                    2\ta v1.0.0\tMIT\thttps://example.org/a\tstd,v2 (*)\n\
                    2\tc v2.0.0+deprecated\tMIT/Apache-2.0\t\t (*)\n";
        let tree = parse(text).unwrap();
        assert_eq!((tree.root.name.as_str(), tree.root.version.as_str()), ("program", "0.1.0"));
        assert_eq!(tree.dependencies.len(), 4);
        assert_eq!(names(&tree, "program"), ["a", "b"]);
        assert_eq!(names(&tree, "a"), ["c"]);
        assert_eq!(names(&tree, "b"), ["a", "c"]);
        assert_eq!(names(&tree, "c"), Vec::<String>::new());
    }

    #[test]
    fn output_of_another_form_is_refused() {
        for text in [
            "",
            "program v0.1.0\tMIT\t\t",
            "0\tprogram\tMIT\t\t",
            "0\ta v1\tMIT\t\t\n2\tb v1\tMIT\t\t",
        ] {
            assert!(matches!(parse(text), Err(Error::Output { .. })), "{text:?}");
        }
        // Two programs in one bill.
        assert!(parse("0\ta v1\tMIT\t\t\n0\tb v1\tMIT\t\t").is_err());
    }
}
