//! How results look: the only code that writes to standard output and standard error.
//!
//! Operations return values (`ops/`), commands turn them into [`Text`], [`Table`]s or JSON, and
//! [`Ui`] writes them. Every text for people is escaped on its way out, in `escape.rs` and nowhere
//! else, so that a file name, an imported session or a commit subject cannot control the terminal.
//! JSON and pipes get the exact bytes.

mod author;
pub(crate) mod escape;
mod progress;
mod screen;
mod table;
mod text;
pub(crate) mod time;
mod ui;

pub(crate) use author::author;
pub(crate) use progress::ProgressLine;
pub(crate) use screen::Screen;
pub(crate) use table::{Column, Table, aligned};
pub(crate) use text::{Style, Text, ToText, brief, size};
pub(crate) use ui::Ui;
