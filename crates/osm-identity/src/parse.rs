//! Bytes of the operating systems, made into values.
//!
//! Nothing here touches a system: every parser is compiled and tested on every platform, against
//! captured bytes, so that a layout of macOS or Windows is checked on Linux too. Input is hostile:
//! a process chooses its own name, arguments and environment.

pub mod bsd_kinfo;
pub mod command_line;
pub mod darwin_kinfo;
pub mod git;
pub mod kinfo;
pub mod linux_stat;
pub mod linux_status;
pub mod mintty;
pub mod nul_list;
pub mod proc_mount;
pub mod procargs;
pub mod time_offsets;
pub mod toolhelp;
