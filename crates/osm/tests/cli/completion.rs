//! Completion scripts, as far as the shells themselves can judge.

use std::io::Write;
use std::process::{Command, Stdio};

use osm_testkit::tools;

use crate::harness::Env;

#[test]
fn shells_accept_their_scripts() {
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let script = Env::new().run(&["completion", shell]);
        assert_eq!(script.code, Some(0));
        assert!(script.stdout.contains("whoami"), "{shell}");
        let Ok(program) = tools::program(shell) else {
            assert!(!tools::strict(), "{shell} is not installed");
            continue;
        };
        let mut child = Command::new(program).arg(check).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(script.stdout.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{shell}");
    }
    for shell in ["powershell", "elvish"] {
        assert!(Env::new().run(&["completion", shell]).stdout.contains("whoami"));
    }
}
