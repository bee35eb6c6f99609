//! Values as databases store them: JSON, numbers and short texts.

use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::claim::Mode;
use crate::epoch::Epoch;
use crate::error::{Corruption, Result};
use crate::owner::{Owner, OwnerId};
use crate::resource::{Link, Resource};

pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts and numbers are JSON")
}

pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|_| Corruption::Value("a value is malformed").into())
}

/// An owner, from its number and its JSON.
pub(super) fn owner(id: i64, who: &str) -> Result<Arc<Owner>> {
    Ok(Arc::new(Owner { id: OwnerId(id), who: parse(who)? }))
}

pub(super) fn number(epoch: Epoch) -> i64 {
    i64::try_from(epoch.0).unwrap_or(i64::MAX)
}

/// The link of a resource.
pub(super) fn link(resource: &Resource) -> Option<String> {
    resource.link().map(|Link { device, inode }| format!("{device}:{inode}"))
}

pub(super) fn read_link(text: &str) -> Result<Link> {
    let numbers = text.split_once(':').map(|(device, inode)| (device.parse(), inode.parse()));
    match numbers {
        Some((Ok(device), Ok(inode))) => Ok(Link { device, inode }),
        _ => Err(Corruption::Value("a link is malformed").into()),
    }
}

pub(super) fn read_mode(bits: i64) -> Result<Mode> {
    Mode::from_bits(bits).ok_or_else(|| Corruption::Value("a mode is unknown").into())
}

pub(super) fn read_time(text: &str) -> Result<Timestamp> {
    Timestamp::from_str(text).map_err(|_| Corruption::Value("a time is malformed").into())
}

pub(super) fn read_resource(bytes: &[u8], link: Option<Link>) -> Result<Resource> {
    Resource::from_stored(bytes, link)
        .map_err(|_| Corruption::Value("a resource has no name").into())
}
