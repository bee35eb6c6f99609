//! The scripts that make shells ask osm.

use clap::ValueEnum;

/// A shell that can complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Elvish,
    Fish,
    Nushell,
    Powershell,
    Zsh,
}

impl Shell {
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
