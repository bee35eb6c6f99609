//! Bytes of the operating systems, made into values.
//!
//! Nothing here touches a system: every parser is compiled and tested on every platform, against
//! captured bytes, so that a layout of macOS or Windows is checked on Linux too. Input is hostile:
//! a process chooses its own name, arguments and environment.

pub mod linux_stat;
pub mod nul_list;
