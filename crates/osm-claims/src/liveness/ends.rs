//! Waiting for the end of a process, which asks nothing but this machine.

std::cfg_select! {
    target_os = "linux" => {
        pub(crate) mod linux;
        pub use linux::Ends;
    }
    _ => {
        mod portable;
        pub use portable::Ends;
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::Ends;
    use crate::SystemProbe;
    use osm_identity::{ProcessInstance, System};

    /// Nothing but the end of the process ends the second wait, or the test hangs.
    #[test]
    fn a_wait_ends_with_the_process() {
        let shell = if cfg!(windows) { "cmd" } else { "cat" };
        let mut child = Command::new(shell).stdin(Stdio::piped()).spawn().unwrap();
        let process = ProcessInstance::with_pid(child.id(), &System).unwrap();
        let probe = SystemProbe(System);
        let ends = Ends::of(&[&process], &probe);
        assert!(!ends.wait(&probe, Duration::ZERO).unwrap());
        drop(child.stdin.take());
        assert!(ends.wait(&probe, Duration::from_mins(10)).unwrap());
        child.wait().unwrap();
        assert!(Ends::of(&[&process], &probe).wait(&probe, Duration::from_mins(10)).unwrap());
    }
}
