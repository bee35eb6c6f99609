//! Finds files of a test program that are not listed as modules, and would never be compiled.

use std::path::Path;

/// Makes sure that every file beside a `main.rs` is listed in it.
///
/// # Panics
///
/// If one is not.
pub fn every_file_is_listed(folder: &Path, main: &str) {
    let Ok(files) = folder.read_dir() else {
        return; // Another machine than the one that compiled this.
    };
    for file in files {
        let name = file.expect("the folder can be read").file_name();
        let name = name.to_string_lossy();
        let module = name.strip_suffix(".rs").filter(|module| *module != "main");
        if let Some(module) = module {
            assert!(main.contains(&format!("mod {module};")), "{name} is not a module");
        }
    }
}
