//! Every input that osm shows, and the command that shows it.

mod arguments;
mod claims;
mod editor;
mod goals;
mod modes;
mod sessions;

use crate::hostile::for_each;
use crate::site::Site;

/// A name, and what puts hostile text into the input and looks at the terminal.
type Surface = (&'static str, fn(&mut Site));

/// All surfaces, by the kind of input.
const SURFACES: [(&str, &[Surface]); 6] = [
    ("arguments", arguments::SURFACES),
    ("claims", claims::SURFACES),
    ("editor", editor::SURFACES),
    ("goals", goals::SURFACES),
    ("modes", modes::SURFACES),
    ("sessions", sessions::SURFACES),
];

fn test(kind: &str) {
    let known = SURFACES.iter().find(|(name, _)| *name == kind);
    let (_, surfaces) = known.unwrap_or_else(|| panic!("no surfaces for {kind}"));
    let mut failures = Vec::new();
    for (name, show) in *surfaces {
        let test =
            std::panic::AssertUnwindSafe(|| for_each(|hostile| show(&mut Site::new(hostile))));
        if let Err(payload) = std::panic::catch_unwind(test) {
            let said = payload.downcast_ref::<String>().map(String::as_str);
            failures.push(format!("{name}: {}", said.unwrap_or("failed")));
        }
    }
    assert!(failures.is_empty(), "{kind}\n{}", failures.join("\n\n"));
}

#[test]
fn arguments_and_variables_cannot_control_the_terminal() {
    test("arguments");
}

#[test]
fn claims_cannot_control_the_terminal() {
    test("claims");
}

#[test]
fn the_line_editor_shows_nothing_that_controls_the_terminal() {
    test("editor");
}

#[test]
fn goals_cannot_control_the_terminal() {
    test("goals");
}

#[test]
fn modes_cannot_control_the_terminal() {
    test("modes");
}

#[test]
fn sessions_cannot_control_the_terminal() {
    test("sessions");
}
