//! Programs that scripts run.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use osm_script::{Execution, Finished};

/// Runs a program to its end. On a terminal, Ctrl-C reaches it directly.
pub(super) fn run(execution: &Execution, folder: &Path) -> io::Result<Finished> {
    let Some((program, arguments)) = execution.command.split_first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program to run"));
    };
    let folder = match &execution.folder {
        Some(other) => folder.join(other),
        None => folder.to_owned(),
    };
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .envs(execution.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Finished {
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
        code: code(output.status),
    })
}

/// The exit code; 128 + N for signal N, as in a shell.
pub(super) fn code(status: std::process::ExitStatus) -> i32 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128 + signal;
    }
    status.code().unwrap_or(1)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn finished(script: &str) -> Finished {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let variables = vec![("X".to_owned(), "1".to_owned())];
        let execution = Execution { command, folder: None, variables };
        run(&execution, Path::new("/")).expect("a shell can be run")
    }

    #[test]
    fn how_programs_end() {
        let done = finished("pwd; echo $X >&2; cat; exit 3");
        assert_eq!((done.stdout.as_str(), done.stderr.as_str(), done.code), ("/\n", "1\n", 3));
        assert_eq!(finished("kill -TERM $$").code, 143);
        let none = Execution { command: Vec::new(), folder: None, variables: Vec::new() };
        assert!(run(&none, Path::new("/")).is_err());
    }
}
