//! Which version of which package, read from the list that `scripts/install-agents` reads too.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// One line of `pinned.txt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// What it is called here; its virtual environment too.
    name: &'static str,
    /// `npm` or `pypi`.
    pub registry: &'static str,
    /// The name of the package there.
    pub package: &'static str,
    /// The exact version.
    pub version: &'static str,
}

/// The line of `name`.
pub(super) fn find(name: &str) -> Option<Pinned> {
    include_str!("pinned.txt").lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next().filter(|first| *first == name)?;
        let (registry, package, version) = (words.next()?, words.next()?, words.next()?);
        Some(Pinned { name, registry, package, version })
    })
}

impl Pinned {
    /// The version that lies below `cache`.
    pub(super) fn installed_version(&self, cache: &Path) -> Option<String> {
        if self.registry == "npm" {
            let manifest = cache.join("node_modules").join(self.package).join("package.json");
            let manifest: Value = serde_json::from_slice(&fs::read(manifest).ok()?).ok()?;
            return Some(manifest["version"].as_str()?.to_owned());
        }
        // A virtual environment: lib/python3.11/site-packages/aider_chat-0.86.2.dist-info.
        let stem = format!("{}-", self.package.replace('-', "_"));
        let python = fs::read_dir(cache.join(self.name).join("lib")).ok()?.flatten().next()?;
        let packages = fs::read_dir(python.path().join("site-packages")).ok()?;
        packages.flatten().find_map(|entry| {
            let name = entry.file_name();
            let rest = name.to_str()?.strip_prefix(&stem)?;
            Some(rest.strip_suffix(".dist-info")?.to_owned())
        })
    }
}
