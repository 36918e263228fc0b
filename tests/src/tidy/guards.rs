//! Guards of match arms that bind, `PATTERN if let PATTERN = EXPRESSION =>`: newer than the minimum of Rust.

use std::str::FromStr;

use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree};

use super::paths::is_punct;

/// Returns the guards with a `let` in a file of Rust, and those of `matches!`. One with a block in its expression is not found.
///
/// # Errors
/// If the text is not Rust.
pub fn guards_with_let(text: &str) -> Result<Vec<String>, LexError> {
    let mut found = Vec::new();
    search(TokenStream::from_str(text)?, &mut found);
    Ok(found)
}

fn search(stream: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            search(group.stream(), found);
        }
        if is_word(token, "if") {
            found.extend(guard(&tokens[at..]));
        }
    }
}

/// Returns the text of the guard that begins here. A guard ends before `=>` or with the macro's argument. An expression has a block
/// before either.
fn guard(tokens: &[TokenTree]) -> Option<String> {
    let is_block = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
    let is_arrow = |at: usize| {
        is_punct(&tokens[at], '=') && tokens.get(at + 1).is_some_and(|next| is_punct(next, '>'))
    };
    let ends = |at: &usize| is_block(&tokens[*at]) || is_arrow(*at);
    let end = (0..tokens.len()).find(ends).unwrap_or(tokens.len());
    let is_guard = end == tokens.len() || is_arrow(end);
    let guard = &tokens[..end];
    (is_guard && guard.iter().any(|token| is_word(token, "let")))
        .then(|| guard.iter().cloned().collect::<TokenStream>().to_string())
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(name) if name == word)
}
