//! A row of the table: a failure, what must hold instead, and how that is known.

use std::fmt::Write as _;

use osm_testkit::tools::Stop;

use super::site::Site;
use super::{acquisition, identity, liveness, machine, release};

/// What a test comes to; what does not hold panics, as in any test.
pub(crate) type Outcome = Result<(), Stop>;

/// A test, which may stand behind several rows.
#[derive(Clone, Copy)]
pub(crate) struct Test {
    pub(crate) run: fn(&Site) -> Outcome,
    path: fn() -> &'static str,
}

/// A test that is named after its function.
macro_rules! test {
    ($run:ident) => {
        $crate::linux::row::Test::new($run, || std::any::type_name_of_val(&$run))
    };
}
pub(crate) use test;

impl Test {
    pub(crate) const fn new(run: fn(&Site) -> Outcome, path: fn() -> &'static str) -> Self {
        Self { run, path }
    }

    /// Its file and function.
    pub(crate) fn name(&self) -> &'static str {
        let path = (self.path)();
        path.split_once("::linux::").map_or(path, |(_, name)| name)
    }
}

/// One failure mode.
pub(crate) struct Row {
    /// Its id in the catalogue of failures.
    pub(crate) id: &'static str,
    /// What must hold.
    pub(crate) holds: &'static str,
    /// How that is known.
    pub(crate) how: How,
}

/// How it is known that something holds.
pub(crate) enum How {
    /// This test shows it.
    Shown(Test),
    /// The failure cannot occur, for this reason.
    Never(&'static str),
}

pub(crate) const fn shown(id: &'static str, holds: &'static str, test: Test) -> Row {
    Row { id, holds, how: How::Shown(test) }
}

pub(crate) const fn never(id: &'static str, holds: &'static str, reason: &'static str) -> Row {
    Row { id, holds, how: How::Never(reason) }
}

/// A part of the catalogue.
pub(crate) struct Chapter {
    pub(crate) title: &'static str,
    /// What its ids begin with, and how many there are.
    pub(crate) letter: char,
    pub(crate) count: usize,
    pub(crate) rows: &'static [Row],
}

pub(crate) const CHAPTERS: &[Chapter] = &[
    Chapter { title: "Identity of the caller", letter: 'I', count: 21, rows: identity::ROWS },
    Chapter { title: "Liveness of owners", letter: 'L', count: 23, rows: liveness::ROWS },
    Chapter { title: "Claiming", letter: 'C', count: 22, rows: acquisition::ROWS },
    Chapter { title: "Releasing and losing claims", letter: 'R', count: 21, rows: release::ROWS },
    Chapter { title: "Machine and operating system", letter: 'X', count: 10, rows: machine::ROWS },
];

const HEAD: &str = "# Failure modes of claims

Systems in which several agents share work fail in known ways. Each row says what must hold instead, and
names the test with real processes that shows it, or the reason why the failure cannot occur.
`cargo test -p osm --test claims` runs these tests and writes this page.
";

/// The page.
pub(crate) fn page() -> String {
    let mut text = String::from(HEAD);
    for chapter in CHAPTERS {
        write!(
            text,
            "\n## {}\n\n| id | what must hold | shown by |\n|---|---|---|\n",
            chapter.title
        )
        .expect("writing to a string succeeds");
        for row in chapter.rows {
            let how = match &row.how {
                How::Shown(test) => format!("`{}`", test.name()),
                How::Never(reason) => format!("cannot occur: {reason}"),
            };
            writeln!(text, "| {} | {} | {how} |", row.id, row.holds)
                .expect("writing to a string succeeds");
        }
    }
    text
}
