//! The table of agents, without running any.

use std::path::Path;

use osm_testkit::agents::{AGENTS, Agent, Error, Home, Resumes, Run};
use osm_testkit::model::ScriptedModel;

#[test]
fn every_agent_has_a_pinned_version() {
    for agent in &AGENTS {
        let pinned = agent.pinned();
        assert!(matches!(pinned.registry, "npm" | "pypi"), "{pinned:?}");
        assert!(pinned.version.split('.').all(|n| n.parse::<u32>().is_ok()), "{pinned:?}");
        assert_eq!(Agent::named(agent.name).unwrap().name, agent.name);
    }
}

#[test]
fn a_missing_agent_says_how_to_get_it() {
    let missing = Agent::named("codex").unwrap().installed(Path::new("/nonexistent")).unwrap_err();
    let text = missing.to_string();
    assert!(text.starts_with("codex "), "{text}");
    assert!(text.ends_with("run scripts/install-agents codex"), "{text}");
}

/// An installed agent is looked for by its files alone, so files make one.
fn installed(agent: &'static Agent, cache: &Path) -> osm_testkit::agents::RealAgent {
    let pinned = agent.pinned();
    let package = cache.join("node_modules").join(pinned.package);
    std::fs::create_dir_all(&package).unwrap();
    let manifest = format!("{{\"version\": \"{}\"}}", pinned.version);
    std::fs::write(package.join("package.json"), manifest).unwrap();
    std::fs::create_dir_all(cache.join("node_modules/.bin")).unwrap();
    std::fs::write(cache.join("node_modules/.bin").join(agent.name), "").unwrap();
    agent.installed(cache).unwrap()
}

#[cfg(unix)]
#[test]
fn an_agent_starts_with_an_environment_of_its_own() {
    let cache = tempfile::tempdir().unwrap();
    let home = Home::new().unwrap();
    let work = home.join("work");
    let model = ScriptedModel::start().unwrap();
    let commands = ["true".to_owned()];
    let script = model.script(&commands);
    for agent in AGENTS.iter().filter(|agent| agent.pinned().registry == "npm") {
        let real = installed(agent, cache.path());
        let env = [("PATH", "/opt/osm:/bin"), ("EXTRA", "1")];
        let run = Run { env: &env, ..Run::new(&home, &work, &commands) };
        let invocation = real.prepare(&model, &script, &run).unwrap();
        let get = |name: &str| {
            let found: Vec<_> = invocation.env.iter().filter(|(n, _)| n == name).collect();
            assert_eq!(found.len(), 1, "{name} for {}", agent.name);
            found[0].1.to_str().unwrap().to_owned()
        };
        assert_eq!(get("HOME"), home.to_str().unwrap());
        assert_eq!(get("EXTRA"), "1");
        assert!(get("PATH").ends_with("/node_modules/.bin:/opt/osm:/bin"), "{}", get("PATH"));
        assert!(invocation.args.contains(&script.prompt()), "{:?}", invocation.args);
        // Every address that an agent is given is the model's.
        for (name, value) in &invocation.env {
            let value = value.to_str().unwrap();
            assert!(!value.contains("://") || value.starts_with(&model.url()), "{name:?}={value}");
        }
    }
}

#[test]
fn a_conversation_that_cannot_be_resumed_is_refused() {
    let cache = tempfile::tempdir().unwrap();
    let home = Home::new().unwrap();
    let model = ScriptedModel::start().unwrap();
    let agent = Agent::named("opencode").unwrap();
    assert_eq!(agent.resumes, Resumes::WithoutTerminal);
    let real = installed(agent, cache.path());
    let run = Run { resume: true, terminal: true, ..Run::new(&home, &home, &[]) };
    let script = model.script::<&str>(&[]);
    assert!(matches!(real.prepare(&model, &script, &run), Err(Error::CannotResume("opencode"))));
}

#[cfg(target_os = "linux")]
#[test]
fn a_home_takes_its_processes_with_it() {
    let home = Home::new().unwrap();
    let mut sleeper = std::process::Command::new("sleep");
    let mut sleeper = sleeper.arg("60").env_clear().env("HOME", &*home).spawn().unwrap();
    // The environment is readable once the program has been loaded.
    let environ = format!("/proc/{}/environ", sleeper.id());
    while !std::fs::read(&environ).unwrap().starts_with(b"HOME=") {
        std::thread::yield_now();
    }
    drop(home);
    assert!(!sleeper.wait().unwrap().success());
}
