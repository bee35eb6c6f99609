//! The scripts that make shells ask osm.

use clap::ValueEnum;

/// A shell that can complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Elvish,
    Fish,
    #[value(alias = "nu")]
    Nushell,
    #[value(alias = "pwsh")]
    Powershell,
    Zsh,
}

/// What zsh needs before it takes a completion.
const COMPINIT: &str = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }\n";

impl Shell {
    /// The name that a user types.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Elvish => "elvish",
            Self::Fish => "fish",
            Self::Nushell => "nushell",
            Self::Powershell => "powershell",
            Self::Zsh => "zsh",
        }
    }

    /// What the shell must have done before it loads the completion.
    pub(crate) fn preparation(self) -> &'static str {
        if self == Self::Zsh { COMPINIT } else { "" }
    }

    /// The script that shows this session in the prompt; `None` where osm has none.
    pub(crate) fn prompt(self) -> Option<&'static str> {
        Some(match self {
            Self::Bash => include_str!("../../assets/prompt/osm.bash"),
            Self::Elvish => return None,
            Self::Fish => include_str!("../../assets/prompt/osm.fish"),
            Self::Nushell => include_str!("../../assets/prompt/osm.nu"),
            Self::Powershell => include_str!("../../assets/prompt/osm.ps1"),
            Self::Zsh => include_str!("../../assets/prompt/osm.zsh"),
        })
    }

    /// The script to be loaded by the shell.
    pub(crate) fn script(self) -> &'static str {
        match self {
            Self::Bash => include_str!("../../assets/completion/osm.bash"),
            Self::Elvish => include_str!("../../assets/completion/osm.elv"),
            Self::Fish => include_str!("../../assets/completion/osm.fish"),
            Self::Nushell => include_str!("../../assets/completion/osm.nu"),
            Self::Powershell => include_str!("../../assets/completion/osm.ps1"),
            Self::Zsh => include_str!("../../assets/completion/_osm"),
        }
    }
}
