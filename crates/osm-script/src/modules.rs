//! The modules of `require('osm:…')`: a table, and a file for each module.
//!
//! A module is a set of Rust functions, a built-in script, or both. `require` and the message about an
//! unknown module use the table, and a test compares `osm.d.ts` with it.

mod arguments;
mod argv;
mod crypto;
mod encoding;
mod exec;
mod files;
mod format;
mod os;
mod output;
mod state;
mod template;
mod time;
mod tokenizer;

use serde_json::{Value, json};

pub use arguments::Arguments;

use crate::host::{Extension, Host};

/// A function that scripts call. Its error is thrown as an exception.
pub type Native = fn(&mut dyn Host, &Arguments<'_>) -> Result<Value, String>;

/// A module.
pub struct Module {
    /// Its name, as `require` takes it.
    pub name: &'static str,
    /// Its functions in Rust.
    pub functions: &'static [(&'static str, Native)],
    /// The script that makes the exports, `js/modules/NAME.js`; it receives the functions as `functions`.
    /// Without a script, the functions are the exports.
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
    Module { name: "osm:crypto", functions: crypto::FUNCTIONS, script: Some("crypto") },
    scripted("osm:ctxutil", "ctxutil"),
    native("osm:encoding", encoding::FUNCTIONS),
    native("osm:exec", exec::FUNCTIONS),
    native("osm:format", format::FUNCTIONS),
    scripted("osm:flag", "flag"),
    scripted("osm:json", "json"),
    scripted("osm:nextIntegerID", "next_integer_id"),
    scripted("osm:nextIntegerId", "next_integer_id"),
    Module { name: "osm:os", functions: os::FUNCTIONS, script: Some("os") },
    scripted("osm:path", "path"),
    scripted("osm:sharedStateSymbols", "shared_state_symbols"),
    Module { name: "osm:template", functions: template::FUNCTIONS, script: Some("template") },
    native("osm:time", time::FUNCTIONS),
    native("osm:tokenizer", tokenizer::FUNCTIONS),
];

/// Modules for the built-in scripts only.
static INTERNAL: &[Module] = &[
    scripted("osm:ctxutil/texts", "ctxutil_texts"),
    native("osm:files", files::FUNCTIONS),
    native("osm:output", output::FUNCTIONS),
    native("osm:state", state::FUNCTIONS),
    scripted("osm:web/abort", "web_abort"),
    scripted("osm:web/clone", "web_clone"),
    scripted("osm:web/events", "web_events"),
    scripted("osm:web/host", "web_host"),
    scripted("osm:web/percent", "web_percent"),
    scripted("osm:web/search", "web_search"),
    scripted("osm:web/text", "web_text"),
    scripted("osm:web/url", "web_url"),
    scripted("osm:web/url/parser", "web_url_parser"),
];

/// The module that the program implements for scripts that build prompts; `osm:ctxutil`,
/// `osm:tokenizer` and the global `context` need it.
pub const CONTEXT: Extension = Extension {
    name: "osm:context",
    functions: &[
        "build",
        "changed",
        "checkDiff",
        "copy",
        "count",
        "describe",
        "files",
        "folder",
        "fromTxtar",
        "missing",
        "prompt",
        "resolve",
        "show",
        "txtar",
    ],
};

/// Modules of the upstream tool that osm does not have, and what to use instead.
static ABSENT: &[(&str, &str)] = &[
    ("osm:text/template", "use MiniJinja templates: require('osm:template')"),
    ("osm:fetch", "scripts have no network access; run a program with osm:exec"),
    ("osm:regexp", "use JavaScript's regular expressions"),
    ("osm:unicodetext", "use JavaScript's strings"),
    ("osm:lipgloss", NO_TOOLKIT),
    ("osm:bubbletea", NO_TOOLKIT),
    ("osm:bubblezone", NO_TOOLKIT),
    ("osm:bubbles/viewport", NO_TOOLKIT),
    ("osm:bubbles/textarea", NO_TOOLKIT),
    ("osm:termui/scrollbar", NO_TOOLKIT),
    ("osm:bt", "behaviour trees are not supported"),
    ("osm:pabt", "behaviour trees are not supported"),
    ("osm:grpc", "scripts have no network access; run a program with osm:exec"),
    ("osm:protobuf", "protocol buffers are not supported"),
    ("osm:mcp", "scripts cannot be servers"),
    ("osm:mcpcallback", "scripts cannot be servers"),
    ("osm:claudemux", "scripts cannot control agents"),
    ("osm:termmux", "scripts cannot control terminals"),
];

const NO_TOOLKIT: &str = "there is no terminal toolkit; a mode has commands and prints lines";

/// The function of a module.
pub(crate) fn find(module: &str, function: &str) -> Option<Native> {
    let module = MODULES.iter().chain(INTERNAL).find(|it| it.name == module)?;
    module.functions.iter().find(|(name, _)| *name == function).map(|(_, run)| *run)
}

/// The scripts of all modules.
#[cfg(test)]
pub(crate) fn scripts() -> impl Iterator<Item = &'static str> {
    MODULES.iter().chain(INTERNAL).filter_map(|module| module.script)
}

/// All modules, as `require` needs them.
pub(crate) fn outline(extensions: &[Extension]) -> Value {
    let ours = MODULES.iter().chain(INTERNAL).map(|module| {
        let functions: Vec<&str> = module.functions.iter().map(|(name, _)| *name).collect();
        let public = MODULES.iter().any(|it| it.name == module.name);
        let outline = json!({ "functions": functions, "script": module.script, "public": public });
        (module.name.to_owned(), outline)
    });
    let theirs = extensions.iter().map(|extension| {
        (
            extension.name.to_owned(),
            json!({ "functions": extension.functions, "script": null, "public": true }),
        )
    });
    // An extension cannot replace a built-in module.
    Value::Object(theirs.chain(ours).collect())
}

/// Missing modules of the upstream tool, with what to use instead.
pub(crate) fn absent() -> Value {
    Value::Object(
        ABSENT.iter().map(|(name, instead)| ((*name).to_owned(), json!(instead))).collect(),
    )
}
