//! Which session is this, and does the process that it hangs on still live?
//!
//!     cargo run -p osm-identity --example whoami

#![expect(clippy::print_stdout, reason = "a program of its own, not the library")]

use osm_identity::{Catalogue, Confidence, Environment, Request, System, detect};

#[expect(clippy::disallowed_methods, reason = "a program captures its environment once")]
fn main() {
    // The library reads no environment: it is given one.
    let environment = Environment::new(std::process::id(), std::env::vars_os());
    let system = System::new();
    let detection = detect(&Request {
        explicit: None,
        environment: &environment,
        source: &system,
        catalogue: &Catalogue::new(),
    });
    println!("{} ({}, {})", detection.id, detection.source, detection.confidence);

    if detection.confidence == Confidence::None {
        println!("nothing identifies this session: keep no state under a random id");
    }
    // Keep the instance next to your state: later it proves whether the owner is gone.
    if let Some(anchor) = detection.anchor {
        println!("{anchor}: {}", anchor.liveness(&system));
    }
}
