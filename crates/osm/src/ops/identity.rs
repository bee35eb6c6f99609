//! Which session this is and why, and which session a name means.

use std::path::PathBuf;

use osm_identity::{Detection, Handle};
use osm_store::layout::Layout;

use crate::invocation::{Invocation, StoreName};

pub mod name;

/// The current session.
#[derive(Debug)]
pub struct Identity {
    /// The session, how it was found, and all its candidates.
    pub detection: Detection,
    /// Its handle.
    pub handle: Handle,
    /// Where its state is.
    pub place: Place,
}

/// Where the state of a session is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In this file, which need not exist yet.
    File(PathBuf),
    /// On this server.
    Server(String),
    /// In the memory of the process.
    Memory,
    /// Nowhere: no home folder or no such store.
    Nowhere,
}

/// Explains the current session.
#[must_use]
pub fn explain(invocation: &Invocation) -> Identity {
    let detection = invocation.explain();
    let place = match (invocation.store_name(), invocation.home()) {
        (Ok(StoreName::Memory), _) => Place::Memory,
        (Ok(StoreName::Postgres), _) => match invocation.database() {
            Ok(server) => Place::Server(server.to_string()),
            Err(_) => Place::Nowhere,
        },
        (Ok(StoreName::Fs), Ok(home)) => Place::File(Layout::new(&home).document(&detection.id)),
        _ => Place::Nowhere,
    };
    Identity { handle: Handle::of(&detection.id), place, detection }
}
