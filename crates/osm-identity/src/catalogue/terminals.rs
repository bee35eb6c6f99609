//! Terminal emulators, editors that host terminals, and runners of CI jobs.
//!
//! Each is known by its process. Some name their tabs in a variable; the value is believed only
//! below the program that sets it, because variables leak into whatever is started from a tab.
//! Those that name nothing are here all the same: a terminal's window is where the climb to the
//! login shell must end.

use super::Names;

/// A program that hosts terminals.
#[derive(Clone, Copy, Debug)]
pub struct TerminalProgram {
    /// Its name, for people.
    pub name: &'static str,
    /// Names of its process.
    pub programs: Names,
    /// The variable that names a tab, a pane or a window; empty where it has none.
    pub tab: &'static str,
    /// The value counts from 0 in every process of the program, so that process is part of it.
    pub counted: bool,
}

/// All that we know.
pub static TERMINALS: &[TerminalProgram] = &[
    tab("kitty", &["kitty"], "KITTY_WINDOW_ID", true),
    tab("ghostty", &["ghostty"], "GHOSTTY_SURFACE_ID", true),
    tab("iterm2", &["iTerm2", "iTermServer-*"], "ITERM_SESSION_ID", false),
    tab("apple-terminal", &["Terminal"], "TERM_SESSION_ID", false),
    tab("windows-terminal", &["WindowsTerminal"], "WT_SESSION", false),
    tab("konsole", &["konsole", "yakuake"], "SHELL_SESSION_ID", false),
    tab("gnome-terminal", &["gnome-terminal-server"], "GNOME_TERMINAL_SCREEN", false),
    tab("tilix", &["tilix"], "TILIX_ID", false),
    tab("terminator", &["terminator"], "TERMINATOR_UUID", false),
    tab("alacritty", &["alacritty"], "ALACRITTY_WINDOW_ID", true),
    tab("warp", &["warp-terminal", "warp"], "WARP_TERMINAL_SESSION_UUID", false),
    tab("cmux", &["cmux"], "CMUX_PANE_ID", true),
    tab(
        "jetbrains",
        &["jetbrains-toolbox", "idea", "pycharm", "goland", "clion", "rustrover", "webstorm"],
        "TERM_SESSION_ID",
        false,
    ),
    tab("xterm", &["xterm", "uxterm", "urxvt", "urxvtd", "rxvt", "st"], "", false),
    tab("foot", &["foot"], "", false),
    tab("mintty", &["mintty"], "", false),
    tab("windows-console", &["wt", "conhost", "OpenConsole"], "", false),
    tab(
        "vscode",
        &[
            "code",
            "code-insiders",
            "code-oss",
            "codium",
            "ptyHost",
            "server-main.js",
            "bootstrap-fork",
        ],
        "",
        false,
    ),
    tab("cursor-ide", &["Cursor", "cursor", "cursor-server"], "", false),
    tab("windsurf", &["windsurf", "devin-desktop"], "", false),
    tab("zed", &["zed", "zed-editor"], "", false),
    tab("xfce4-terminal", &["xfce4-terminal"], "", false),
    tab(
        "others",
        &[
            "lxterminal",
            "mate-terminal",
            "qterminal",
            "sakura",
            "terminology",
            "rio",
            "contour",
            "tabby",
            "hyper",
            "ptyxis",
            "ptyxis-agent",
            "kgx",
            "guake",
            "tilda",
            "roxterm",
            "lilyterm",
            "termite",
            "deepin-terminal",
            "io.elementary.terminal",
            "cosmic-term",
            "cool-retro-term",
            "blackbox",
            "mlterm",
            "zutty",
            "Eterm",
            "pterm",
            "waveterm",
            "ttyd",
            "gotty",
            "code-server",
            "jupyter-lab",
            "jupyter-notebook",
        ],
        "",
        false,
    ),
];

const fn tab(
    name: &'static str,
    programs: Names,
    tab: &'static str,
    counted: bool,
) -> TerminalProgram {
    TerminalProgram { name, programs, tab, counted }
}

/// A runner of continuous-integration jobs: one long-lived process, many jobs.
#[derive(Clone, Copy, Debug)]
pub struct Runner {
    /// Its name, for people.
    pub name: &'static str,
    /// Names of its process.
    pub programs: Names,
    /// The variables that together name a job; all must be set.
    pub job: Names,
}

/// All that we know.
pub static RUNNERS: &[Runner] = &[
    Runner {
        name: "github-actions",
        programs: &["Runner.Worker"],
        job: &["GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_JOB"],
    },
    Runner { name: "gitlab", programs: &["gitlab-runner"], job: &["CI_JOB_ID"] },
    Runner { name: "buildkite", programs: &["buildkite-agent"], job: &["BUILDKITE_JOB_ID"] },
    Runner { name: "jenkins", programs: &["agent.jar", "jenkins.war"], job: &["BUILD_TAG"] },
];
