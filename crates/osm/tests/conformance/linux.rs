//! The rows, and the harness that runs them.

mod differ;
mod fake_agents;
mod inner_terminals;
mod logins;
mod namespaces;
mod not_fooled;
mod orphans;
mod page;
mod real_agents;
mod same;
mod shells;
mod situation;
mod windows;

use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use libtest_mimic::{Arguments, Trial};
use osm_testkit::trials;

use page::Page;
use situation::Situation;

/// Runs the rows that were asked for.
pub(crate) fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let situations: Vec<Situation> = [
        same::SITUATIONS,
        differ::SITUATIONS,
        not_fooled::SITUATIONS,
        namespaces::SITUATIONS,
        logins::SITUATIONS,
        shells::SITUATIONS,
        inner_terminals::SITUATIONS,
        orphans::SITUATIONS,
        windows::SITUATIONS,
        real_agents::SITUATIONS,
    ]
    .concat();
    let page = Arc::new(Mutex::new(Page::new(situations.len())));
    let trials = situations
        .into_iter()
        .map(|situation| {
            let page = Arc::clone(&page);
            Trial::ignorable_test(situation.trial_name(), move || {
                let result = situation.check();
                page.lock().expect("no row panics with the page").add(situation, &result);
                trials::report(result.map(drop))
            })
        })
        .collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    let page = page.lock().expect("no row panics with the page");
    if let Some(file) = record_file() {
        std::fs::write(file, page.record()).expect("the file of the record can be written");
    }
    if conclusion.has_failed() || !page.is_settled() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Where `scripts/run-tests --twice` wants a record of the run.
#[expect(clippy::disallowed_methods, reason = "tests are set up through variables")]
fn record_file() -> Option<std::ffi::OsString> {
    std::env::var_os("OSM_TEST_RECORD")
}
