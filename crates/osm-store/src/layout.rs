//! Every file and folder of a store on disk: what it is called, and what a name means.
//!
//! ```text
//! {root}/metadata.json  metadata.lock  cleanup.lock  audit.jsonl  audit.1.jsonl …  audit.lock
//! {root}/summaries.txt                         what a list shows of each document, for the next list
//! {root}/queue/<id>.session.write.lock.NNN     held by a process that waits to save
//! {root}/journal/<random>.journal.{json,lock,damaged}   changes that wait for a server
//! {root}/sessions/<id>.session.json            the document
//! {root}/sessions/<id>.session.lock            shared by each process that has it open
//! {root}/sessions/<id>.session.write.lock      held alone during a save
//! {root}/sessions/{archive,quarantine,recovered,trash}/<id>--<word>--<time>--NNN.session.json[.gz]
//! {any lock}.holders                           on Windows only: who holds it
//! {any of these}/.tmp-<pid>-<space>-<random>   being written; stray if its writer is gone
//! ```
//!
//! A name is made from a [`SessionId`] or checked here, and nowhere else. The alphabet of an id has
//! no separator and a namespace has no dot, so no id can name anything outside its folder, hide
//! itself, or pass for a temporary file. Names are compared as text: this module touches no file.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use osm_identity::SessionId;

use crate::backend::ArchiveKind;
use crate::error::{Error, Result};

/// The small shared record.
pub const METADATA: &str = "metadata.json";
/// Held by the process that changes the small shared record.
pub const METADATA_LOCK: &str = "metadata.lock";
/// The one lock of cleanups.
pub const CLEANUP_LOCK: &str = "cleanup.lock";
/// The audit's newest part.
pub const AUDIT: &str = "audit.jsonl";
/// Held by the process that rotates the audit log.
pub const AUDIT_LOCK: &str = "audit.lock";
/// The first lines of all documents, for lists: a copy, and no loss.
pub const SUMMARIES: &str = "summaries.txt";
/// The folder of sessions.
pub const SESSIONS: &str = "sessions";

/// The folder of the processes that wait to change a session.
pub const QUEUE: &str = "queue";

/// The folder of changes that wait for a server.
pub const JOURNAL: &str = "journal";

/// The largest document that is kept or read: opening one takes a few times that much memory.
pub const LARGEST_DOCUMENT: u64 = 512 << 20;

const DOCUMENT: &str = "session.json";
const PRESENCE: &str = "session.lock";
const WRITE: &str = "session.write.lock";
const TEMPORARY: &str = ".tmp-";
/// How many archives may share a stem.
const MOST_ALIKE: u32 = 1000;
/// The longest stem: it leaves room for the rest within the 255 bytes of a file name.
const LONGEST_STEM: usize = 200;

/// Where the files of a store are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
}

impl Layout {
    /// The layout of the store in `root`.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// The folder of everything.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of sessions.
    #[must_use]
    pub fn sessions(&self) -> PathBuf {
        self.root.join(SESSIONS)
    }

    /// The folder of archives of a kind.
    #[must_use]
    pub fn archive(&self, kind: ArchiveKind) -> PathBuf {
        self.sessions().join(kind.name())
    }

    /// The document of a session.
    #[must_use]
    pub fn document(&self, id: &SessionId) -> PathBuf {
        self.sessions().join(document(id))
    }

    /// The presence lock of a session.
    #[must_use]
    pub fn presence_lock(&self, id: &SessionId) -> PathBuf {
        self.sessions().join(presence_lock(id))
    }
}

/// What a session's document is called.
#[must_use]
pub fn document(id: &SessionId) -> String {
    join(id, DOCUMENT)
}

/// What the lock is called that is shared by all who have the session open.
#[must_use]
pub fn presence_lock(id: &SessionId) -> String {
    join(id, PRESENCE)
}

/// What the lock is called that one has who changes the session.
#[must_use]
pub fn write_lock(id: &SessionId) -> String {
    join(id, WRITE)
}

/// The same as [`SessionId::file_name`], for lists of a hundred thousand.
fn join(id: &SessionId, extension: &str) -> String {
    [id.as_str(), ".", extension].concat()
}

/// What an older part of the audit is called; 1 is the newest of them.
#[must_use]
pub fn older_audit(number: u32) -> String {
    format!("audit.{number}.jsonl")
}

/// The session whose document has that name.
#[must_use]
pub fn document_id(name: &str) -> Option<SessionId> {
    SessionId::from_file_name(name, DOCUMENT)
}

/// The session whose presence lock has that name.
#[must_use]
pub fn presence_id(name: &str) -> Option<SessionId> {
    SessionId::from_file_name(name, PRESENCE)
}

/// The session whose lock, of either kind, has that name.
#[must_use]
pub fn lock_id(name: &str) -> Option<SessionId> {
    presence_id(name).or_else(|| SessionId::from_file_name(name, WRITE))
}

/// The document that a lock in the folder of sessions belongs to. Other tools, and older versions,
/// name their locks after names that are not ids: `zombie.session.lock`, `zombie.lock`.
#[must_use]
pub fn document_of_lock(name: &str) -> Option<String> {
    if let Some(id) = lock_id(name) {
        return Some(document(&id));
    }
    let endings = [format!(".{WRITE}"), format!(".{PRESENCE}"), ".lock".to_owned()];
    let stem = endings.iter().find_map(|ending| name.strip_suffix(ending.as_str()))?;
    (!stem.is_empty() && !stem.starts_with('.')).then(|| format!("{stem}.{DOCUMENT}"))
}

/// What the file is called that tells who holds a lock, where the lock file itself cannot.
#[must_use]
pub fn holder_list_beside(lock: &str) -> String {
    format!("{lock}.holders")
}

/// The name of a file that is being written: its writer, and the pid space of that number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Temporary {
    /// The process that writes it.
    pub pid: u32,
    /// The boot and pid namespace of that number, as a digest; 0 if they are not known.
    pub pid_space: u64,
    /// Tells it from all others.
    pub random: u64,
}

impl Temporary {
    /// What the file is called.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{TEMPORARY}{}-{:016x}-{:016x}", self.pid, self.pid_space, self.random)
    }

    /// Reads such a name; exactly what [`name`](Self::name) prints.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(TEMPORARY)?.split('-');
        let pid = parts.next()?.parse().ok()?;
        let pid_space = u64::from_str_radix(parts.next()?, 16).ok()?;
        let random = u64::from_str_radix(parts.next()?, 16).ok()?;
        let found = Self { pid, pid_space, random };
        (parts.next().is_none() && found.name() == name).then_some(found)
    }
}

/// The stem of an archive: the session, the reason, and the time (UTC).
#[must_use]
pub fn stem(id: &SessionId, word: &str, when: Timestamp) -> String {
    format!("{id}--{word}--{}", when.strftime("%Y-%m-%dT%H-%M-%SZ"))
}

/// The names to try for a stem, in order; the first that is free is taken.
pub fn archive_names(kind: ArchiveKind, stem: &str) -> Result<impl Iterator<Item = String>> {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    let fits = (1..=LONGEST_STEM).contains(&stem.len());
    if !fits || stem.starts_with('.') || !stem.bytes().all(safe) {
        return Err(Error::InvalidArchiveName(stem.to_owned()));
    }
    let compressed = if is_compressed(kind) { ".gz" } else { "" };
    Ok((0..MOST_ALIKE).map(move |number| format!("{stem}--{number:03}.{DOCUMENT}{compressed}")))
}

/// Whether archives of a kind are compressed.
#[must_use]
pub fn is_compressed(kind: ArchiveKind) -> bool {
    kind == ArchiveKind::Trash
}

/// Checks the name of an archived document.
///
/// It must be the name alone: no separator of any platform, nothing hidden, our extension.
pub fn check_archive_name(kind: ArchiveKind, name: &str) -> Result<()> {
    let plain = !name.starts_with('.')
        && !name.contains(|c: char| matches!(c, '/' | '\\' | ':') || c.is_control());
    if plain && bare(kind, name).is_some() {
        Ok(())
    } else {
        Err(Error::ArchiveNotFound(name.to_owned()))
    }
}

/// The session that an archive was, if its name tells.
///
/// Read from the right: an id may itself hold everything that a stem does.
#[must_use]
pub fn archived_id(kind: ArchiveKind, name: &str) -> Option<SessionId> {
    let (rest, number) = bare(kind, name)?.rsplit_once("--")?;
    let (rest, time) = rest.rsplit_once("--")?;
    let (id, _word) = rest.rsplit_once("--")?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_time = time.len() == "2025-11-26T14-03-00Z".len() && time.ends_with('Z');
    (number.len() == 3 && digits(number) && is_time).then(|| id.parse().ok())?
}

/// What the name of an archive begins with, without the number that makes it unlike others.
#[must_use]
pub fn archive_stem(kind: ArchiveKind, name: &str) -> Option<&str> {
    bare(kind, name)?.rsplit_once("--").map(|(stem, _)| stem)
}

/// The name of an archive without its extension.
fn bare(kind: ArchiveKind, name: &str) -> Option<&str> {
    let name = if is_compressed(kind) { name.strip_suffix(".gz")? } else { name };
    name.strip_suffix(DOCUMENT)?.strip_suffix('.').filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SessionId {
        text.parse().expect("a valid id")
    }

    #[test]
    fn names_and_ids_map_one_to_one() {
        for text in ["a", "", "tmux--0_1", "x.session", "x.session.write", "_--."] {
            let id = SessionId::explicit(text.as_ref());
            let (document, presence, write) = (document(&id), presence_lock(&id), write_lock(&id));
            let id = Some(id);
            assert_eq!(
                [&document, &presence, &write].map(|name| document_id(name)),
                [id.clone(), None, None]
            );
            assert_eq!(
                [&document, &presence, &write].map(|name| presence_id(name)),
                [None, id.clone(), None]
            );
            assert_eq!(
                [&document, &presence, &write].map(|name| lock_id(name)),
                [None, id.clone(), id]
            );
        }
        for (lock, document) in [
            ("zombie.lock", Some("zombie.session.json")),
            ("zombie.session.lock", Some("zombie.session.json")),
            ("zombie.session.write.lock", Some("zombie.session.json")),
            (".lock", None),
            (".tmp-1.lock", None),
            ("zombie.session.json", None),
        ] {
            assert_eq!(document_of_lock(lock).as_deref(), document, "{lock}");
        }
        for foreign in [
            "",
            ".",
            "..",
            "archive",
            "session.json",
            ".session.json",
            "x.session.json",
            "ex--a.session.json~",
            ".ex--a.session.json",
            "ex--a b.session.json",
            "ex--a.session.json",
            "ex--a_00.session.json",
            ".tmp-1-2-3",
        ] {
            assert_eq!(document_id(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn temporary_names_are_recognised_exactly() {
        let temporary = Temporary { pid: 4711, pid_space: 0xabc, random: u64::MAX };
        assert_eq!(temporary.name(), ".tmp-4711-0000000000000abc-ffffffffffffffff");
        assert_eq!(Temporary::parse(&temporary.name()), Some(temporary));
        for foreign in [
            ".tmp-",
            ".tmp-1-2-3",
            ".tmp-x-0000000000000000-0000000000000000",
            ".tmp-+1-0000000000000000-0000000000000000",
            ".tmp-session-123",
            "tmp-1-0000000000000000-0000000000000000",
            ".tmp-1-0000000000000000-0000000000000000-",
            ".tmp-01-0000000000000000-0000000000000000",
        ] {
            assert_eq!(Temporary::parse(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn archive_names_lead_back_to_the_session() {
        let when = "2025-11-26T14:03:00.5Z".parse().expect("a time");
        let stem = stem(&id("ex--a--reset--b_a2"), "reset", when);
        let names: Vec<_> =
            archive_names(ArchiveKind::Archive, &stem).expect("a good stem").collect();
        assert_eq!(names.len(), 1000);
        assert_eq!(names[7], "ex--a--reset--b_a2--reset--2025-11-26T14-03-00Z--007.session.json");
        assert_eq!(archived_id(ArchiveKind::Archive, &names[7]), Some(id("ex--a--reset--b_a2")));
        assert_eq!(archived_id(ArchiveKind::Trash, &names[7]), None, "the trash is compressed");

        let trash =
            archive_names(ArchiveKind::Trash, &stem).expect("a good stem").next().expect("a name");
        assert!(trash.ends_with("--000.session.json.gz"));
        assert_eq!(archived_id(ArchiveKind::Trash, &trash), Some(id("ex--a--reset--b_a2")));
        assert_eq!(archived_id(ArchiveKind::Archive, "mine.session.json"), None);
        assert_eq!(archived_id(ArchiveKind::Archive, "ex--a--b--c--000.session.json"), None);
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in [
            "",
            ".",
            "..",
            "../x.session.json",
            "/etc/x.session.json",
            "a/b.session.json",
            "a\\b.session.json",
            "C:x.session.json",
            ".x.session.json",
            ".session.json",
            "x",
            "x.session.json.gz",
            "x\0.session.json",
        ] {
            assert!(
                matches!(
                    check_archive_name(ArchiveKind::Archive, name),
                    Err(Error::ArchiveNotFound(_))
                ),
                "{name}"
            );
        }
        assert!(check_archive_name(ArchiveKind::Archive, "anything at all.session.json").is_ok());
        assert!(check_archive_name(ArchiveKind::Trash, "x.session.json.gz").is_ok());
        for stem in ["", ".x", "a/b", "a b", "..", &"x".repeat(201)] {
            assert!(
                matches!(
                    archive_names(ArchiveKind::Archive, stem).err(),
                    Some(Error::InvalidArchiveName(_))
                ),
                "{stem}"
            );
        }
    }
}
