//! Finds the file of a module for `require`.

use std::path::{Component, Path, PathBuf};

use crate::host::Host;

/// The file of a module name.
pub(crate) fn resolve(
    host: &mut dyn Host,
    from: &Path,
    name: &str,
    module_paths: &[PathBuf],
) -> Result<PathBuf, String> {
    if name.is_empty() {
        return Err("the name of a module is empty".into());
    }
    let path = Path::new(name);
    let is_relative =
        name == "." || name == ".." || name.starts_with("./") || name.starts_with("../");
    let bases: Vec<PathBuf> = if path.is_absolute() {
        vec![PathBuf::new()]
    } else if is_relative {
        vec![from.to_owned()]
    } else {
        module_paths.to_vec()
    };
    for base in &bases {
        let candidate = clean(&base.join(path));
        for found in candidates(&candidate) {
            if host.exists(&found) {
                return Ok(found);
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
