//! The official clients of the protocol against `osm mcp`: that of Python, and the inspector.

use std::path::PathBuf;
use std::process::Command;

use osm_testkit::agents::cache_dir;
use osm_testkit::tools::Skipped;
use osm_testkit::trials;
use serde_json::Value;

use super::site::{Ran, Site, finish, program};

/// A program that `scripts/install-agents` installs.
fn installed(name: &str, path: &str) -> PathBuf {
    let program = cache_dir().join(path);
    let missing = || Skipped(format!("{name} is not installed: run scripts/install-agents {name}"));
    trials::need(program.is_file().then_some(program).ok_or_else(missing))
}

/// A site in which another session holds `held`.
fn site() -> Site {
    let site = Site::new();
    site.ok(&["claim", "held", "--session", "holder"]);
    site
}

#[test]
fn the_python_client() {
    let python = installed("mcp", "mcp/bin/python");
    let site = site();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/agents/clients/client.py");
    let mut command = site.command(&python);
    command.args(["-W", "ignore", script]).arg(program()).arg(site.work());
    let Ran { code, stdout, stderr } = finish(command.output().unwrap());
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let lines: Vec<&str> = stdout.lines().collect();
    let [server, tools, claimed, refused, error, updated, read, prompt] = lines[..] else {
        panic!("{stdout}{stderr}");
    };
    assert_eq!(server, "server osm");
    assert!(tools.starts_with("tools whoami status claim next release"), "{tools}");
    assert_eq!(claimed, "claimed False T-1");
    assert_eq!(refused, "refused True held");
    assert!(error.contains("unknown argument \"resource\""), "{error}");
    assert_eq!((updated, read, prompt), ("updated osm://claims", "read True", "prompt True"));
}

#[test]
fn the_inspector() {
    let inspector = installed("inspector", "node_modules/.bin/mcp-inspector");
    let site = site();
    let inspect = |method: &[&str]| -> Value {
        let mut command: Command = site.command(&inspector);
        let path = format!("{}:{}", inspector.parent().unwrap().display(), site.search_path());
        command.env("PATH", path).env("OSM_SESSION", "inspector").arg("--cli");
        command.arg(program()).arg("mcp").arg("--method").args(method);
        let ran = finish(command.output().unwrap());
        serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|_| panic!("{method:?}: {}{}", ran.stdout, ran.stderr))
    };
    let tools = inspect(&["tools/list"]);
    assert_eq!(tools["tools"][0]["name"], "whoami");
    let call = |resource: &str| {
        let argument = format!("resources=[\"{resource}\"]");
        inspect(&["tools/call", "--tool-name", "claim", "--tool-arg", &argument])
    };
    assert_eq!(call("T-1")["structuredContent"]["granted"], true);
    let refused = call("held");
    assert_eq!(
        (&refused["isError"], &refused["structuredContent"]["reason"]),
        (&true.into(), &"held".into())
    );
    let claims = inspect(&["resources/read", "--uri", "osm://claims"]);
    assert!(claims["contents"][0]["text"].as_str().unwrap().contains("T-1"), "{claims}");
    let prompts = inspect(&["prompts/list"]);
    assert!(prompts["prompts"].as_array().unwrap().len() >= 20, "{prompts}");
}
