//! The loop: a line, a command, a save; again.
//!
//! It decides nothing about terminals: where lines come from is a [`Source`]. Before each command it
//! looks at what others did in the session, after it what changed is saved with the line that changed
//! it. A command that fails leaves the state as it was. A save that fails is said and tried again with
//! the next command; nothing that is not saved at the end passes in silence.

mod ahead;
mod builtins;
mod complete;
mod failure;
mod highlight;
mod history;
mod line;
mod prompt;
mod signals;
mod source;
mod stage;
mod terminal;

use std::rc::Rc;
use std::sync::Arc;

use osm_script::{Dispatch, Modes, Runtime};
use osm_store::Key;

use crate::config::nearest::nearest;
use crate::desk::Desk;
use crate::error::{CommandError, Exit};
use crate::host;

use self::failure::Failure;
use self::line::{Line, Open};
use self::signals::{Signals, Watch};
use self::source::{Commands, Input, Lines, Source};
pub(crate) use self::stage::{Play, Stage};
use self::terminal::Terminal;

/// Who gives the commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Giver<'a> {
    /// A person at the terminal.
    Person,
    /// A person whose terminal shows talk only: what is printed goes elsewhere. So no line editor may
    /// draw, which asks and answers by way of standard output.
    Typist,
    /// Standard input.
    Input,
    /// The command line.
    Line(&'a [String]),
}

/// A loop that is under way.
pub(crate) struct Repl {
    desk: Rc<Desk>,
    stage: Stage,
    runtime: Rc<Runtime>,
    source: Box<dyn Source>,
    signals: Arc<Signals>,
    fail_fast: bool,
    /// Whether a command failed.
    failed: bool,
    /// Whether it is time to leave.
    over: bool,
    /// The commands whose changes a save could not write.
    unsaved: Vec<String>,
}

impl Repl {
    /// A loop over a stage that has begun.
    pub(crate) fn new(stage: Stage, runtime: Rc<Runtime>, giver: Giver, fail_fast: bool) -> Self {
        let desk = stage.desk();
        let (keeper, stop) = (desk.keeper.clone(), Arc::clone(&desk.stop));
        let watch = if giver == Giver::Person { Watch::Person } else { Watch::Nobody };
        let signals = Signals::watch(watch, stop, Box::new(move || drop(keeper.keep())));
        let source: Box<dyn Source> = match giver {
            Giver::Line(commands) => Box::new(Commands::new(commands)),
            Giver::Person => {
                let color = desk.screen.wants_color();
                Box::new(Terminal::new(desk.home.clone(), color, signals.wake()))
            }
            Giver::Typist => Box::new(Lines::typed()),
            Giver::Input => Box::new(Lines::of_stdin()),
        };
        Self {
            desk,
            stage,
            runtime,
            source,
            signals,
            fail_fast,
            failed: false,
            over: false,
            unsaved: Vec::new(),
        }
    }

    /// Enters a mode, runs to the end, and leaves.
    pub(crate) fn run(mut self, mode: &str) -> Result<(), CommandError> {
        let entered = self.enter_at_first(mode);
        let ran = entered.and_then(|()| self.work());
        let left = self.leave();
        self.signals.leave();
        if let Some(signal) = self.signals.gone() {
            let exit = Exit::Command(128 + signal);
            ran.and(left).map_err(|error| error.exiting(exit))?;
            return Err(CommandError::Told(exit));
        }
        ran.and(left)?;
        // A person has seen it, and did something about it.
        let failed = self.failed && !self.source.is_person();
        if failed { Err(CommandError::Told(Exit::Failure)) } else { Ok(()) }
    }

    /// What a mode says when it is entered is for people.
    fn enter_at_first(&mut self, mode: &str) -> Result<(), CommandError> {
        self.desk.screen.hush(!self.source.is_person());
        let entered = self.stoppable(|repl| repl.enter(mode));
        self.desk.screen.hush(false);
        entered.map_err(|failure| {
            self.desk.session().discard();
            failure.into_error()
        })?;
        if self.desk.session().is_changed() {
            self.save(&format!("enter {mode}"));
        }
        self.run_initial_command();
        Ok(())
    }

    fn work(&mut self) -> Result<(), CommandError> {
        while !self.over {
            let prompt = self.prompt();
            let input = self.signals.reading(|| self.source.next(&prompt));
            if self.signals.gone().is_some() {
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
                Input::End | Input::Gone => self.over = true,
                Input::Failed(reason) => {
                    self.tell(&Failure::new(format!("no more commands can be read: {reason}")));
                    self.over = true;
                }
            }
            if let Some(failure) = self.desk.screen.take_failure() {
                return Err(failure);
            }
            self.over |= self.failed && self.fail_fast;
            self.over |= self.signals.gone().is_some();
        }
        Ok(())
    }

    /// Runs one command, and sees to the state before and after it.
    fn command(&mut self, line: &str, work: impl FnOnce(&mut Self) -> Result<(), Failure>) {
        self.desk.log.info("command", line);
        self.refresh();
        let done = self.stoppable(|repl| match repl.signals.gone() {
            // It came when there was nothing to stop yet.
            Some(_) => Err(Failure::new("stopped")),
            None => work(repl),
        });
        match done {
            Ok(()) => self.save(line),
            Err(failure) => {
                let dropped = self.desk.session().discard();
                self.tell(&failure);
                self.tell_changed(&dropped);
                if !self.unsaved.is_empty() {
                    self.save(line);
                }
            }
        }
        if self.runtime.is_spoiled() {
            self.restart();
        }
        self.over |= self.modes().exit_requested();
    }

    fn stoppable<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let interrupter = self.runtime.interrupter();
        let signals = Arc::clone(&self.signals);
        signals.stoppable(&interrupter, || work(self))
    }

    /// Sees what others did in the meantime.
    fn refresh(&mut self) {
        let refreshed = self.desk.session().refresh();
        if let Err(error) = refreshed {
            self.desk.screen.warn(&format!("the session cannot be read again: {error}"));
        }
        self.tell_scripts();
    }

    /// Tells scripts which keys others changed.
    fn tell_scripts(&mut self) {
        self.desk.tell_notices();
        let keys = self.desk.take_changed();
        self.tell_changed(&keys);
    }

    /// Tells scripts which keys are not what they were.
    fn tell_changed(&mut self, keys: &[Key]) {
        let keys: Vec<_> = keys.iter().map(host::script_key).collect();
        if keys.is_empty() {
            return;
        }
        if let Err(error) = self.modes().changed(&keys) {
            self.tell(&Failure::from(error));
        }
    }

    /// Saves what changed, with the line that changed it, and what could not be saved before.
    fn save(&mut self, line: &str) {
        let mode = self.modes().current().map_or_else(|| "osm".into(), |mode| mode.name);
        let saved = {
            let mut session = self.desk.session();
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
            Ok(()) => {
                self.unsaved.clear();
                self.tell_scripts();
            }
            Err(error) => {
                let mut failure = Failure::new(format!("the session is not saved: {error}"));
                // At the end there is none: what becomes of it is said when the session is closed.
                if !self.over {
                    let hint = "what you did is kept in memory; the next command tries again";
                    failure = failure.with_hint(hint);
                }
                self.tell(&failure);
            }
        }
    }

    /// A line: a built-in, a command of the mode, or one that is there in every mode.
    fn execute(&mut self, line: &str) -> Result<(), Failure> {
        let parsed = Line::parse(line);
        if let Some(Open::Quote(quote)) = parsed.open {
            return Err(Failure::new(format!("{quote} is never closed")));
        }
        let mut words = parsed.texts();
        let Some(name) = (!words.is_empty()).then(|| words.remove(0)) else { return Ok(()) };
        // A mode may have a command of the same name, and means it; help and the way out stay.
        if let Some(builtin) = builtins::named(&name)
            && (matches!(builtin.name, "help" | "exit") || !self.is_of_mode(&name))
        {
            return (builtin.run)(self, &words, line);
        }
        match self.modes().dispatch(&name, &words)? {
            Dispatch::Done => Ok(()),
            Dispatch::Unknown => Err(self.unknown(&name)),
        }
    }

    fn is_of_mode(&self, name: &str) -> bool {
        let mode = self.modes().current();
        mode.is_some_and(|mode| mode.commands.iter().any(|command| command.name == name))
    }

    fn unknown(&self, name: &str) -> Failure {
        let commands = self.commands();
        let meant = nearest(name, commands.iter().map(|it| it.name.as_str()));
        let hint = match meant {
            Some(meant) => format!("did you mean `{meant}`? `help` shows all commands"),
            None => "`help` shows all commands".to_owned(),
        };
        Failure::new(format!("there is no command {name:?}"))
            .with_hint(hint)
            .with_hint("`js EXPRESSION` evaluates JavaScript")
    }

    fn press(&mut self, key: &str) -> Result<(), Failure> {
        self.modes().press(key)?;
        Ok(())
    }

    fn enter(&mut self, mode: &str) -> Result<(), Failure> {
        self.modes().enter(mode)?;
        Ok(())
    }

    /// What a mode wants to be done when it is entered.
    fn run_initial_command(&mut self) {
        let initial = self.modes().current().and_then(|mode| mode.initial_command);
        if let Some(line) = initial.filter(|line| !line.trim().is_empty()) {
            self.command(&line, |repl| repl.execute(&line));
        }
    }

    /// An engine in which something cannot be stopped is of no use: the scripts begin anew.
    fn restart(&mut self) {
        let mode = self.stage.mode();
        let begun = self.stage.begin().map_err(Failure::from).and_then(|runtime| {
            self.runtime = runtime;
            self.desk.session().discard();
            mode.map_or(Ok(()), |mode| self.enter(&mode))
        });
        match begun {
            Ok(()) => {
                self.desk.screen.warn("the script could not be stopped, and was started anew");
            }
            Err(failure) => {
                self.tell(&failure);
                self.over = true;
            }
        }
    }

    /// Says that something failed.
    fn tell(&mut self, failure: &Failure) {
        self.failed = true;
        self.desk.log.error("failed", &failure.message);
        let message = match self.source.place() {
            Some(place) => format!("{place}: {}", failure.message),
            None => failure.message.clone(),
        };
        self.desk.screen.error(&message, &failure.hints);
    }

    /// Leaves the mode and the session.
    fn leave(&mut self) -> Result<(), CommandError> {
        let left = self.stoppable(|repl| repl.modes().leave());
        match left {
            Ok(()) => self.save("exit"),
            Err(error) => {
                self.desk.session().discard();
                self.tell(&Failure::from(error));
            }
        }
        self.desk.close()
    }

    fn modes(&self) -> Modes<'_> {
        Modes::new(&self.runtime)
    }
}
