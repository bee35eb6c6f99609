//! Compiles the built-in scripts to QuickJS bytecode.
//!
//! Parsing them took three quarters of the start of a mode. Bytecode belongs to one version of the
//! engine and one byte order: the engine that compiles here is the one that osm is linked with, and the
//! byte order is that of the target.
#![expect(clippy::disallowed_methods, reason = "cargo talks to build scripts through variables")]

use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use rquickjs::{CatchResultExt, Context, Module, Runtime, WriteOptions, WriteOptionsEndianness};

/// The start of a module's function; `require.js` calls it.
const MODULE: &str = "export default (function (exports, require, module, functions) {";

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    writeln!(std::io::stdout(), "cargo:rerun-if-changed=js")?;
    let context = Context::full(&Runtime::new()?)?;
    let mut table = String::from("&[\n");
    for path in scripts(Path::new("js"))? {
        let source = std::fs::read_to_string(&path)?;
        let is_module = path.parent().is_some_and(|folder| folder.ends_with("modules"));
        let source = if is_module { format!("{MODULE}{source}\n}})") } else { source };
        let stem = path.file_stem().and_then(|it| it.to_str()).ok_or("a script has no name")?;
        let name = format!("osm:{}{stem}", if is_module { "modules/" } else { "" });
        let file = format!("{}.bytecode", name.replace([':', '/'], "-"));
        std::fs::write(out.join(&file), compile(&context, &name, source)?)?;
        writeln!(
            table,
            "    ({name:?}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\"))),"
        )?;
    }
    table.push_str("]\n");
    std::fs::write(out.join("bytecode.rs"), table)?;
    Ok(())
}

/// The scripts in a folder and its subfolders, in the order of their names.
fn scripts(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(scripts(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn compile(context: &Context, name: &str, source: String) -> Result<Vec<u8>, Box<dyn Error>> {
    let endianness = match std::env::var("CARGO_CFG_TARGET_ENDIAN")?.as_str() {
        "big" => WriteOptionsEndianness::Big,
        _ => WriteOptionsEndianness::Little,
    };
    context.with(|ctx| {
        let module = Module::declare(ctx.clone(), name, source).catch(&ctx);
        let module = module.map_err(|error| format!("{name}: {error}"))?;
        Ok(module.write(WriteOptions {
            endianness,
            strip_source: true,
            ..WriteOptions::default()
        })?)
    })
}
