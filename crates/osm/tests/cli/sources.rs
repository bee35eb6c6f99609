//! The sources of this workspace, for tests that look for what must not be there.

use std::path::{Path, PathBuf};

/// Crates that are not shipped.
const TEST_CRATES: [&str; 2] = ["osm-testkit/", "osm-testkit-macros/"];

/// A file.
pub(crate) struct Source {
    /// Its path below `crates/`, with slashes.
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Source {
    /// The lines of code before the unit tests, without the space around them; no comments.
    pub(crate) fn code(&self) -> impl Iterator<Item = &str> {
        let code = self.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        code.lines().map(str::trim).filter(|line| !line.starts_with("//"))
    }
}

/// Every file with Rust.
pub(crate) fn all() -> Vec<Source> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("crates/");
    let read = |path: PathBuf| Source {
        name: path.strip_prefix(crates).expect("below").to_string_lossy().replace('\\', "/"),
        text: std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display())),
    };
    below(crates).into_iter().map(read).collect()
}

/// The files that the product is made of.
pub(crate) fn shipped() -> Vec<Source> {
    let is_shipped = |name: &str| {
        let is_test = name.ends_with("/tests.rs") || name.contains("/tests/");
        name.contains("/src/") && !is_test && !TEST_CRATES.iter().any(|it| name.starts_with(it))
    };
    all().into_iter().filter(|source| is_shipped(&source.name)).collect()
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let cannot = |error| -> ! { panic!("cannot read {}: {error}", folder.display()) };
    let entries = folder.read_dir().unwrap_or_else(|error| cannot(error));
    let paths = entries.map(|entry| entry.unwrap_or_else(|error| cannot(error)).path());
    let files = paths.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|it| it == "rs")).collect()
}
