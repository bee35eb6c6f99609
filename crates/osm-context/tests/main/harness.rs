//! What the tests stand on: a folder of their own, and short ways to say what is in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use osm_context::{Item, Limits, Prompt, Section, Setting, build, parse};
use tempfile::TempDir;

pub(crate) struct Lab {
    _home: TempDir,
    /// Without links, as the tests compare paths.
    pub(crate) folder: PathBuf,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().canonicalize().unwrap().join("lab");
        fs::create_dir(&folder).unwrap();
        Self { _home: home, folder }
    }

    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let lab = Self::new();
        for (name, content) in files {
            lab.write(name, content);
        }
        lab
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn text_path(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn setting(&self) -> Setting<'_> {
        Setting::new(&self.folder)
    }

    pub(crate) fn limited(&self, change: impl FnOnce(&mut Limits)) -> Setting<'_> {
        let mut setting = self.setting();
        change(&mut setting.limits);
        setting
    }

    /// An item for each name, numbered from 1.
    pub(crate) fn items(&self, names: &[&str]) -> Vec<Item> {
        let names = (1..).zip(names);
        names.map(|(id, name)| Item::file(id, name, &self.text_path(name))).collect()
    }

    /// The prompt of some files and folders.
    pub(crate) fn prompt(&self, names: &[&str]) -> Prompt {
        self.prompt_in(names, &self.setting())
    }

    pub(crate) fn prompt_in(&self, names: &[&str], setting: &Setting) -> Prompt {
        built(&self.items(names), setting)
    }

    /// Runs git with a neutral identity.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.folder, arguments)
    }
}

/// The prompt of some items, which is parsed back to itself.
pub(crate) fn built(items: &[Item], setting: &Setting) -> Prompt {
    let prompt = build(items, setting).unwrap();
    assert_eq!(parse(&prompt.to_string()).unwrap(), prompt.sections());
    let last = prompt.sections().len().saturating_sub(1);
    let left_out = prompt.sections().iter().position(|it| matches!(it, Section::LeftOut(_)));
    assert!(left_out.is_none_or(|at| at == last), "what is left out is told last");
    prompt
}

pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=t", "-c", "user.email=t@example.org"]);
    command.args(["-c", "init.defaultBranch=main"]).args(arguments).env("GIT_CONFIG_GLOBAL", "");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The labels of all blocks.
pub(crate) fn labels(prompt: &Prompt) -> Vec<&str> {
    prompt.blocks().map(|block| block.label.as_str()).collect()
}

/// The lines of what is left out.
pub(crate) fn left_out(prompt: &Prompt) -> Vec<String> {
    prompt.skipped().map(|skipped| format!("{}: {}", skipped.path, skipped.reason)).collect()
}
