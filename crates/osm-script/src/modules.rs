//! What `require('osm:…')` gives: a table, and a file for each module.
//!
//! A module is functions of Rust, or a script of ours that stands on some. The table is what
//! `require` knows, what `osm.d.ts` is checked against, and what an unknown name is answered with.

mod arguments;
pub(crate) mod argv;
mod crypto;
mod encoding;
mod exec;
mod format;
mod os;
mod output;
mod time;

use serde_json::{Value, json};

pub use arguments::Arguments;

use crate::host::Host;

/// A function that scripts call. Its error is what they catch.
pub type Native = fn(&mut dyn Host, &Arguments<'_>) -> Result<Value, String>;

/// A module.
pub struct Module {
    /// Its name, as `require` takes it.
    pub name: &'static str,
    /// Its functions in Rust.
    pub functions: &'static [(&'static str, Native)],
    /// The script that makes its exports; it finds the functions in `__filename`'s place. Without
    /// one, the functions are the exports.
    pub script: Option<&'static str>,
}

/// A module of functions.
const fn native(name: &'static str, functions: &'static [(&'static str, Native)]) -> Module {
    Module { name, functions, script: None }
}

/// A module that is a script.
const fn scripted(name: &'static str, script: &'static str) -> Module {
    Module { name, functions: &[], script: Some(script) }
}

/// All modules.
pub static MODULES: &[Module] = &[
    native("osm:argv", argv::FUNCTIONS),
    native("osm:crypto", crypto::FUNCTIONS),
    native("osm:encoding", encoding::FUNCTIONS),
    native("osm:exec", exec::FUNCTIONS),
    native("osm:format", format::FUNCTIONS),
    scripted("osm:flag", include_str!("../js/modules/flag.js")),
    scripted("osm:json", include_str!("../js/modules/json.js")),
    scripted("osm:nextIntegerID", include_str!("../js/modules/next_integer_id.js")),
    scripted("osm:nextIntegerId", include_str!("../js/modules/next_integer_id.js")),
    native("osm:os", os::FUNCTIONS),
    native("osm:output", output::FUNCTIONS),
    scripted("osm:path", include_str!("../js/modules/path.js")),
    scripted("osm:sharedStateSymbols", include_str!("../js/modules/shared_state_symbols.js")),
    native("osm:time", time::FUNCTIONS),
];

/// The function of a module.
pub(crate) fn find(module: &str, function: &str) -> Option<Native> {
    let module = MODULES.iter().find(|it| it.name == module)?;
    module.functions.iter().find(|(name, _)| *name == function).map(|(_, run)| *run)
}

/// All modules, as `require` needs them.
pub(crate) fn outline() -> Value {
    let one = |module: &Module| {
        let functions: Vec<&str> = module.functions.iter().map(|(name, _)| *name).collect();
        (module.name.to_owned(), json!({ "functions": functions, "script": module.script }))
    };
    Value::Object(MODULES.iter().map(one).collect())
}
