//! Which terminal or coding-agent session is this process part of?
pub mod parse;
mod platform;
mod process;

pub use platform::System;
pub use process::{
    FixedTable, Host, Pid, Process, ProcessSource, ReadError, StartTime, State, Terminal,
};
