//! Which signals the command gets from us, and how all of it is made to end.
//!
//! With a controlling terminal the command stays in our process group: one of its own would be in
//! the background, where it is stopped as soon as it reads from the terminal, and hears nothing of
//! Ctrl-C and Ctrl-Z. Without one it gets a group, so that all it starts can be reached at once.

use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use signal_hook::iterator::exfiltrator::WithRawSiginfo;
use signal_hook::iterator::{Handle, SignalsInfo};

use super::control_group::ControlGroup;
use super::family::{self, Family};
use crate::ignored::Ignored;
use crate::interrupt;

/// What is passed on to the command.
const FORWARDED: [Signal; 3] = [Signal::TERM, Signal::INT, Signal::HUP];

/// How often a look may find more processes before they are killed all the same.
const MOST_LOOKS: usize = 100;

/// Signals that come, and whether the command has a process group of its own.
pub(super) struct Signals {
    handle: Handle,
    /// Tells the thread that passes signals on whom they go to.
    target: Sender<Target>,
    own_group: bool,
}

pub(super) struct Running {
    child: Child,
    target: Target,
    handle: Handle,
    family: Family,
    /// All of it, where the system keeps it together.
    group: Option<ControlGroup>,
}

/// Whom a signal goes to.
#[derive(Clone)]
struct Target {
    pid: Pid,
    own_group: bool,
    /// The command was waited for: its pid may have been reused.
    collected: Arc<Mutex<bool>>,
}

pub(super) fn prepare(command: &mut Command) -> io::Result<Signals> {
    let own_group = File::open("/dev/tty").is_err();
    if own_group {
        command.process_group(0);
    }
    family::adopt();
    // What we ignore the command ignores, too, unless we catch it: so `nohup` means both of us.
    let ignored = Ignored::now();
    let caught = FORWARDED.into_iter().filter(|signal| !ignored.has(signal.as_raw()));
    // A child's exit code is kept only for who does not ignore its end.
    let caught = caught.chain([Signal::CHILD]).map(Signal::as_raw);
    let come = SignalsInfo::new(caught)?;
    interrupt::forget();
    let handle = come.handle();
    let (target, told) = mpsc::channel();
    // Started before the command: one whose signals we cannot pass on is not started.
    std::thread::Builder::new().spawn(move || {
        if let Ok(target) = told.recv() {
            forward(come, &target);
        }
    })?;
    Ok(Signals { handle, target, own_group })
}

pub(super) fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

impl Running {
    pub(super) fn start(command: &mut Command, signals: Signals) -> io::Result<Self> {
        let Signals { handle, target: to, own_group } = signals;
        let others = family::children();
        let (child, group) = ControlGroup::around(|| command.spawn());
        let child = child?;
        let pid = Pid::from_child(&child);
        let target = Target { pid, own_group, collected: Arc::default() };
        drop(to.send(target.clone()));
        let family = Family::of(child.id(), own_group, others);
        Ok(Self { child, target, handle, family, group })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        let mut collected = self.target.lock();
        family::collect_adopted(self.child.id());
        let status = self.child.try_wait()?;
        if status.is_some() {
            *collected = true;
            self.handle.close();
        }
        drop(collected);
        Ok(status.filter(|_| !self.family.lives()))
    }

    /// Asks once: what a process starts to clean up behind itself is left alone.
    pub(super) fn ask_to_end(&mut self) {
        // Where no process is adopted, one whose parent ends first loses its place in the tree.
        self.family.look();
        self.target.send(&[Signal::TERM]);
        self.family.send_beyond_target(Signal::TERM);
        self.target.send(&[Signal::CONT]);
        self.family.send(Signal::CONT);
    }

    pub(super) fn kill(&mut self) {
        // A stopped process starts no other, so that in the end none is missing.
        for _ in 0..MOST_LOOKS {
            self.target.send(&[Signal::STOP]);
            self.family.send(Signal::STOP);
            if !self.family.look() {
                break;
            }
        }
        self.target.send(&[Signal::KILL]);
        self.family.send(Signal::KILL);
        if let Some(group) = &self.group {
            group.kill();
        }
        // Nothing more can be done, even to those that we may not kill: they are not waited for.
        self.family.forget();
    }
}

impl Target {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, signals: &[Signal]) {
        let collected = self.lock();
        for signal in signals.iter().filter(|_| !*collected) {
            // It may have ended in the meantime, which is what we want.
            let _ended = if self.own_group {
                kill_process_group(self.pid, *signal)
            } else {
                kill_process(self.pid, *signal)
            };
        }
    }
}

/// Passes on what is sent to us alone, on a thread of its own: whatever else we wait for, it comes at
/// once.
fn forward(mut come: SignalsInfo<WithRawSiginfo>, target: &Target) {
    for info in come.forever() {
        let signal = FORWARDED.into_iter().find(|it| it.as_raw() == info.si_signo);
        let is_new = |it: &Signal| *it != Signal::INT || !reached_group(info.si_code);
        if let Some(signal) = signal.filter(|it| target.own_group || is_new(it)) {
            // A command that is stopped would not see it.
            target.send(&[signal, Signal::CONT]);
        }
    }
}

/// Whether an interrupt came from the terminal, which sent it to the command as well. Linux gives
/// what processes send a code that is not positive; of other systems we do not know.
fn reached_group(code: i32) -> bool {
    !cfg!(target_os = "linux") || code > 0
}
