//! One hook of git, with or without the guard in it.
//!
//! In a shell script the guard is a block of its own at the top, so the rest of the hook stays as
//! it is. A hook in another language is set beside, and called by ours.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::CommandError;

const BEGIN: &str = "# >>> osm claim guard >>>";
const END: &str = "# <<< osm claim guard <<<";

/// What a hook in another language is called while ours stands in its place.
const BESIDE: &str = "before-osm";

pub(super) struct Hook {
    pub(super) path: PathBuf,
}

impl Hook {
    /// Puts the guard in; says what it did.
    pub(super) fn install(&self, require: bool) -> Result<&'static str, CommandError> {
        let guard = block(require, None);
        match self.read()? {
            None => self.write(&format!("#!/bin/sh\n{guard}")).map(|()| "guarded"),
            Some(text) if is_shell(&text) => {
                let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
                let others = without_block(rest);
                self.write(&format!("{first}\n{guard}{others}"))
                    .map(|()| "guarded, with what was there")
            }
            Some(_) => {
                let beside = self.beside();
                if beside.exists() {
                    return Err(CommandError::failed(format!(
                        "{} is in the way",
                        beside.display()
                    ))
                    .with_hint("move it away and try again"));
                }
                self.step("set aside", rename(&self.path, &beside))?;
                let guard = block(require, beside.file_name().and_then(|name| name.to_str()));
                self.write(&format!("#!/bin/sh\n{guard}"))
                    .map(|()| "guarded, and what was there is called after it")
            }
        }
    }

    /// Takes the guard out; says what it did.
    pub(super) fn remove(&self) -> Result<&'static str, CommandError> {
        let Some(text) = self.read()?.filter(|text| text.contains(BEGIN)) else {
            return Ok("not guarded");
        };
        if self.beside().exists() {
            self.step("bring back", rename(&self.beside(), &self.path))?;
            return Ok("as it was");
        }
        let rest = without_block(&text);
        if rest.trim() == "#!/bin/sh" {
            self.step("remove", remove(&self.path))?;
            return Ok("removed");
        }
        self.write(&rest).map(|()| "as it was")
    }

    fn beside(&self) -> PathBuf {
        self.path.with_extension(BESIDE)
    }

    fn read(&self) -> Result<Option<String>, CommandError> {
        match std::fs::read(&self.path) {
            // A program is no shell script, whatever its bytes are.
            Ok(bytes) => Ok(Some(String::from_utf8(bytes).unwrap_or_default())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => self.step("read", Err(error)),
        }
    }

    /// Replaces the hook in one step.
    fn write(&self, text: &str) -> Result<(), CommandError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let replace = || {
            std::fs::create_dir_all(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(text.as_bytes())?;
            make_executable(file.as_file())?;
            file.as_file().sync_all()?;
            file.persist(&self.path).map_err(|error| error.error)?;
            Ok(())
        };
        self.step("write", replace())
    }

    fn step<T>(&self, what: &str, result: io::Result<T>) -> Result<T, CommandError> {
        result.map_err(|error| {
            CommandError::failed(format!("cannot {what} the hook {}: {error}", self.path.display()))
        })
    }
}

/// The guard, as a hook runs it. It reads nothing: what git tells a hook is for the others.
fn block(require: bool, then: Option<&str>) -> String {
    let require = if require { " --require" } else { "" };
    let then = match then {
        Some(name) => format!("exec \"$(dirname \"$0\")/{name}\" \"$@\"\n"),
        None => String::new(),
    };
    format!(
        "{BEGIN}
# `osm claim guard remove` takes this out.
if command -v osm >/dev/null 2>&1; then
    osm claim guard check{require} </dev/null || exit 1
else
    echo 'osm is not found, so claims cannot be checked: install it, or delete this block' >&2
    exit 1
fi
{END}
{then}"
    )
}

/// A script without the guard.
fn without_block(text: &str) -> String {
    let Some((before, rest)) = text.split_once(BEGIN) else { return text.to_owned() };
    let after = rest.split_once(END).map_or("", |(_, after)| after);
    format!("{before}{}", after.strip_prefix('\n').unwrap_or(after))
}

fn is_shell(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let Some(interpreter) = first.strip_prefix("#!") else { return false };
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let mut words = interpreter.split_whitespace().map(name);
    let program = match words.next() {
        Some(word) if word == "env" => words.next(),
        word => word,
    };
    program.is_some_and(|it| ["sh", "bash", "dash", "ksh", "zsh"].contains(&it.as_str()))
}

#[expect(clippy::disallowed_methods, reason = "a hook is no user data of ours: git owns it")]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

#[expect(clippy::disallowed_methods, reason = "nothing is left in it but our own block")]
fn remove(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

#[cfg(unix)]
fn make_executable(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_file: &std::fs::File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(folder: &Path, text: Option<&str>) -> Hook {
        let hook = Hook { path: folder.join("pre-commit") };
        if let Some(text) = text {
            std::fs::write(&hook.path, text).unwrap();
        }
        hook
    }

    #[test]
    fn the_guard_goes_in_and_out_without_a_trace() {
        for text in [
            "#!/bin/sh\necho mine\n",
            "#!/usr/bin/env bash\nset -e\n",
            "#!/usr/bin/env python3\nprint('mine')\n",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let hook = hook(folder.path(), Some(text));
            for _ in 0..2 {
                hook.install(false).unwrap();
            }
            let guarded = std::fs::read_to_string(&hook.path).unwrap();
            assert_eq!(guarded.matches(BEGIN).count(), 1, "{guarded}");
            hook.remove().unwrap();
            assert_eq!(std::fs::read_to_string(&hook.path).unwrap(), text);
            assert_eq!(hook.remove().unwrap(), "not guarded");
        }
    }

    #[test]
    fn a_hook_of_ours_alone_is_removed_whole() {
        let folder = tempfile::tempdir().unwrap();
        let hook = hook(folder.path(), None);
        hook.install(true).unwrap();
        assert!(std::fs::read_to_string(&hook.path).unwrap().contains("check --require"));
        hook.remove().unwrap();
        assert!(!hook.path.exists());
    }
}
