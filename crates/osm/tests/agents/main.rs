//! Coding agents with osm's hooks: what is installed, what a hook answers, `osm mcp`, and the
//! real agents.

#[macro_use]
extern crate osm_testkit; // Its #[test]: a test without its tool is ignored.

#[cfg(target_os = "linux")]
mod hook;
#[cfg(unix)]
mod install;
#[cfg(target_os = "linux")]
mod mcp;
#[cfg(target_os = "linux")]
mod mcp_client;
#[cfg(target_os = "linux")]
mod mcp_official;
#[cfg(target_os = "linux")]
mod real_agent;
#[cfg(unix)]
mod site;

fn main() -> std::process::ExitCode {
    osm_testkit::trials::run()
}
