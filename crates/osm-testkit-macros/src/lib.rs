//! The attribute `#[test]` of [`osm-testkit`](../osm_testkit/trials/index.html).
//!
//! A separate crate, because the compiler accepts attribute macros from crates of their own only.

#![deny(missing_docs)]

use proc_macro::{TokenStream, TokenTree};

/// Registers a function with the harness of `osm_testkit::trials`, which takes the place of the
/// standard library's: there, a test that finds its tool missing can only pass or fail.
#[proc_macro_attribute]
pub fn test(_arguments: TokenStream, function: TokenStream) -> TokenStream {
    let Some(name) = name(function.clone()) else {
        return tokens("compile_error!(\"#[test] is for functions\");");
    };
    let registration = format!(
        "::osm_testkit::trials::inventory::submit! {{
            ::osm_testkit::trials::Test::new(concat!(module_path!(), \"::\", stringify!({name})), {name})
        }}"
    );
    let lints = "#[allow(clippy::unwrap_used, reason = \"in a test, the panic is the report\")]";
    [tokens(lints), function, tokens(&registration)].into_iter().collect()
}

/// The word after `fn`.
fn name(function: TokenStream) -> Option<String> {
    let words = function.into_iter().filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    });
    words.skip_while(|word| word != "fn").nth(1)
}

fn tokens(rust: &str) -> TokenStream {
    rust.parse().expect("the text above is Rust")
}
