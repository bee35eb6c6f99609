//! `osm script FILE`: run a script. Naming it on the command line is consent to run it; no trust is needed.

use std::ffi::OsString;
use std::path::Path;
use std::rc::Rc;

use crate::cli::ScriptArguments;
use crate::error::{CommandError, Exit};
use crate::invocation::Invocation;
use crate::ops::goal::module_paths;
use crate::render::Ui;
use crate::repl::{Catalogue, CommandFailure, CommandSource, Repl, ScriptLauncher};
use crate::session_host::SessionHost;

use super::mode::{command_source, settings};

pub(super) fn run(
    arguments: &ScriptArguments,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let (file, words) = file_and_arguments(&arguments.words)?;
    let host = Rc::new(SessionHost::open(invocation, settings(&arguments.mode, invocation), ui)?);
    let path = host.absolute(file);
    let name = file.display().to_string();
    if !path.exists() {
        let message = format!("script not found: {}", path.display());
        return Err(CommandError::failed("script_not_found", message)
            .with_hint("check the path; it is relative to the working directory")
            .exiting(Exit::NotFound));
    }
    let paths = module_paths(invocation);
    let launcher = ScriptLauncher::file(Rc::clone(&host), path, &words, paths, arguments.test);
    let failure = |error: osm_script::ScriptError| CommandFailure::from(error).into_error();
    let runtime = launcher.launch().map_err(failure)?;
    if host.session().is_changed() {
        host.session().record("script", &format!("script {name}"))?;
    }
    let mode = ScriptLauncher::initial_mode(&runtime).map_err(failure)?;
    let source = command_source(&arguments.mode, invocation);
    let enters = arguments.interactive || source != CommandSource::Stdin;
    match mode.filter(|_| enters && !arguments.test) {
        Some(mode) => {
            let catalogue = Catalogue::of(invocation);
            Repl::new(launcher, runtime, catalogue, source, arguments.mode.fail_fast).run(&mode)
        }
        None => match host.screen.take_failure() {
            Some(failure) => Err(failure),
            None => host.close(),
        },
    }
}

/// The script, and its arguments as text.
fn file_and_arguments(words: &[OsString]) -> Result<(&Path, Vec<String>), CommandError> {
    let (file, words) = words.split_first().expect("the parser requires FILE");
    let text = |word: &OsString| {
        let not_text = || {
            let message = format!("argument of the script is not valid UTF-8: {}", word.display());
            CommandError::failed("usage", message).exiting(Exit::Usage)
        };
        word.to_str().map(str::to_owned).ok_or_else(not_text)
    };
    Ok((Path::new(file), words.iter().map(text).collect::<Result<_, _>>()?))
}
