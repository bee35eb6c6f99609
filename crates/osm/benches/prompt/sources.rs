//! The trees of files that prompts are built from: made-up programs, and real code.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use osm_testkit::bench::Result;

/// Files in one folder of a made-up tree.
const IN_A_FOLDER: u32 = 50;
/// The size of a made-up file, in bytes.
const FILE: usize = 5_000;
/// Files of real code.
const REAL: usize = 10_000;
/// The largest file that osm takes from a folder by default.
const LARGEST: usize = 1_000_000;

/// Makes a tree of files that look like programs, all different.
pub(crate) fn made_up(tree: &Path, count: u32) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for number in 0..count {
        let folder = tree.join(format!("part_{:03}", number / IN_A_FOLDER));
        if number % IN_A_FOLDER == 0 {
            fs::create_dir_all(&folder)?;
        }
        let mut text = format!("//! File {number} of many.\n\n");
        let mut line = 0;
        while text.len() < FILE {
            line += 1;
            writeln!(
                text,
                "/// Adds {line} to what was counted so far.\n\
                 fn step_{number}_{line}(total: &mut u64) -> Result<u64, Error> {{\n    \
                     *total = total.checked_add({line}).ok_or(Error::TooMany)?;\n    \
                     Ok(*total)\n}}\n"
            )?;
        }
        let file = folder.join(format!("file_{number:05}.rs"));
        fs::write(&file, text)?;
        files.push(file);
    }
    Ok(files)
}

/// Copies text files of the crates that cargo has fetched. Hidden files, among them those with ignore
/// rules, are not copied, so that a walk finds exactly these files.
pub(crate) fn real(tree: &Path) -> Result<Vec<PathBuf>> {
    let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo = cargo.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let registry = cargo.ok_or("the folder of cargo is unknown")?.join("registry/src");
    let mut files = Vec::new();
    copy(&registry, tree, &mut files)?;
    if files.is_empty() {
        return Err(format!("no sources in {}", registry.display()).into());
    }
    Ok(files)
}

fn copy(from: &Path, to: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries = fs::read_dir(from)?.collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_unstable_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        if files.len() >= REAL || name.to_string_lossy().starts_with('.') {
            continue;
        }
        let (from, to) = (entry.path(), to.join(&name));
        if entry.file_type()?.is_dir() {
            copy(&from, &to, files)?;
        } else if let Ok(text) = fs::read_to_string(&from)
            && text.len() <= LARGEST
            && !text.contains('\0')
        {
            fs::create_dir_all(to.parent().unwrap_or(&to))?;
            fs::write(&to, text)?;
            files.push(to);
        }
    }
    Ok(())
}
