//! `osm:os`: files, environment variables, the editor, the clipboard, all by the host.
//!
//! An argument that is missing is an empty text.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Arguments, Native};
use crate::host::{Host, Writing};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("readFile", read_file),
    ("writeFile", |host, it| write_file(host, it, "writeFile")),
    ("appendFile", |host, it| write_file(host, it, "appendFile")),
    ("fileExists", |host, it| {
        let path = expanded(host, text(it, 0)?)?;
        Ok(json!(!path.as_os_str().is_empty() && host.exists(&path)))
    }),
    ("isAbsolute", |host, it| Ok(json!(expanded(host, text(it, 0)?)?.is_absolute()))),
    ("platform", |_, _| Ok(json!(PLATFORM))),
    ("getenv", |host, it| Ok(json!(host.variable(text(it, 0)?).unwrap_or_default()))),
    ("openEditor", |host, it| {
        let edited = host.edit(text(it, 0)?, text(it, 1)?);
        edited.map(|text| json!(text)).map_err(|error| error.to_string())
    }),
    ("clipboardCopy", |host, it| {
        host.copy(text(it, 0)?).map(|()| Value::Null).map_err(|error| error.to_string())
    }),
    ("clipboardPaste", |host, _| {
        host.paste().map(|text| json!(text)).map_err(|error| error.to_string())
    }),
];

/// The name of the system, as Go calls it.
const PLATFORM: &str = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };

/// The variable that names the user's home.
const HOME: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

/// The permissions of a new file, from which the umask takes.
const USUAL_MODE: u32 = 0o644;

fn text<'a>(arguments: &Arguments<'a>, place: usize) -> Result<&'a str, String> {
    Ok(arguments.optional_text(place)?.unwrap_or_default())
}

/// A file that cannot be read gives a result with `error: true`, not an exception.
fn read_file(host: &mut dyn Host, arguments: &Arguments) -> Result<Value, String> {
    let content = content(host, text(arguments, 0)?);
    let (content, message) = match content {
        Ok(content) => (content, None),
        Err(message) => (String::new(), Some(message)),
    };
    Ok(json!({
        "content": content,
        "error": message.is_some(),
        "message": message.unwrap_or_default(),
    }))
}

fn content(host: &mut dyn Host, path: &str) -> Result<String, String> {
    if path.is_empty() {
        return Err("empty path".into());
    }
    let path = expanded(host, path)?;
    let bytes = host.read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    String::from_utf8(bytes).map_err(|_| format!("{}: not valid UTF-8", path.display()))
}

/// `writeFile(path, text, { mode, createDirs })`.
fn write_file(host: &mut dyn Host, arguments: &Arguments, name: &str) -> Result<Value, String> {
    let path = text(arguments, 0)?;
    if path.is_empty() {
        return Err(format!("{name}: the path is empty"));
    }
    let path = expanded(host, path)?;
    let options = arguments.value(2);
    let mode = match &options["mode"] {
        Value::Null => USUAL_MODE,
        mode => {
            let bits = mode.as_u64().filter(|mode| *mode <= 0o777);
            let bits = bits.and_then(|bits| u32::try_from(bits).ok());
            bits.ok_or_else(|| arguments.wrong(2, "options with a mode of 0 to 0o777"))?
        }
    };
    let how = Writing {
        append: name == "appendFile",
        mode: Some(mode),
        create_folders: options["createDirs"] == true,
    };
    host.write_as(&path, text(arguments, 1)?.as_bytes(), &how)
        .map(|()| Value::Null)
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// `~` is the user's home. Without one, a folder called `~` must not be used in its place.
fn expanded(host: &mut dyn Host, path: &str) -> Result<PathBuf, String> {
    let rest = path.strip_prefix('~');
    let Some(rest) =
        rest.filter(|rest| rest.is_empty() || rest.starts_with(std::path::is_separator))
    else {
        return Ok(PathBuf::from(path));
    };
    let home = host.variable(HOME).filter(|home| !home.is_empty());
    let home = home.ok_or_else(|| format!("cannot expand ~: {HOME} is not set"))?;
    Ok(Path::new(&home).join(rest.trim_start_matches(std::path::is_separator)))
}
