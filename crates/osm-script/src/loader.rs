//! Finds the file of a module for `require`.
//!
//! A relative name is resolved against the folder of the script that asks, never against the working
//! directory, which may be a stranger's. The host reads a file once, and what it returned is what runs.

use std::path::{Component, Path, PathBuf};

use crate::host::Host;

/// The file of a module name, and its bytes.
pub(crate) fn find(
    host: &mut dyn Host,
    from: &Path,
    name: &str,
    module_paths: &[PathBuf],
) -> Result<(PathBuf, Vec<u8>), String> {
    if name.is_empty() {
        return Err("the name of a module is empty".into());
    }
    let path = Path::new(name);
    let bases: Vec<PathBuf> = if path.is_absolute() {
        vec![PathBuf::new()]
    } else if is_relative(name) {
        if !from.is_absolute() {
            return Err(format!(
                "module not found: '{name}'; this script is not a file, so it has no folder for relative paths"
            ));
        }
        vec![from.to_owned()]
    } else {
        module_paths.iter().filter(|path| path.is_absolute()).cloned().collect()
    };
    for base in &bases {
        for found in candidates(&clean(&base.join(path))) {
            if let Some(bytes) = host.module(&found)? {
                return Ok((found, bytes));
            }
        }
    }
    Err(if bases.is_empty() {
        format!(
            "module not found: '{name}'; start a file's path with ./ or ../, or set module paths"
        )
    } else {
        let shown: Vec<String> =
            bases.iter().map(|base| clean(&base.join(path)).display().to_string()).collect();
        format!("module not found: '{name}'; tried {}", shown.join(", "))
    })
}

/// The files that `require(name)` of a script in the folder `from` tries, in order. None for a name
/// that is looked up in the module paths.
#[must_use]
pub fn module_files(from: &Path, name: &str) -> Vec<PathBuf> {
    let path = Path::new(name);
    if name.is_empty() || !(path.is_absolute() || is_relative(name)) {
        return Vec::new();
    }
    candidates(&clean(&from.join(path))).into()
}

/// The names in all calls `require('…')` of a text. Names that a script computes are not found.
#[must_use]
pub fn required_names(text: &str) -> Vec<String> {
    text.match_indices("require")
        .filter_map(|(at, word)| literal(&text[at + word.len()..]))
        .collect()
}

/// The text of `('…')`, if the text continues so.
fn literal(text: &str) -> Option<String> {
    let inner = text.trim_start().strip_prefix('(')?.trim_start();
    let quote = inner.chars().next().filter(|it| matches!(it, '\'' | '"' | '`'))?;
    let (name, _) = inner[1..].split_once(quote)?;
    (!name.contains(['\\', '\n', '$'])).then(|| name.to_owned())
}

fn is_relative(name: &str) -> bool {
    name == "." || name == ".." || name.starts_with("./") || name.starts_with("../")
}

/// The files to try for a path without an extension.
fn candidates(path: &Path) -> [PathBuf; 4] {
    let with = |extension: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(extension);
        PathBuf::from(name)
    };
    [path.to_owned(), with(".js"), with(".json"), path.join("index.js")]
}

/// A path without `.` and `..`, so that a module is loaded once.
fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(cleaned.pop()),
            other => cleaned.push(other),
        }
    }
    cleaned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_required() {
        let text = "const a = require('./a'), b = require ( \"../b.json\" );\nrequire(`./c`);\n\
                    require(name); require('./' + x); require('a\\'b'); require; require(";
        assert_eq!(required_names(text), ["./a", "../b.json", "./c", "./"]);
    }

    #[test]
    fn files_that_are_tried() {
        let shown = |name: &str| -> Vec<String> {
            let files = module_files(Path::new("/a/b"), name);
            files.iter().map(|it| it.display().to_string().replace('\\', "/")).collect()
        };
        assert_eq!(shown("../c")[..2], ["/a/c", "/a/c.js"]);
        assert!(shown("bare").is_empty() && shown("osm:os").is_empty() && shown("").is_empty());
    }
}
