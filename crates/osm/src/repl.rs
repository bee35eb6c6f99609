//! The read-eval-print loop of a mode: read a line, run the command, save the session.
//!
//! The loop knows nothing of terminals: lines come from a [`LineSource`]. Before each command it
//! refreshes the session, because other processes may have changed it. After each command it saves the
//! changes together with the line that made them. A command that fails changes nothing. A save that
//! fails is reported and retried after the next command; a session that is still unsaved at the end
//! makes the program fail.

mod builtins;
mod catalogue;
mod complete;
mod failure;
mod highlight;
mod history;
mod launcher;
mod prompt;
mod running;
mod signals;
mod source;
mod syntax;
mod terminal;
mod typeahead;

use std::rc::Rc;
use std::sync::Arc;

use osm_script::{Dispatch, Modes, Runtime};
use osm_store::{Kept, Key};

use crate::config::nearest::nearest;
use crate::error::{CommandError, Exit};
use crate::script_host;
use crate::session_host::{SessionHost, advice};

pub(crate) use self::catalogue::{BuiltInScript, Catalogue};
pub(crate) use self::failure::CommandFailure;
pub(crate) use self::launcher::ScriptLauncher;
use self::running::RunningScript;
use self::signals::{Signals, Watch};
use self::source::{Commands, Input, LineSource, Lines};
use self::syntax::Syntax;
use self::terminal::Terminal;
use osm_script::words::{Line, Open, text_after_first};

/// Where the commands come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandSource<'a> {
    /// A user at a terminal, with a line editor.
    Terminal,
    /// A user at a terminal whose standard output is redirected. The line editor draws on standard
    /// output, so lines are read without it.
    Redirected,
    /// Standard input, which is not a terminal: one command on each line.
    Stdin,
    /// The options `-c` of the command line.
    Arguments(&'a [String]),
}

/// A running loop.
pub(crate) struct Repl {
    host: Rc<SessionHost>,
    /// The script of the current mode.
    running: RunningScript,
    /// Scripts whose modes were left for those of another one.
    left: Vec<RunningScript>,
    catalogue: Rc<Catalogue>,
    source: Box<dyn LineSource>,
    signals: Arc<Signals>,
    fail_fast: bool,
    /// Whether a command failed.
    failed: bool,
    /// The loop ends before the next line.
    finished: bool,
    /// Commands whose changes are not saved yet, because saving failed.
    unsaved: Vec<String>,
}

impl Repl {
    /// A loop over a script that `launcher` has started.
    pub(crate) fn new(
        launcher: ScriptLauncher,
        runtime: Rc<Runtime>,
        catalogue: Catalogue,
        source: CommandSource,
        fail_fast: bool,
    ) -> Self {
        let host = launcher.host();
        let (saver, stop) = (host.saver.clone(), Arc::clone(&host.stop));
        let progress = host.screen.progress_line();
        let final_save = move || {
            progress.erase();
            drop(saver.save_or_rescue());
        };
        let watch =
            if source == CommandSource::Terminal { Watch::Interactive } else { Watch::Batch };
        let signals = Signals::watch(watch, stop, Box::new(final_save));
        let source: Box<dyn LineSource> = match source {
            CommandSource::Arguments(commands) => Box::new(Commands::new(commands)),
            CommandSource::Terminal => {
                let color = host.screen.wants_color();
                Box::new(Terminal::new(host.home.clone(), color, signals.wake()))
            }
            CommandSource::Redirected => Box::new(Lines::typed()),
            CommandSource::Stdin => Box::new(Lines::of_stdin()),
        };
        Self {
            host,
            running: RunningScript { launcher, runtime },
            left: Vec::new(),
            catalogue: Rc::new(catalogue),
            source,
            signals,
            fail_fast,
            failed: false,
            finished: false,
            unsaved: Vec::new(),
        }
    }

    /// Enters a mode, runs all commands, and leaves.
    pub(crate) fn run(mut self, mode: &str) -> Result<(), CommandError> {
        let entered = self.enter_first_mode(mode);
        let ran = entered.and_then(|()| self.run_commands());
        // A session that was written elsewhere counts after a signal and a failed command.
        let (left, rescued) = match self.leave() {
            Err(CommandError::Told(exit)) => (Ok(()), Err(CommandError::Told(exit))),
            left => (left, Ok(())),
        };
        self.signals.leave();
        if let Some(signal) = self.signals.termination() {
            let exit = Exit::Command(128 + signal);
            ran.and(left).map_err(|error| error.exiting(exit))?;
            return Err(CommandError::Told(exit));
        }
        ran.and(left)?;
        // A user at a terminal has seen the failure, and decides how to go on.
        let failed = self.failed && !self.source.is_interactive();
        if failed { Err(CommandError::Told(Exit::Failure)) } else { rescued }
    }

    /// Enters the first mode. Its greeting is shown to a user at a terminal only.
    fn enter_first_mode(&mut self, mode: &str) -> Result<(), CommandError> {
        self.host.screen.mute(!self.source.is_interactive());
        let entered = self.stoppable(|repl| repl.enter(mode));
        self.host.screen.mute(false);
        entered.map_err(|failure| {
            self.host.session().discard();
            failure.into_error()
        })?;
        if self.host.session().is_changed() {
            self.save(&format!("enter {mode}"));
        }
        self.run_initial_command();
        Ok(())
    }

    fn run_commands(&mut self) -> Result<(), CommandError> {
        while !self.finished {
            let prompt = self.prompt();
            let input = self.signals.reading(|| self.source.next(&prompt));
            if self.signals.termination().is_some() {
                return Ok(());
            }
            match input {
                Input::Line(line) if line.trim().is_empty() || line.trim().starts_with('#') => {}
                Input::Line(line) => {
                    let line = line.trim().to_owned();
                    self.command(&line, |repl| repl.execute(&line));
                }
                Input::Key(key) => {
                    self.command(&format!("key {key}"), |repl| repl.press(&key));
                }
                Input::Cancelled => {}
                Input::End | Input::Gone => self.finished = true,
                Input::Failed(reason) => {
                    self.report(&CommandFailure::new(format!("cannot read commands: {reason}")));
                    self.finished = true;
                }
            }
            if let Some(failure) = self.host.screen.take_failure() {
                return Err(failure);
            }
            self.finished |= self.failed && self.fail_fast;
            self.finished |= self.signals.termination().is_some();
        }
        Ok(())
    }

    /// Runs one command: refreshes the session before it, saves after it.
    fn command(&mut self, line: &str, work: impl FnOnce(&mut Self) -> Result<(), CommandFailure>) {
        self.host.log.info("command", line);
        self.refresh();
        let done = self.stoppable(|repl| match repl.signals.termination() {
            // The signal came when there was nothing to stop yet.
            Some(_) => Err(CommandFailure::new("stopped")),
            None => work(repl),
        });
        match done {
            Ok(()) => self.save(line),
            Err(failure) => {
                let dropped = self.host.session().discard();
                self.report(&failure);
                self.notify_changed(&dropped);
                if !self.unsaved.is_empty() {
                    self.save(line);
                }
            }
        }
        if self.running.runtime.is_unusable() {
            self.restart();
        }
        self.finished |= self.modes().exit_requested();
    }

    fn stoppable<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let interrupter = self.running.runtime.interrupter();
        let signals = Arc::clone(&self.signals);
        signals.stoppable(&interrupter, || work(self))
    }

    /// Reads the changes that other processes have made.
    fn refresh(&mut self) {
        let refreshed = self.host.session().refresh();
        if let Err(error) = refreshed {
            self.host.screen.warn(&format!("cannot reload the session: {error}"));
        }
        self.notify_scripts();
    }

    /// Notifies scripts of keys that other processes have changed.
    fn notify_scripts(&mut self) {
        self.host.report_notices();
        let keys = self.host.take_changed();
        self.notify_changed(&keys);
    }

    /// Notifies scripts of changed keys.
    fn notify_changed(&mut self, keys: &[Key]) {
        let keys: Vec<_> = keys.iter().map(script_host::script_key).collect();
        if keys.is_empty() {
            return;
        }
        if let Err(error) = self.modes().changed(&keys) {
            self.report(&CommandFailure::from(error));
        }
    }

    /// Saves the changes with the line that made them, and changes that could not be saved before.
    fn save(&mut self, line: &str) {
        let mode = self.modes().current().map_or_else(|| "osm".into(), |mode| mode.name);
        let saved = {
            let mut session = self.host.session();
            if session.is_changed() {
                self.unsaved.push(line.to_owned());
            }
            if !session.is_dirty() {
                self.unsaved.clear();
                return;
            }
            session.record(&mode, &self.unsaved.join("; "))
        };
        match saved {
            Ok(kept) => {
                self.unsaved.clear();
                if let Kept::Journaled(journaled) = kept
                    && journaled.is_first
                    && !self.finished
                {
                    let journal = journaled.journal.display();
                    let why = journaled.why;
                    let screen = &self.host.screen;
                    screen.warn(&format!("{why}; changes are kept in the journal {journal}"));
                    screen.hint("osm saves them with the next command after the server is back");
                }
                self.notify_scripts();
            }
            Err(error) => {
                let failure = CommandFailure::new(format!("cannot save the session: {error}"));
                let advice = advice(&error, self.host.home.as_deref());
                let mut failure = advice.into_iter().fold(failure, CommandFailure::with_hint);
                // There is no next command at the end; closing the session then says what happens.
                if !self.finished {
                    let hint =
                        "your changes are kept in memory; osm saves again after the next command";
                    failure = failure.with_hint(hint);
                }
                self.report(&failure);
            }
        }
    }

    /// Runs a line: a built-in, a command of the mode, or a command of every mode.
    fn execute(&mut self, line: &str) -> Result<(), CommandFailure> {
        if let Some(Open::Quote(quote)) = Syntax::of(&self.commands()).open(line) {
            return Err(CommandFailure::new(format!("unclosed quote: {quote}")));
        }
        let mut words = Line::parse(line).into_texts();
        let Some(name) = (!words.is_empty()).then(|| words.remove(0)) else { return Ok(()) };
        // A mode's own command hides a built-in of the same name, except `help` and `exit`.
        if let Some(builtin) = builtins::named(&name)
            && (matches!(builtin.name, "help" | "exit") || !self.is_command_of_mode(&name))
        {
            return (builtin.run)(self, &words, line);
        }
        match self.modes().dispatch(&name, &words, text_after_first(line))? {
            Dispatch::Done => Ok(()),
            Dispatch::Unknown => Err(self.unknown(&name)),
        }
    }

    fn is_command_of_mode(&self, name: &str) -> bool {
        let mode = self.modes().current();
        mode.is_some_and(|mode| mode.commands.iter().any(|command| command.name == name))
    }

    fn unknown(&self, name: &str) -> CommandFailure {
        let commands = self.commands();
        let meant = nearest(name, commands.iter().map(|it| it.name.as_str()));
        let hint = match meant {
            Some(meant) => format!("did you mean `{meant}`? `help` lists all commands"),
            None => "`help` lists all commands".to_owned(),
        };
        CommandFailure::new(format!("unknown command {name:?}"))
            .with_hint(hint)
            .with_hint("`js EXPRESSION` evaluates JavaScript")
    }

    fn press(&mut self, key: &str) -> Result<(), CommandFailure> {
        self.modes().press(key)?;
        Ok(())
    }

    fn enter(&mut self, mode: &str) -> Result<(), CommandFailure> {
        self.modes().enter(mode)?;
        Ok(())
    }

    /// Runs the command that a mode names for its start.
    fn run_initial_command(&mut self) {
        let initial = self.modes().current().and_then(|mode| mode.initial_command);
        if let Some(line) = initial.filter(|line| !line.trim().is_empty()) {
            self.command(&line, |repl| repl.execute(&line));
        }
    }

    /// Starts the script again in a new engine, because the old one runs something that cannot be stopped.
    fn restart(&mut self) {
        let launcher = &self.running.launcher;
        let mode = launcher.mode().map(str::to_owned);
        let begun = launcher.launch().map_err(CommandFailure::from).and_then(|runtime| {
            self.running.runtime = runtime;
            self.host.session().discard();
            mode.map_or(Ok(()), |mode| self.enter(&mode))
        });
        match begun {
            Ok(()) => {
                self.host.screen.warn("the script could not be stopped; osm has restarted it");
            }
            Err(failure) => {
                self.report(&failure);
                self.finished = true;
            }
        }
    }

    /// Reports that a command failed.
    fn report(&mut self, failure: &CommandFailure) {
        self.failed = true;
        self.host.log.error("failed", &failure.message);
        let message = match self.source.place() {
            Some(place) => format!("{place}: {}", failure.message),
            None => failure.message.clone(),
        };
        self.host.screen.error(&message, &failure.hints);
    }

    /// Leaves the mode and closes the session.
    fn leave(&mut self) -> Result<(), CommandError> {
        let left = self.stoppable(|repl| repl.modes().leave());
        match left {
            Ok(()) => self.save("exit"),
            Err(error) => {
                self.host.session().discard();
                self.report(&CommandFailure::from(error));
            }
        }
        self.host.close()
    }

    fn modes(&self) -> Modes<'_> {
        Modes::new(&self.running.runtime)
    }
}
