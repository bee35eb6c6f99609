//! The rows, and the harness that runs them.

mod acquisition;
mod child;
mod commands;
mod control_group;
mod crowd;
mod file_system;
mod guard;
mod identity;
mod liveness;
mod machine;
mod paths;
mod race;
mod release;
mod reuse;
mod row;
mod site;
mod succession;
mod work_lists;

use std::collections::BTreeMap;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use osm_testkit::{page, trials};

use row::{CHAPTERS, How, Row, Test};
use site::Site;

/// How many of the failures must be shown handled by real processes.
const MOST_ARE_SHOWN: usize = 70;

/// Runs the tests that were asked for; or does what such a test started another process for.
pub(crate) fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [race::RACER, folder, session] => return race::run(folder, session),
        [crowd::MEMBER, folder, session, seed] => return crowd::run(folder, session, seed),
        [reuse::REUSER, folder] => return reuse::run(folder),
        _ => {}
    }
    let arguments = Arguments::from_args();
    let mut trials = vec![
        Trial::test("page::every_failure_mode_is_answered_once", check_rows),
        Trial::test("page::claims_failure_modes_is_up_to_date", check_page),
    ];
    trials.extend(tests().into_iter().map(|(name, test)| trial(name, test)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Every test once, by its name: one may stand behind several rows.
fn tests() -> BTreeMap<&'static str, Test> {
    let rows = CHAPTERS.iter().flat_map(|chapter| chapter.rows);
    let shown = rows.filter_map(|row| match row.how {
        How::Shown(test) => Some(test),
        How::Never(_) => None,
    });
    let others = [
        child::TESTS,
        commands::TESTS,
        control_group::TESTS,
        file_system::TESTS,
        guard::TESTS,
        machine::TESTS,
        crowd::TESTS,
        paths::TESTS,
        succession::TESTS,
        work_lists::TESTS,
    ]
    .concat();
    shown.chain(others).map(|test| (test.name(), test)).collect()
}

fn trial(name: &str, test: Test) -> Trial {
    Trial::ignorable_test(name, move || {
        trials::report(Site::new().and_then(|site| (test.run)(&site)))
    })
}

fn check_rows() -> Result<(), Failed> {
    let rows: Vec<&Row> = CHAPTERS.iter().flat_map(|chapter| chapter.rows).collect();
    let wanted: Vec<String> = CHAPTERS
        .iter()
        .flat_map(|chapter| (1..=chapter.count).map(|it| format!("{}-{it:02}", chapter.letter)))
        .collect();
    let ids: Vec<&str> = rows.iter().map(|row| row.id).collect();
    if ids != wanted {
        return Err(format!("not every id of the catalogue once, in its order: {ids:?}").into());
    }
    let shown = rows.iter().filter(|row| matches!(row.how, How::Shown(_))).count();
    if shown < MOST_ARE_SHOWN {
        return Err(format!("only {shown} of {} rows are shown by a test", rows.len()).into());
    }
    Ok(())
}

fn check_page() -> Result<(), Failed> {
    if page::is_settled("claims-failure-modes.md", &row::page())? {
        Ok(())
    } else {
        Err("docs/claims-failure-modes.md was out of date and is rewritten: commit it".into())
    }
}
