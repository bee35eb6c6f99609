//! How much a cleanup removes, in words: for the question before it, and for the line after it.

use osm_store::backend::ArchiveKind;
use osm_store::cleanup::Report;
use osm_store::retention::Mode;

use crate::render::size;

/// How many items a question lists.
const LISTED: usize = 20;

/// The name of a kind of archive for one, and for several.
const KINDS: [(ArchiveKind, &str, &str); 4] = [
    (ArchiveKind::Archive, "archive", "archives"),
    (ArchiveKind::Quarantine, "damaged document", "damaged documents"),
    (ArchiveKind::Recovered, "recovered document", "recovered documents"),
    (ArchiveKind::Trash, "trash entry", "trash entries"),
];

/// The question before a cleanup: what would go, one item on each line, and how much.
pub(super) fn question(report: &Report) -> String {
    let removed = report
        .removed
        .iter()
        .map(|it| format!("would remove {}: {}, {}", it.id.label(), size(it.size), it.reason));
    let discarded = report.discarded.iter().map(|it| {
        format!("would remove {}/{}: {}, {}", it.kind.name(), it.name, size(it.size), it.reason)
    });
    let all = report.removed.len() + report.discarded.len();
    let mut lines: Vec<String> = removed.chain(discarded).take(LISTED).collect();
    if all > LISTED {
        lines.push(format!("… and {} more; --dry-run lists all", all - LISTED));
    }
    lines.push(format!("{}?", summary(report)));
    lines.join("\n")
}

/// What a cleanup does, with numbers and sizes: `Move 2 sessions (3 kB) to the trash`.
fn summary(report: &Report) -> String {
    let bytes: u64 = report.removed.iter().map(|it| it.size).sum();
    let sessions = counted(report.removed.len(), bytes, "session", "sessions");
    let mut gone: Vec<String> = KINDS
        .iter()
        .filter_map(|(kind, one, several)| {
            let sizes = report.discarded.iter().filter(|it| it.kind == *kind).map(|it| it.size);
            counted(sizes.clone().count(), sizes.sum(), one, several)
        })
        .collect();
    let moved = match (report.mode, sessions) {
        (Mode::Clean, Some(sessions)) => Some(format!("Move {sessions} to the trash")),
        (_, sessions) => {
            gone.splice(0..0, sessions);
            None
        }
    };
    let gone = match gone.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        [most @ .., last] => Some(format!("{} and {last}", most.join(", "))),
    };
    match (moved, gone) {
        (Some(moved), Some(gone)) => format!("{moved}, and delete {gone} for good"),
        (Some(moved), None) => moved,
        (None, gone) => format!("Delete {} for good", gone.unwrap_or_else(|| "nothing".into())),
    }
}

fn counted(number: usize, bytes: u64, one: &str, several: &str) -> Option<String> {
    let name = if number == 1 { one } else { several };
    (number > 0).then(|| format!("{number} {name} ({})", size(bytes)))
}
