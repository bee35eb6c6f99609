//! The files of a repository that a stranger made: whatever they hold, a repository is found only
//! where there is one, and nothing outside of what they name.

#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use osm_identity::Repository;
use osm_identity::parse::git::{commondir, gitdir, head};

/// A folder for this process alone, in memory if possible; never removed: it is a few small files.
static HOME: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let home = folder.join(format!("osm-fuzz-git-{}", std::process::id()));
    for name in ["real/.git/objects", "real/.git/refs", "work/bare/objects", "work/bare/refs"] {
        fs::create_dir_all(home.join(name)).expect("a folder");
    }
    fs::write(home.join("real/.git/HEAD"), "ref: refs/heads/main\n").expect("a file");
    fs::canonicalize(home).expect("it was made")
});

/// Texts with a place for anything.
const FRAMES: &[(&[u8], &[u8])] = &[
    (b"", b""),
    (b"gitdir: ", b""),
    (b"gitdir: ../real/.git", b"\n"),
    (b"ref: refs/heads/", b"\n"),
    (b"../../real/.git", b"\n"),
];

fuzz_target!(|bytes: &[u8]| {
    for path in [gitdir(bytes), commondir(bytes)].into_iter().flatten() {
        assert!(!path.is_empty() && !path.contains(&0));
    }
    if let Some(branch) = head(bytes).and_then(|head| head.branch()) {
        assert!(!branch.contains('\n'));
    }
    // Running out of bytes is no finding.
    let _ = look(&mut Unstructured::new(bytes));
});

/// Puts the files into a worktree and a bare repository, and looks for them.
fn look(input: &mut Unstructured) -> Result<()> {
    for (name, folder) in [
        ("work/.git", "work"),
        ("work/bare/HEAD", "work/bare"),
        ("work/bare/commondir", "work/bare"),
    ] {
        let (before, after) = FRAMES[input.int_in_range(0..=FRAMES.len() - 1)?];
        let length = input.int_in_range(0..=64)?;
        let middle = input.bytes(length)?;
        fs::write(HOME.join(name), [before, middle, after].concat()).expect("a file");
        check(&HOME.join(folder));
    }
    let _gone = fs::remove_file(HOME.join("work/bare/commondir"));
    check(&HOME.join("work/bare"));
    Ok(())
}

fn check(folder: &Path) {
    let Some(repository) = Repository::around(folder) else { return };
    assert!(folder.starts_with(&repository.worktree), "{repository:?}");
    for name in ["objects", "refs"] {
        assert!(repository.common.join(name).is_dir(), "{repository:?}");
    }
    assert!(repository.common.is_absolute());
}
