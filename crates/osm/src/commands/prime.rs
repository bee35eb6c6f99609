//! `osm prime`: what an agent needs to know.

use crate::cli::Format;
use crate::invocation::Invocation;
use crate::ops::prime::prime;
use crate::render::Ui;

pub(super) fn run(invocation: &Invocation, format: Format, ui: &mut Ui) {
    let prime = prime(invocation);
    if format.json {
        ui.json(&prime);
    } else {
        ui.value(&prime.text());
    }
}
