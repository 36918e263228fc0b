//! The paths in a file of Rust, and its declarations of modules.

use std::str::FromStr;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// A `mod NAME;`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) name: String,
    /// The value of `#[path = "..."]`, relative to the directory of the file.
    pub(super) path: Option<String>,
    /// Has `#[cfg(test)]`.
    pub(super) is_test: bool,
}

/// The paths and modules of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Scan {
    pub(super) declared: Vec<Declared>,
    /// Paths of at least two segments, segment by segment; those of test modules are left out.
    pub(super) paths: Vec<Vec<String>>,
}

pub(super) fn scan(text: &str) -> Result<Scan, proc_macro2::LexError> {
    let mut scan = Scan::default();
    scan.tokens(TokenStream::from_str(text)?);
    Ok(scan)
}

impl Scan {
    fn tokens(&mut self, stream: TokenStream) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut attributes = Attributes::default();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if let Some(group) = attribute(&tokens[at..]) {
                attributes.read(group);
                at += 2;
                continue;
            }
            match token {
                TokenTree::Ident(word) if *word == "mod" => {
                    if let Some(TokenTree::Ident(name)) = tokens.get(at + 1) {
                        match tokens.get(at + 2) {
                            Some(TokenTree::Group(_)) if attributes.is_test => {}
                            Some(TokenTree::Group(inline)) => self.tokens(inline.stream()),
                            _ => self.declared.push(Declared {
                                name: name.to_string(),
                                path: attributes.path.take(),
                                is_test: attributes.is_test,
                            }),
                        }
                    }
                    attributes = Attributes::default();
                    at += 3;
                }
                TokenTree::Ident(_) => {
                    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
                    // A method, or the rest of a path that begins elsewhere.
                    if before.is_some_and(|before| is_punct(before, '.') || is_punct(before, ':')) {
                        at += 1;
                    } else {
                        at += self.path(&tokens[at..], &[]).max(1);
                    }
                }
                TokenTree::Group(group) => {
                    self.tokens(group.stream());
                    // An item's body, or its visibility: attributes end here.
                    if group.delimiter() == Delimiter::Brace {
                        attributes = Attributes::default();
                    }
                    at += 1;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    if is_punct(token, ';') {
                        attributes = Attributes::default();
                    }
                    at += 1;
                }
            }
        }
    }

    /// A path, or a tree of paths as in `use`; returns its number of tokens.
    fn path(&mut self, tokens: &[TokenTree], before: &[String]) -> usize {
        let mut segments = before.to_vec();
        let mut at = 0;
        while let Some(TokenTree::Ident(segment)) = tokens.get(at) {
            segments.push(segment.to_string());
            at += 1;
            let is_on = |at: usize| tokens.get(at).is_some_and(|token| is_punct(token, ':'));
            if !(is_on(at) && is_on(at + 1)) {
                break;
            }
            match tokens.get(at + 2) {
                Some(TokenTree::Ident(_)) => at += 2,
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    self.tree(group, &segments);
                    return at + 3;
                }
                // A glob, or generic arguments.
                _ => break,
            }
        }
        if segments.len() > 1 {
            self.paths.push(segments);
        }
        at
    }

    fn tree(&mut self, group: &Group, before: &[String]) {
        let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
        for branch in tokens.split(|token| is_punct(token, ',')) {
            if branch.is_empty() {
                continue;
            }
            match branch {
                [TokenTree::Ident(word), ..] if *word == "self" => self.paths.push(before.to_vec()),
                branch => drop(self.path(branch, before)),
            }
        }
    }
}

/// The relevant attributes of an item.
#[derive(Debug, Default)]
struct Attributes {
    is_test: bool,
    path: Option<String>,
}

impl Attributes {
    fn read(&mut self, group: &Group) {
        let text = group.stream().to_string();
        self.is_test |= text.replace(' ', "") == "cfg(test)";
        if let Some(path) = text.strip_prefix("path = ") {
            self.path = Some(path.trim_matches('"').to_owned());
        }
    }
}

/// The brackets of the outer or inner attribute that starts here.
fn attribute(tokens: &[TokenTree]) -> Option<&Group> {
    match tokens {
        [hash, TokenTree::Group(group), ..]
            if is_punct(hash, '#') && group.delimiter() == Delimiter::Bracket =>
        {
            Some(group)
        }
        _ => None,
    }
}

pub(super) fn is_punct(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}
