//! An agent ready to start: program, arguments, and an environment that is wholly ours.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Error, Plan, RealAgent, Run};

/// What the commands of an agent find when the test says nothing else.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// For an agent that asks for news where no setting forbids it: the model is its proxy, and refuses.
pub(super) fn no_network(url: &str) -> [(&'static str, String); 4] {
    [
        ("HTTP_PROXY", url.into()),
        ("HTTPS_PROXY", url.into()),
        ("ALL_PROXY", url.into()),
        ("NO_PROXY", "127.0.0.1,localhost".into()),
    ]
}

/// How to start an agent. The environment is complete: nothing is inherited, so that neither an
/// agent outside the test nor a proxy is seen from within.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The program.
    pub program: PathBuf,
    /// Its arguments, without its name.
    pub args: Vec<String>,
    /// All its variables.
    pub env: Vec<(OsString, OsString)>,
    /// Where to start it.
    pub workdir: PathBuf,
}

impl Invocation {
    /// The same for [`std::process`].
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.workdir).env_clear();
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The same as a script, for a shell that a person would start the agent in.
    #[must_use]
    pub fn script(&self) -> String {
        let mut words = vec![format!("cd {} && exec env -i", quoted(self.workdir.as_os_str()))];
        words.extend(
            self.env
                .iter()
                .map(|(name, value)| format!("{}={}", name.to_string_lossy(), quoted(value))),
        );
        words.push(quoted(self.program.as_os_str()));
        words.extend(self.args.iter().map(|word| quoted(word.as_ref())));
        words.join(" ")
    }
}

/// One word of a shell, whatever is in it.
fn quoted(text: &OsStr) -> String {
    format!("'{}'", text.to_string_lossy().replace('\'', r"'\''"))
}

pub(super) fn prepare(real: &RealAgent, plan: Plan, run: &Run<'_>) -> Result<Invocation, Error> {
    let tmp = run.home.join("tmp");
    make_dir(&tmp)?;
    make_dir(run.workdir)?;
    for (path, content) in &plan.files {
        let path = run.home.join(path);
        if let Some(parent) = path.parent() {
            make_dir(parent)?;
        }
        write(&path, content)?;
    }

    let mut env: Vec<(OsString, OsString)> = vec![
        ("HOME".into(), run.home.into()),
        ("TMPDIR".into(), tmp.into()),
        ("TERM".into(), "xterm-256color".into()),
        ("LANG".into(), "C.UTF-8".into()),
        ("USER".into(), "tester".into()),
        ("SHELL".into(), "/bin/bash".into()),
    ];
    env.extend(plan.env.into_iter().map(|(name, value)| (name.into(), value.into())));
    let mut path = OsString::from(PATH);
    for (name, value) in run.env {
        if *name == "PATH" {
            path = value.into();
        } else {
            env.push((name.into(), value.into()));
        }
    }
    let path = with_node(&real.cache, &path);
    // Codex runs commands in a login shell, and /etc/profile begins with a PATH of its own.
    let profile = format!("PATH='{}'\n", path.to_string_lossy());
    write(&run.home.join(".profile"), &profile)?;
    env.push(("PATH".into(), path));
    Ok(Invocation {
        program: real.program.clone(),
        args: plan.args,
        env,
        workdir: run.workdir.to_owned(),
    })
}

/// The agents written in JavaScript ask `PATH` for `node`; they must find the pinned one.
fn with_node(cache: &Path, path: &OsStr) -> OsString {
    let mut joined = cache.join("node_modules/.bin").into_os_string();
    joined.push(":");
    joined.push(path);
    joined
}

fn make_dir(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(|error| Error::Prepare(path.to_owned(), error))
}

fn write(path: &Path, content: &str) -> Result<(), Error> {
    fs::write(path, content).map_err(|error| Error::Prepare(path.to_owned(), error))
}
