//! `osm:os`: files, environment variables, the editor, the clipboard, all by the host.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Arguments, Native};
use crate::host::{Host, Writing};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("readFile", read_file),
    ("writeFile", |host, it| write_file(host, it, false)),
    ("appendFile", |host, it| write_file(host, it, true)),
    ("fileExists", |host, it| {
        let path = expanded(host, it.text(0)?);
        Ok(json!(host.exists(&path)))
    }),
    ("isAbsolute", |_, it| Ok(json!(Path::new(it.text(0)?).is_absolute()))),
    ("join", join),
    ("platform", |_, _| Ok(json!(std::env::consts::OS))),
    ("getenv", |host, it| Ok(json!(host.variable(it.text(0)?).unwrap_or_default()))),
    ("openEditor", |host, it| {
        let text = it.optional_text(1)?.unwrap_or_default();
        let hint = it.optional_text(0)?.unwrap_or_default();
        host.edit(hint, text).map(|text| json!(text)).map_err(|error| error.to_string())
    }),
    ("clipboardCopy", |host, it| {
        host.copy(it.text(0)?).map(|()| Value::Null).map_err(|error| error.to_string())
    }),
    ("clipboardPaste", |host, _| {
        host.paste().map(|text| json!(text)).map_err(|error| error.to_string())
    }),
];

/// A file that cannot be read gives a result with `error: true`, not an exception.
fn read_file(host: &mut dyn Host, arguments: &Arguments) -> Result<Value, String> {
    let path = expanded(host, arguments.text(0)?);
    let read = host.read(&path).map_err(|error| error.to_string());
    let text =
        read.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "not valid UTF-8".to_owned()));
    Ok(match text {
        Ok(content) => json!({ "content": content, "error": false, "message": "" }),
        Err(message) => {
            let message = format!("{}: {message}", path.display());
            json!({ "content": "", "error": true, "message": message })
        }
    })
}

/// `writeFile(path, text, { mode, createDirs })`.
fn write_file(host: &mut dyn Host, arguments: &Arguments, append: bool) -> Result<Value, String> {
    let path = expanded(host, arguments.text(0)?);
    let options = arguments.value(2);
    let mode = match &options["mode"] {
        Value::Null => None,
        mode => {
            let bits = mode.as_u64().filter(|mode| *mode <= 0o777);
            let bits = bits.and_then(|bits| u32::try_from(bits).ok());
            Some(bits.ok_or_else(|| arguments.wrong(2, "options with a mode of 0 to 0o777"))?)
        }
    };
    let how = Writing { append, mode, create_folders: options["createDirs"] == true };
    host.write_as(&path, arguments.text(1)?.as_bytes(), &how)
        .map(|()| Value::Null)
        .map_err(|error| format!("{}: {error}", path.display()))
}

fn join(_host: &mut dyn Host, arguments: &Arguments) -> Result<Value, String> {
    let mut path = PathBuf::new();
    for at in 0..arguments.all().len() {
        path.push(arguments.text(at)?);
    }
    Ok(json!(path.display().to_string()))
}

/// `~` is the user's home.
fn expanded(host: &mut dyn Host, path: &str) -> PathBuf {
    let rest = path.strip_prefix("~/").or_else(|| (path == "~").then_some(""));
    match rest.zip(host.variable("HOME")) {
        Some((rest, home)) => Path::new(&home).join(rest),
        None => PathBuf::from(path),
    }
}
