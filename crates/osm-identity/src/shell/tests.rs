//! Command lines, as the manuals of the shells have them.

use super::*;
use crate::catalogue::{Catalogue, Kind};

fn line(text: &str) -> Reads {
    let arguments: Vec<&str> = text.split(' ').collect();
    let name = crate::catalogue::base_name(arguments[0]);
    let catalogue = Catalogue::new();
    let Some(Kind::Shell(shell)) = catalogue.look_up(name) else { panic!("{text}") };
    reads(&arguments, shell.grammar)
}

#[test]
fn shells_that_run_one_thing() {
    for text in [
        "sh -c x",
        "sh -c -e x",
        "bash -lc x",
        "bash -l -c x",
        "bash -ec x",
        "bash -ic x",
        "bash -i x.sh",
        "bash build.sh",
        "bash -e build.sh",
        "bash -o pipefail build.sh",
        "bash -eo pipefail x.sh",
        "bash -oo posix pipefail x.sh",
        "bash -O extglob x.sh",
        "bash --norc x.sh",
        "bash -norc x.sh",
        "bash -rcfile r x.sh",
        "bash -- x.sh",
        "bash - x.sh",
        "bash --rcfile r x.sh",
        "bash +o posix x.sh",
        "/bin/sh ./configure",
        "sh /dev/fd/63",
        "dash -e x.sh",
        "dash -oc posix x",
        "zsh -c -l x",
        "zsh -fc x",
        "zsh -f x.zsh",
        "zsh -oextendedglob x.zsh",
        "zsh --emulate sh x.sh",
        "zsh -b x.zsh",
        "ksh -o vi x.ksh",
        "ksh -ovi x.ksh",
        "mksh -T - x.sh",
        "mksh -c x",
        "yash --rcfile=r x.sh",
        "yash --rcfile r x.sh",
        "tcsh -fc x",
        "tcsh -f x.csh",
        "tcsh -b x.csh",
        "csh -Dname=is x.csh",
        "fish -c x",
        "fish -lc x",
        "fish -ic x",
        "fish -ccode",
        "fish --command=x",
        "fish --command x",
        "fish --com x",
        "fish -f all x.fish",
        "fish -Cinit x.fish",
        "fish --no-config x.fish",
        "elvish -c x",
        "elvish -norc -c x",
        "elvish -rc r.elv x.elv",
        "elvish -rc=r.elv x.elv",
        "elvish x.elv",
        "nu -c x",
        "nu --commands x",
        "nu --commands=x",
        "nu --config c x.nu",
        "nu -n x.nu",
        "xonsh -c x",
        "xonsh --no-rc x.xsh",
        "xonsh -st readline x.xsh",
        "xonsh -D A=b x.xsh",
        "osh --rcfile r x.sh",
        "pwsh -NoProfile -Command x",
        "pwsh -nop -c x",
        "pwsh -File x.ps1",
        "pwsh /home/u/x.ps1",
        "pwsh -ep Bypass x.ps1",
        "powershell.exe /Command x",
        "powershell.exe -EncodedCommand x",
        "cmd.exe /d /s /c x",
        "cmd /C x",
        "cmd /v:on /c x",
        "cmd /Q x.bat",
    ] {
        assert!(matches!(line(text), Reads::OneCommand | Reads::Script), "{text}");
    }
}

#[test]
fn a_script_is_not_a_command() {
    for text in ["bash x.sh", "sh -e x.sh", "bash --rcfile r x.sh a b", "fish x.fish", "tcsh -f x"]
    {
        assert_eq!(line(text), Reads::Script, "{text}");
    }
    for text in ["bash -c x", "bash -ec x name a", "fish -c x y"] {
        assert_eq!(line(text), Reads::OneCommand, "{text}");
    }
}

#[test]
fn shells_that_read_their_input() {
    for text in [
        "bash",
        "-bash",
        "bash --login",
        "bash -login",
        "bash -norc",
        "bash -noprofile -norc",
        "bash --rcfile r",
        "bash -rcfile r",
        "bash -init-file r",
        "bash -s",
        "bash -s a b",
        "bash -es -- a b",
        "bash -o vi",
        "bash -o vi -o posix",
        "bash -O extglob",
        "bash +O extglob",
        "bash --",
        "sh",
        "dash -o vi",
        "zsh -l",
        "zsh -f",
        "zsh +o histexpand",
        "zsh -o vi",
        "zsh -s a b",
        "zsh --no-rcs",
        "zsh --emulate ksh",
        "ksh -o vi",
        "ksh -s a",
        "mksh -T /dev/tty1",
        "mksh -o vi",
        "yash --norcfile",
        "yash -o vi",
        "tcsh -f",
        "tcsh -s a",
        "fish",
        "fish -C init",
        "fish -l -C init",
        "fish -Cinit",
        "fish -f qmark-noglob",
        "fish --features=all",
        "fish -d all",
        "fish --profile p",
        "fish --init-command=x",
        "elvish",
        "elvish -i",
        "elvish -norc",
        "elvish -rc r.elv",
        "elvish --rc r.elv",
        "elvish -log l",
        "nu",
        "nu -n",
        "nu --config c.nu",
        "nu -t 4",
        "xonsh",
        "xonsh --no-rc",
        "xonsh --rc a b",
        "xonsh --shell-type readline",
        "xonsh -st readline",
        "xonsh -DA=b",
        "pwsh -NoLogo",
        "powershell.exe -ExecutionPolicy Bypass",
        "pwsh -wd /tmp",
        "cmd.exe",
        "cmd /d",
    ] {
        assert_eq!(line(text), Reads::Input, "{text}");
    }
    assert_eq!(reads::<&str>(&[], crate::catalogue::SHELLS[0].grammar), Reads::Input);
}

#[test]
fn shells_that_are_interactive_whatever_they_read() {
    for text in [
        "bash -i",
        "bash -il",
        "bash --norc -i",
        "bash -is a",
        "zsh -i",
        "zsh --interactive",
        "tcsh -i a",
        "fish -i",
        "fish --interactive",
        "nu -i",
        "nu -e x",
        "nu --execute x",
        "xonsh -i",
        "pwsh -NoExit -Command x",
        "pwsh -noe -c x",
        "cmd /k x.bat",
        "cmd /D /K x.bat",
    ] {
        assert_eq!(line(text), Reads::Interactively, "{text}");
    }
}
