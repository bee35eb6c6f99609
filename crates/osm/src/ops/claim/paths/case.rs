//! Whether a folder takes `A` and `a` for one name.
//!
//! Systems have no call for it that works everywhere, and writing a file to find out would be seen by
//! others. So a name that exists is looked up in the other case: if that finds the same file, case is
//! folded. Every worktree has such a name, `.git`.

use std::path::Path;

use osm_claims::Case;

/// How the folders of a worktree compare names, as far as `existing` goes.
#[cfg(not(windows))]
pub(super) fn of(top: &Path, existing: &Path) -> Case {
    let below = existing.ancestors().take_while(|it| *it != top && it.starts_with(top));
    let git = top.join(".git");
    let folds = below.chain([git.as_path()]).find_map(folds);
    if folds == Some(true) { Case::Folded } else { Case::Distinct }
}

/// Windows compares names without case, unless a folder is told otherwise.
#[cfg(windows)]
pub(super) fn of(_top: &Path, _existing: &Path) -> Case {
    Case::Folded
}

/// Whether a file is found by its name in the other case; `None` if the name has no letters.
#[cfg(unix)]
fn folds(path: &Path) -> Option<bool> {
    use std::os::unix::fs::MetadataExt;

    let name = path.file_name()?.to_str()?;
    let swap = |it: char| {
        if it.is_ascii_lowercase() { it.to_ascii_uppercase() } else { it.to_ascii_lowercase() }
    };
    let other: String = name.chars().map(swap).collect();
    if other == name {
        return None;
    }
    let id = |path: &Path| path.symlink_metadata().ok().map(|it| (it.dev(), it.ino()));
    let found = id(path)?;
    Some(id(&path.with_file_name(other)) == Some(found))
}

#[cfg(not(any(unix, windows)))]
fn folds(_path: &Path) -> Option<bool> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_the_other_case_tells() {
        let home = tempfile::tempdir().unwrap();
        let top = home.path();
        std::fs::create_dir(top.join(".git")).unwrap();
        assert_eq!(of(top, top), Case::Distinct);
        std::fs::write(top.join("readme"), "").unwrap();
        assert_eq!(of(top, &top.join("readme")), Case::Distinct);
        // Another name of the same file in the other case looks as a folder that folds case does.
        std::fs::hard_link(top.join("readme"), top.join("README")).unwrap();
        assert_eq!(of(top, &top.join("readme")), Case::Folded);
        std::fs::write(top.join("123"), "").unwrap();
        assert_eq!(of(top, &top.join("123")), Case::Distinct, "digits say nothing, .git does");
    }
}
