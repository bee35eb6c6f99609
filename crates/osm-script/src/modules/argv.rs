//! `osm:argv`: split a line into words, and join words to a line.

use serde_json::{Value, json};

use super::{Arguments, Native};
use crate::host::Host;
use crate::words;

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("parseArgv", |_, arguments| Ok(json!(words::split(arguments.text(0)?)))),
    ("formatArgv", format),
];

fn format(_host: &mut dyn Host, arguments: &Arguments) -> Result<Value, String> {
    let words: Vec<String> = arguments.texts(0)?.iter().map(|word| words::quote(word)).collect();
    Ok(json!(words.join(" ")))
}
