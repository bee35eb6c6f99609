//! `osm mcp`: the Model Context Protocol on standard input and output.

use std::io::{BufReader, stdin};

use crate::World;
use crate::error::CommandError;
use crate::invocation::Options;
use crate::mcp;
use crate::render::Ui;

pub(super) fn run(world: &World, options: Options, ui: &mut Ui) -> Result<(), CommandError> {
    if world.stdin_is_terminal() {
        ui.note("osm mcp reads requests of an agent; Ctrl-D ends it");
        ui.hint("install it with: osm agent install");
    }
    mcp::serve(world, options, BufReader::new(stdin()), |line| {
        ui.payload(line);
        ui.finish()
    })
}
