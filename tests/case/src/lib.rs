//! `#[tests::case]`, which stands where other suites have `#[test]`: rustc collects functions for its own harness alone, and that
//! harness cannot say while it runs that a case did not.

use proc_macro::{TokenStream, TokenTree};

/// Makes a function without parameters a case of its suite: `tests::suite::run` finds it.
#[proc_macro_attribute]
pub fn case(_: TokenStream, function: TokenStream) -> TokenStream {
    let mut words = function.clone().into_iter();
    words.find(|word| matches!(word, TokenTree::Ident(word) if word.to_string() == "fn"));
    let registered = match words.next() {
        Some(TokenTree::Ident(name)) => format!("::tests::register!({name});"),
        _ => "compile_error!(\"a case is a function\");".to_owned(),
    };
    let registered: TokenStream = registered.parse().unwrap_or_default();
    function.into_iter().chain(registered).collect()
}
