//! Which script does an interpreter run?

use crate::catalogue::{Shell, base_name};

/// Options of `node` and `python` whose value is an argument of its own.
const WITH_VALUE: &[&str] =
    &["-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "-W", "-X", "-cp"];

/// Words of `bun`, `deno` and `uv` that stand before the script.
const SUBCOMMANDS: &[&str] = &["run", "x", "exec"];

/// The script or module in an interpreter's arguments (its own name first).
///
/// It is the first argument that is not an option. Code on the command line is not a script.
#[must_use]
pub(crate) fn of<S: AsRef<str>>(arguments: &[S]) -> Option<&str> {
    let mut rest = arguments.iter().skip(1).map(AsRef::as_ref);
    while let Some(argument) = rest.next() {
        match argument {
            "-c" | "-e" | "-p" | "--eval" | "--print" => return None,
            "-m" | "-jar" | "--" => return rest.next(),
            _ if WITH_VALUE.contains(&argument) => {
                rest.next();
            }
            _ if argument.starts_with('-') => {}
            _ if SUBCOMMANDS.contains(&argument) && runs_subcommands(arguments) => {}
            _ => return Some(argument),
        }
    }
    None
}

/// The arguments of a shell, its own name first: without those of the interpreter that runs it
/// (`python3 -m xonsh -i`, `busybox sh -c x`), and taken apart where it wrote them into its title.
#[must_use]
pub(crate) fn own_arguments<'a, S: AsRef<str>>(arguments: &'a [S], shell: &Shell) -> Vec<&'a str> {
    let is_shell = |argument: &str| shell.names.contains(&base_name(argument));
    let mut words: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
    if let [title] = words[..]
        && title.split_whitespace().next().is_some_and(is_shell)
    {
        words = title.split_whitespace().collect();
    }
    let runs_applets = |name: &&str| base_name(name) == "busybox";
    if words.first().is_some_and(|name| !is_shell(name) && (shell.is_script || runs_applets(name)))
        && let Some(at) = words.iter().position(|word| is_shell(word))
    {
        words.drain(..at);
    }
    words
}

fn runs_subcommands<S: AsRef<str>>(arguments: &[S]) -> bool {
    arguments.first().is_some_and(|name| matches!(base_name(name.as_ref()), "bun" | "deno" | "uv"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts() {
        for (line, script) in [
            ("node /usr/bin/gemini -p x", Some("/usr/bin/gemini")),
            ("node --max-old-space-size=4096 --no-warnings gemini", Some("gemini")),
            ("node -r ./hook.js codex.js", Some("codex.js")),
            ("node -e code", None),
            ("node", None),
            ("python3 /opt/bin/aider --yes", Some("/opt/bin/aider")),
            ("python3 -m aider", Some("aider")),
            ("python3 -X dev -u tool.py", Some("tool.py")),
            ("python3 -c code claude", None),
            ("bun run opencode", Some("opencode")),
            ("node run", Some("run")),
            ("java -Xmx1g -jar agent.jar", Some("agent.jar")),
        ] {
            assert_eq!(of(&line.split(' ').collect::<Vec<_>>()), script, "{line}");
        }
        assert_eq!(of::<&str>(&[]), None);
    }

    #[test]
    fn arguments_of_shells() {
        let catalogue = crate::Catalogue::new();
        let own = |name: &str, arguments: &[&str]| {
            let Some(crate::catalogue::Kind::Shell(shell)) = catalogue.look_up(name) else {
                panic!("{name}")
            };
            own_arguments(arguments, shell).join("|")
        };
        assert_eq!(own("bash", &["bash", "-c", "a b"]), "bash|-c|a b");
        assert_eq!(own("xonsh", &["python3", "/bin/xonsh", "-i"]), "/bin/xonsh|-i");
        assert_eq!(own("xonsh", &["python3", "-m", "xonsh", "-i"]), "xonsh|-i");
        assert_eq!(own("xonsh", &["xonsh -i --no-rc"]), "xonsh|-i|--no-rc", "a title");
        assert_eq!(own("sh", &["busybox", "sh", "-c", "x"]), "sh|-c|x");
        assert_eq!(own("sh", &["other", "sh"]), "other|sh");
        assert_eq!(own("pwsh", &["C:\\Program Files\\pwsh.exe"]), "C:\\Program Files\\pwsh.exe");
    }
}
