//! Shells with options: whether a person types into one, as the shell itself sees it.

use std::fs;

use osm_testkit::lab::{Lab, Typist};
use osm_testkit::tools::program;

use super::same::ids_of;
use super::situation::{Ids, Situation, ask, id, in_one_terminal};

/// Command lines that wait for a person.
const INTERACTIVE: &[&str] = &[
    "bash -norc",
    "bash -noprofile -rcfile /dev/null",
    "bash --norc -s a b",
    "bash --norc -O extglob -o vi",
    "zsh -f -o vi",
    "zsh -fs a",
    "dash -o vi",
    "ksh -o vi",
    "mksh -s a",
    "yash --norcfile -o vi",
    "tcsh -f -s a",
    "fish -N -C true",
    "fish -N -f qmark-noglob -d warning",
    "elvish -norc -log /dev/null",
    "elvish -rc /dev/null",
    "xonsh --no-rc --shell-type readline",
    "xonsh --no-rc -DA=b --shell-type dumb",
];

/// Command lines that run a script; `SCRIPT` is its name.
const SCRIPTS: &[&str] = &[
    "bash -norc SCRIPT",
    "bash -rcfile /dev/null SCRIPT",
    "bash -i SCRIPT",
    "bash -o posix -O extglob SCRIPT",
    "bash <SCRIPT",
    "cat SCRIPT | bash",
    "cat SCRIPT | bash -s a b",
    "zsh -f -o posixidentifiers SCRIPT",
    "zsh --emulate sh SCRIPT",
    "cat SCRIPT | zsh -f",
    "dash -o vi SCRIPT",
    "cat SCRIPT | dash",
    "ksh -o vi SCRIPT",
    "cat SCRIPT | ksh",
    "mksh -o vi SCRIPT",
    "cat SCRIPT | mksh",
    "yash --rcfile=/dev/null SCRIPT",
    "cat SCRIPT | yash",
    "tcsh -f SCRIPT",
    "cat SCRIPT | tcsh -f",
    "fish -N -f qmark-noglob SCRIPT",
    "cat SCRIPT | fish -N",
    "elvish -norc SCRIPT",
    "cat SCRIPT | elvish -norc -i",
    "xonsh --no-rc -D A=b SCRIPT",
];

pub(crate) const SITUATIONS: &[Situation] = &[
    Situation::differ(
        "interactive shells with options, each on a pty of its own",
        &["anchor"],
        |lab| {
            program("script")?;
            let mut ids = in_one_terminal(lab, &["OSM session id"])?;
            for (number, shell) in INTERACTIVE.iter().enumerate() {
                program(shell.split(' ').next().unwrap_or_default())?;
                let mut terminal = lab.terminal()?;
                terminal.type_line(&format!("script -q /dev/null -c 'exec {shell}'"))?;
                ids.extend(told(lab, &mut terminal, number)?);
            }
            Ok(ids)
        },
    ),
    Situation::same("shells with options that run a script on a pty", &["anchor"], |lab| {
        program("script")?;
        // One command, since a shell of one command that ends with another becomes that one.
        let script = lab.file("script", "OSM session id >LAB/told\necho done\n")?;
        let mut terminal = lab.terminal()?;
        let mut ids = id(lab, &mut terminal)?;
        for shell in SCRIPTS {
            let words = shell.split([' ', '|']).filter(|word| !word.is_empty());
            for word in words.filter(|word| is_shell(word)) {
                program(word)?;
            }
            let line = shell.replace("SCRIPT", &script.display().to_string());
            let command = format!(
                "rm -f LAB/told; script -qec 'sh -c \"{line}; true\"' /dev/null </dev/null"
            );
            lab.ask(&mut terminal, &command)?.ok()?;
            ids.extend(ids_of(&fs::read_to_string(lab.path().join("told"))?)?);
        }
        Ok(ids)
    }),
    Situation::same("a loop with another input, in shells on a pty", &["anchor"], |lab| {
        program("script")?;
        let mut ids = Vec::new();
        for shell in ["bash --norc", "zsh -f", "dash", "ksh", "mksh", "yash --norcfile", "fish -N"]
        {
            program(shell.split(' ').next().unwrap_or_default())?;
            let mut terminal = lab.terminal()?;
            terminal.type_line(&format!("script -q /dev/null -c 'exec {shell}'"))?;
            let inside = ask(lab, &mut terminal, "OSM session id; OSM session id </dev/null")?;
            lab.file("lines", "x\n")?;
            let read = if shell.starts_with("fish") {
                "while read x; OSM session id; end <LAB/lines"
            } else {
                "while read x; do OSM session id; done <LAB/lines"
            };
            let looped = ask(lab, &mut terminal, read)?;
            // One shell's session is compared with itself.
            if inside[0] != looped[0] {
                return Ok([inside, looped].concat());
            }
            ids = [inside, looped].concat();
        }
        Ok(ids)
    }),
    Situation::same("shells that read commands from the pipe of a daemon", &["anchor"], |lab| {
        lab.file(
            "daemon.py",
            "import subprocess
for shell in ['bash'], ['sh'], ['bash', '-s'], ['bash', '-s', 'a'], ['sh', '-c', 'OSM session id; true']:
    subprocess.run(shell, input='OSM session id\\ntrue\\n', text=True)
",
        )?;
        in_one_terminal(lab, &["setsid -w python3 LAB/daemon.py </dev/null"])
    }),
];

fn is_shell(word: &str) -> bool {
    ["bash", "zsh", "dash", "ksh", "mksh", "yash", "tcsh", "fish", "elvish", "xonsh"]
        .contains(&word)
}

/// The session of a shell of any kind: all know redirections.
fn told(lab: &Lab, shell: &mut dyn Typist, number: usize) -> Ids {
    let (partial, file) = (format!("LAB/told-{number}.tmp"), format!("LAB/told-{number}"));
    shell.type_line(&lab.spell(&format!("OSM session id > {partial}")))?;
    shell.type_line(&lab.spell(&format!("mv {partial} {file}")))?;
    let file = lab.path().join(format!("told-{number}"));
    lab.wait_for(&file)?;
    ids_of(&fs::read_to_string(file)?)
}
