//! Command shells, and how each reads its own command line.
//!
//! `bash -norc`, `bash -s x`, `elvish -rc x` and `fish -f x` wait for a person; `bash x`, `bash -lc x`
//! and `nu -c x` run one thing and end. Which it is depends on the options that take a value, and on
//! those that mean "a command follows", so every shell has its own grammar, from its own manual.
//! [`shell`](crate::shell) reads command lines by it.

use super::Names;

/// A command shell.
#[derive(Clone, Copy, Debug)]
pub struct Shell {
    /// Names of its process, or of its script.
    pub names: Names,
    /// How it reads its command line.
    pub grammar: &'static Grammar,
    /// It is a script that an interpreter runs.
    pub is_script: bool,
}

/// The options of a shell that decide what it runs. All others are flags.
///
/// The letters of a field are options of one letter, which can stand together (`-lc`); its names are
/// options of a whole word.
#[derive(Clone, Copy, Debug)]
pub struct Grammar {
    /// How options are written.
    pub style: Style,
    /// What follows is a command: `-c`.
    pub command: Options,
    /// Commands come from standard input, whatever arguments there are: `-s`.
    pub input: Options,
    /// It is interactive, even if standard input is not a terminal: `-i`.
    pub interactive: Options,
    /// It stays after the command that follows: `/k`, `-NoExit`.
    pub stays: Options,
    /// A value follows.
    pub value: Options,
    /// Values follow, up to the next option.
    pub values: Options,
    /// The last option: `-b`.
    pub last: Options,
    /// Options that are a word even after a single dash, and not letters: `-norc`.
    pub words: Names,
    /// Descriptors of its input.
    pub stdin: &'static [u32],
    /// Descriptors where it keeps its terminal while a command in it has another input. A script
    /// keeps other streams there.
    pub kept: &'static [u32],
}

/// Options that mean the same.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Options of one letter.
    pub letters: &'static str,
    /// Options of a word, without dashes.
    pub words: Names,
}

/// How options are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Letters after `-` or `+`, words after `--`; a value is the next argument (bash, dash).
    Letters,
    /// The same, but what follows a letter that takes a value is that value: `-ofoo` (zsh, fish).
    Attached,
    /// Every option is a word after one dash or two (Go programs, nushell).
    Words,
    /// The same, in any case, and cut short: `-NoProf` (PowerShell).
    Abbreviated,
    /// Letters after `/`, in any case (cmd.exe).
    Slashes,
}

const fn letters(letters: &'static str) -> Options {
    Options { letters, words: &[] }
}

const fn words(words: Names) -> Options {
    Options { letters: "", words }
}

const fn both(letters: &'static str, words: Names) -> Options {
    Options { letters, words }
}

/// What POSIX says: the base of most rows.
const POSIX: Grammar = Grammar {
    style: Style::Letters,
    command: letters("c"),
    input: letters("s"),
    interactive: letters("i"),
    stays: letters(""),
    value: letters("o"),
    values: letters(""),
    last: letters(""),
    words: &[],
    stdin: &[0],
    // The first that POSIX leaves to the shell.
    kept: &[10, 11, 12],
};

static BASH: Grammar = Grammar {
    value: both("oO", &["init-file", "rcfile"]),
    words: &[
        "debug",
        "debugger",
        "dump-po-strings",
        "dump-strings",
        "help",
        "init-file",
        "login",
        "noediting",
        "noprofile",
        "norc",
        "posix",
        "pretty-print",
        "rcfile",
        "restricted",
        "verbose",
        "version",
        "wordexp",
    ],
    kept: &[255],
    ..POSIX
};

/// What `sh` is differs between systems.
static SH: Grammar = Grammar { kept: &[10, 11, 12, 255], ..BASH };

static DASH: Grammar = POSIX;

static ZSH: Grammar = Grammar {
    style: Style::Attached,
    input: both("s", &["shin-stdin", "shinstdin"]),
    interactive: both("i", &["interactive"]),
    value: both("o", &["emulate"]),
    last: letters("b"),
    ..POSIX
};

static KSH: Grammar = Grammar { style: Style::Attached, value: letters("oR"), ..POSIX };

static MKSH: Grammar = Grammar { style: Style::Attached, value: letters("oT"), ..POSIX };

static YASH: Grammar = Grammar {
    style: Style::Attached,
    value: both("o", &["profile", "rcfile"]),
    kept: &[100, 101, 102],
    ..POSIX
};

static CSH: Grammar = Grammar {
    style: Style::Attached,
    // With these, arguments are not a script.
    input: letters("ist"),
    // `-Dname=value` is always attached, and its letters mean nothing.
    value: letters("D"),
    last: letters("b"),
    // It moves its streams out of the way of its commands.
    stdin: &[0, 16],
    kept: &[15, 19],
    ..POSIX
};

static FISH: Grammar = Grammar {
    style: Style::Attached,
    command: both("c", &["command"]),
    input: letters(""),
    interactive: both("i", &["interactive"]),
    value: both(
        "CdDfop",
        &[
            "debug",
            "debug-output",
            "debug-stack-frames",
            "features",
            "init-command",
            "profile",
            "profile-startup",
        ],
    ),
    ..POSIX
};

static ELVISH: Grammar = Grammar {
    style: Style::Words,
    command: words(&["c"]),
    input: letters(""),
    // Its `-i` does nothing.
    interactive: letters(""),
    value: words(&["cpuprofile", "daemon-log", "db", "deprecation-level", "log", "rc", "sock"]),
    ..POSIX
};

static NUSHELL: Grammar = Grammar {
    style: Style::Words,
    command: words(&["c", "commands"]),
    input: letters(""),
    interactive: words(&["i", "interactive"]),
    stays: words(&["e", "execute"]),
    value: words(&[
        "I",
        "config",
        "env-config",
        "error-style",
        "experimental-options",
        "ide-check",
        "ide-complete",
        "ide-goto-def",
        "ide-hover",
        "include-path",
        "log-exclude",
        "log-include",
        "log-level",
        "log-target",
        "m",
        "plugin-config",
        "plugins",
        "t",
        "table-mode",
        "testbin",
        "threads",
    ]),
    ..POSIX
};

static XONSH: Grammar = Grammar {
    style: Style::Attached,
    command: letters("c"),
    input: letters(""),
    interactive: both("i", &["interactive"]),
    value: both("D", &["shell-type", "st"]),
    values: words(&["rc", "rcd"]),
    words: &["st"],
    ..POSIX
};

static OILS: Grammar = Grammar {
    value: both("oO", &["rcfile", "rcdir", "ast-format", "location-str", "runtime-mem-dump"]),
    ..POSIX
};

static POWERSHELL: Grammar = Grammar {
    style: Style::Abbreviated,
    command: words(&["command", "commandwithargs", "cwa", "ec", "encodedcommand", "file"]),
    input: letters(""),
    interactive: words(&["interactive"]),
    stays: words(&["noexit"]),
    value: words(&[
        "configurationfile",
        "configurationname",
        "custompipename",
        "ea",
        "encodedarguments",
        "ep",
        "executionpolicy",
        "if",
        "inputformat",
        "of",
        "outputformat",
        "psconsolefile",
        "settingsfile",
        "version",
        "wd",
        "windowstyle",
        "workingdirectory",
    ]),
    ..POSIX
};

static CMD: Grammar = Grammar {
    style: Style::Slashes,
    command: letters("cr"),
    input: letters(""),
    interactive: letters(""),
    stays: letters("k"),
    value: letters(""),
    ..POSIX
};

/// All that we know.
pub static SHELLS: &[Shell] = &[
    shell(&["bash", "rbash", "bash-static"], &BASH),
    shell(&["sh"], &SH),
    shell(&["zsh", "rzsh", "zsh5", "zsh-static", "zsh5-static"], &ZSH),
    shell(&["fish"], &FISH),
    shell(&["dash", "ash", "posh"], &DASH),
    shell(&["ksh", "ksh93", "ksh2020", "rksh", "rksh93"], &KSH),
    shell(&["mksh", "mksh-static", "lksh", "oksh", "loksh", "pdksh"], &MKSH),
    shell(&["yash"], &YASH),
    shell(&["tcsh", "csh", "bsd-csh"], &CSH),
    shell(&["pwsh", "powershell", "pwsh-preview"], &POWERSHELL),
    shell(&["cmd"], &CMD),
    shell(&["nu"], &NUSHELL),
    shell(&["elvish"], &ELVISH),
    Shell { names: &["xonsh"], grammar: &XONSH, is_script: true },
    shell(&["oil", "osh", "ysh", "oils-for-unix"], &OILS),
    shell(&["ion"], &DASH),
    shell(&["murex"], &ELVISH),
];

/// A shell that a user adds by its name: the words of bash are those of no other.
pub(super) static UNKNOWN: Shell = shell(&[], &BASH);

const fn shell(names: Names, grammar: &'static Grammar) -> Shell {
    Shell { names, grammar, is_script: false }
}
