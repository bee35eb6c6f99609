//! What is kept in the sessions that are measured.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use jiff::Timestamp;
use osm_identity::{Pid, SessionId, System};
use osm_store::backend::{Holder, Wait};
use osm_store::{FsBackend, Key, Session, Store};
use osm_testkit::bench::Result;
use serde_json::{Value, json};

/// A state: the texts of some files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    pub(crate) name: &'static str,
    files: usize,
    /// Bytes of each file's text: what one command changes.
    pub(crate) text: u32,
}

/// From a few notes to more than any model reads.
pub(crate) const STATES: [State; 3] = [
    State { name: "10 kB", files: 5, text: 2_000 },
    State { name: "1 MB", files: 100, text: 10_000 },
    State { name: "20 MB", files: 2_000, text: 10_000 },
];

/// What is in each of very many.
pub(crate) const NOTE: State = State { name: "1 kB", files: 1, text: 1_000 };

/// How a state is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Each text under a key of its own: a change hands over what changed.
    Keys,
    /// All of them in one list under one key: a change hands over all of them.
    List,
}

impl State {
    /// Puts the whole state into a session, with one command.
    pub(crate) fn fill(self, session: &mut Session, shape: Shape) -> Result<()> {
        let files = (0..self.files).map(|number| self.file(number, 0));
        match shape {
            Shape::Keys => {
                for (number, file) in files.enumerate() {
                    session.set(key(number), file)?;
                }
            }
            Shape::List => session.set(list_key(), files.collect())?,
        }
        session.record("bench", "fill")?;
        Ok(())
    }

    /// Replaces the text of one file, with one command.
    pub(crate) fn change(self, session: &mut Session, shape: Shape, edition: usize) -> Result<()> {
        let number = edition % self.files;
        let file = self.file(number, edition);
        match shape {
            Shape::Keys => session.set(key(number), file)?,
            Shape::List => {
                let mut files = session.get(&list_key())?.ok_or("the state is lost")?;
                files[number] = file;
                session.set(list_key(), files)?;
            }
        }
        session.record("bench", &format!("edit {number}"))?;
        Ok(())
    }

    fn file(self, number: usize, edition: usize) -> Value {
        let line = format!("line of file {number} in edition {edition}: \"quoted\"\n");
        let text: String = line.chars().cycle().take(self.text as usize).collect();
        json!({"id": number, "path": format!("src/file_{number}.rs"), "text": text})
    }
}

fn key(number: usize) -> Key {
    Key::Shared(format!("file_{number}"))
}

fn list_key() -> Key {
    Key::Shared("files".into())
}

/// The store in a folder, opened as a program does it.
pub(crate) fn store(root: &Path) -> Result<Store> {
    let backend = Arc::new(FsBackend::open(root, Arc::new(Timestamp::now))?);
    Ok(Store::new(backend, holder()))
}

/// A session, opened as a program does it.
pub(crate) fn open(root: &Path, name: &str) -> Result<Session> {
    Ok(store(root)?.open(&id(name), Wait::USUAL)?)
}

pub(crate) fn id(name: &str) -> SessionId {
    SessionId::explicit(name.as_ref())
}

/// This process. A program finds out once who it is, which the benchmark of identity measures.
pub(crate) fn holder() -> Holder {
    static HOLDER: LazyLock<Holder> = LazyLock::new(|| {
        let pid = Pid(std::process::id());
        Holder::new(&System, pid, "bench".into(), Timestamp::now(), "bench".into())
    });
    HOLDER.clone()
}
