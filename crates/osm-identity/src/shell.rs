//! Whether a shell is interactive, or runs one command and ends.
//!
//! `sh -c …`, `bash build.sh` and `cmd /c …` are part of the command that they run: the walk
//! continues with their parent. A shell with neither a command nor a script is interactive: a
//! person types into it, or an agent that types like one.

/// Whether a shell started with these arguments (its own name first) runs a command or a script.
#[must_use]
pub(crate) fn is_ephemeral<S: AsRef<str>>(arguments: &[S]) -> bool {
    let mut rest = arguments.iter().skip(1).map(AsRef::as_ref);
    while let Some(argument) = rest.next() {
        match argument {
            "--" => return rest.next().is_some(),
            "--command" => return true,
            // Options that take a value: the next argument is not a script.
            "--rcfile" | "--init-file" | "--init-command" | "--features" | "--profile" => {
                rest.next();
            }
            "-C" | "-f" | "-d" if is_fish(arguments) => {
                rest.next();
            }
            _ if argument.starts_with("--command=") => return true,
            _ if argument.starts_with("--") => {}
            _ => match flag(argument) {
                Flag::Command | Flag::None => return true,
                Flag::Stays => return false,
                Flag::TakesValue => {
                    rest.next();
                }
                Flag::Other => {}
            },
        }
    }
    false
}

enum Flag {
    /// A command follows: `-c`, `-lc`, `/c`, `-Command`, `-File`.
    Command,
    /// Whatever runs first, the shell stays afterwards: `/k`, `-NoExit`.
    Stays,
    /// A value follows: `-o pipefail`.
    TakesValue,
    /// Any other option.
    Other,
    /// Not an option: a script.
    None,
}

fn flag(argument: &str) -> Flag {
    let lower = argument.to_ascii_lowercase();
    match lower.as_str() {
        "/c" | "/r" | "-command" | "-file" | "-encodedcommand" | "-ec" => return Flag::Command,
        "/k" | "-noexit" => return Flag::Stays,
        "-nologo" | "-noprofile" => return Flag::Other,
        "-executionpolicy" | "-ep" | "-version" | "-workingdirectory" => return Flag::TakesValue,
        _ => {}
    }
    let Some(letters) = argument.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty())
    else {
        // `/d`, `/s`, `/v:on` of cmd.exe; a script's path has more than one slash or letter.
        let cmd = argument
            .strip_prefix('/')
            .is_some_and(|option| option.len() == 1 || option.as_bytes().get(1) == Some(&b':'));
        return if cmd { Flag::Other } else { Flag::None };
    };
    if argument.starts_with('-') && letters.contains('c') {
        Flag::Command
    } else if letters.ends_with(['o', 'O']) {
        Flag::TakesValue
    } else {
        Flag::Other
    }
}

fn is_fish<S: AsRef<str>>(arguments: &[S]) -> bool {
    arguments.first().is_some_and(|name| crate::catalogue::base_name(name.as_ref()) == "fish")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_that_run_one_thing() {
        for line in [
            "sh -c x",
            "bash -lc x",
            "bash -l -c x",
            "bash -ec x",
            "zsh -c -l x",
            "bash build.sh",
            "bash -e build.sh",
            "bash -o pipefail build.sh",
            "bash -eo pipefail x.sh",
            "sh /dev/fd/63",
            "bash --norc x.sh",
            "bash -- x.sh",
            "fish -c x",
            "fish --command=x",
            "fish --command x",
            "cmd.exe /d /s /c x",
            "cmd /C x",
            "pwsh -NoProfile -Command x",
            "pwsh -File x.ps1",
            "/bin/sh ./configure",
            "bash --rcfile r x.sh",
        ] {
            assert!(is_ephemeral(&line.split(' ').collect::<Vec<_>>()), "{line}");
        }
    }

    #[test]
    fn interactive_shells() {
        for line in [
            "bash",
            "-bash",
            "bash -i",
            "bash --login",
            "bash -il",
            "bash --rcfile r",
            "bash --norc -i",
            "zsh -l",
            "fish",
            "fish -C init",
            "fish -l -C init",
            "sh",
            "cmd.exe",
            "cmd /k x.bat",
            "pwsh -NoLogo",
            "powershell.exe -ExecutionPolicy Bypass",
            "bash -o vi",
            "bash --",
            "zsh +o histexpand",
        ] {
            assert!(!is_ephemeral(&line.split(' ').collect::<Vec<_>>()), "{line}");
        }
        assert!(!is_ephemeral::<&str>(&[]));
    }
}
