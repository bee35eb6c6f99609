//! A process that gives itself another name keeps its claims, whatever it was taken for before.

use osm_testkit::{tools, trials};

use crate::harness::Env;

/// Claims under one name, and uses the claim under another one, which gives its session another id.
const STORY: &str = "
import ctypes, subprocess, sys
osm, before, after = sys.argv[1:]
def run(*words):
    return subprocess.run([osm, *words], check=True, text=True, stdout=subprocess.PIPE).stdout
def name(text):
    ctypes.CDLL(None).prctl(15, text.encode(), 0, 0, 0)
name(before)
first = run('session', 'id')
run('claim', 'work', '--scope', 's')
name(after)
assert first != run('session', 'id'), first
run('claim', 'check', 'work', '--scope', 's')
run('release', 'work', '--scope', 's')
";

#[test]
fn a_process_that_renamed_itself_keeps_its_claims() {
    let setsid = trials::need(tools::program("setsid"));
    let python = trials::need(tools::program("python3"));
    for (before, after) in [("claude", "server"), ("server", "claude"), ("aider", "server")] {
        let env = Env::new();
        let osm = env.command(&[]);
        let mut command = std::process::Command::new(&setsid);
        command.arg("--wait").arg(&python).args(["-c", STORY]).arg(osm.get_program());
        command.args([before, after]).env_clear().stdin(std::process::Stdio::null());
        command.envs(osm.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command.output().expect("setsid can be started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{before} to {after}: {said}");
    }
}
