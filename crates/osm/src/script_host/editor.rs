//! Edits a text in the user's editor.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::private;
use crate::session_host::SessionHost;

/// Opens a text in the user's editor and returns the edited text. If the editor fails, nothing changes.
pub(super) fn edit(host: &SessionHost, hint: &str, text: &str) -> io::Result<String> {
    let folder = private_folder(&host.temporary)?;
    let path = folder.path().join(name(hint));
    let mut file = private::open(File::options().write(true).create_new(true), &path)?;
    file.write_all(text.as_bytes())?;
    drop(file);
    let chosen = ["VISUAL", "EDITOR"].iter().find_map(|name| host.variable(name));
    if chosen.is_none() && !io::stdout().is_terminal() {
        let message = "cannot start an editor: standard output is not a terminal; give the text with the command";
        return Err(io::Error::other(message));
    }
    run(&candidates(chosen.as_deref()), &path, &host.folder)?;
    let edited = std::fs::read(&path).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot read the edited file: {error}"))
    })?;
    String::from_utf8(edited).map_err(|_| io::Error::other("the edited file is not valid UTF-8"))
}

fn private_folder(temporary: &Path) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("osm-edit-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir_in(temporary)
}

/// The editors to try, each with its arguments.
fn candidates(chosen: Option<&str>) -> Vec<Vec<String>> {
    let words = chosen.map(osm_script::words::split).filter(|words| !words.is_empty());
    match words {
        Some(words) => vec![words],
        None if cfg!(windows) => vec![vec!["notepad".into()]],
        None => ["nano", "vi"].iter().map(|name| vec![(*name).to_owned()]).collect(),
    }
}

/// Runs the first editor that is installed.
fn run(candidates: &[Vec<String>], file: &Path, folder: &Path) -> io::Result<()> {
    let mut missing = Vec::new();
    for words in candidates {
        let Some((program, arguments)) = words.split_first() else { continue };
        let mut command = Command::new(program);
        command.args(arguments).arg(file).current_dir(folder).stdin(terminal());
        match command.status() {
            Ok(status) if status.success() => return Ok(()),
            Ok(status) => {
                let code = super::exec::code(status);
                let message = format!("the editor {program} failed with exit code {code}");
                return Err(io::Error::other(format!("{message}; nothing was changed")));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(program.as_str()),
            Err(error) => {
                return Err(io::Error::other(format!("the editor {program}: {error}")));
            }
        }
    }
    let missing = missing.join(", ");
    Err(io::Error::other(format!("no editor found (tried {missing}); set VISUAL or EDITOR")))
}

/// The editor's standard input: the terminal, even where commands come from a pipe.
fn terminal() -> Stdio {
    if io::stdin().is_terminal() {
        return Stdio::inherit();
    }
    match File::open("/dev/tty") {
        Ok(terminal) if cfg!(unix) => terminal.into(),
        _ => Stdio::null(),
    }
}

/// A file name made from the hint, which editors show as the title.
fn name(hint: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
    let name: String = hint.chars().take(40).map(plain).collect();
    let name = name.trim_matches('-');
    format!("{}.md", if name.is_empty() { "text" } else { name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_editor() {
        assert_eq!(candidates(Some("code --wait")), [["code", "--wait"]]);
        assert_eq!(candidates(Some("'/a b/vi' -n")), [["/a b/vi", "-n"]]);
        assert!(candidates(None).iter().all(|words| words.len() == 1));
        assert_eq!(candidates(Some("  ")), candidates(None));
    }

    #[test]
    fn names() {
        assert_eq!(name("note [3]"), "note--3.md");
        assert_eq!(name("../../x"), "x.md");
        assert_eq!(name(""), "text.md");
    }

    #[cfg(unix)]
    #[test]
    fn a_failing_editor_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.md");
        std::fs::write(&file, "old").unwrap();
        let tried = |words: &[&[&str]]| {
            let words: Vec<Vec<String>> =
                words.iter().map(|it| it.iter().map(ToString::to_string).collect()).collect();
            run(&words, &file, folder.path()).map_err(|error| error.to_string())
        };
        assert_eq!(
            tried(&[&["sh", "-c", "exit 3"]]).unwrap_err(),
            "the editor sh failed with exit code 3; nothing was changed"
        );
        assert_eq!(
            tried(&[&["/no/such"]]).unwrap_err(),
            "no editor found (tried /no/such); set VISUAL or EDITOR"
        );
        tried(&[&["/no/such"], &["sh", "-c", "echo new > $0"]]).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new\n");
    }
}
