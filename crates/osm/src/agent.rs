//! Coding agents as front ends: what their hooks say, and how each of them is answered.
//!
//! Everything here is a pure function of bytes: a payload becomes an [`Event`], a [`Verdict`] becomes
//! the [`Answer`] in the dialect of the agent, and the text of a settings file becomes one with osm's hooks.
//! The facts about each agent are a row in [`table::AGENTS`]. What a hook decides is `ops/agent/hook.rs`, and
//! which files are written is `ops/agent/install.rs`.

pub(crate) mod answer;
pub(crate) mod codex_config;
pub(crate) mod codex_trust;
pub(crate) mod event;
pub(crate) mod files;
pub(crate) mod identity;
pub(crate) mod json_text;
pub(crate) mod patch;
pub(crate) mod shell;
pub(crate) mod table;

pub(crate) use answer::{Answer, Verdict};
pub(crate) use event::{Event, Moment};
pub(crate) use table::Agent;
