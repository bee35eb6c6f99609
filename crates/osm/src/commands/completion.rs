//! `osm completion`: a script that completes `osm` in a shell.

use clap_complete::Shell;

use crate::render::Ui;

pub(super) fn run(shell: Shell, mut command: clap::Command, ui: &mut Ui) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "osm", &mut script);
    ui.document(&String::from_utf8_lossy(&script));
}
