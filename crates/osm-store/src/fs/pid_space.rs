//! Where our process numbers count: what makes the writer of a temporary file known.
//!
//! A store can be seen from several containers, or from several machines. The number of a process
//! says nothing there, so a temporary file carries a digest of the boot and the pid namespace beside
//! it. Only a writer of this very pid space can be proven dead; all others are given time.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use osm_identity::{Pid, ProcessSource, System};

use crate::layout::Temporary;

/// The pid space of this process.
#[derive(Debug, Default)]
pub(crate) struct PidSpace(OnceLock<u64>);

impl PidSpace {
    /// Its digest; 0 if it cannot be told.
    fn digest(&self) -> u64 {
        *self.0.get_or_init(|| {
            System::new().host().map_or(0, |host| fnv(&[&host.boot, &host.namespace]))
        })
    }

    /// A name for a file that is being written, which no other writer uses.
    pub(crate) fn temporary(&self) -> String {
        // The standard library's hashers are seeded by the system; all that counts is that two
        // writers rarely meet, for a file is made only if its name is free.
        let random = RandomState::new().hash_one(std::process::id());
        Temporary { pid: std::process::id(), pid_space: self.digest(), random }.name()
    }

    /// Whether the writer of a temporary file is proven to be gone.
    pub(crate) fn is_gone(&self, writer: &Temporary) -> bool {
        writer.pid_space != 0
            && writer.pid_space == self.digest()
            && System::new().exists(Pid(writer.pid)) == Some(false)
    }
}

/// FNV-1a: it need not resist anybody, only stay the same.
fn fnv(texts: &[&str]) -> u64 {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_writer_of_our_own_realm_is_proven_gone() {
        let pid_space = PidSpace::default();
        let mine = Temporary::parse(&pid_space.temporary()).expect("our own name");
        assert_eq!(mine.pid, std::process::id());
        assert!(!pid_space.is_gone(&mine), "we are here");
        assert_ne!(pid_space.temporary(), pid_space.temporary());

        let mut child = std::process::Command::new(std::env::current_exe().expect("ourselves"))
            .arg("--list")
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("a process");
        child.wait().expect("its end");
        let dead = Temporary { pid: child.id(), ..mine };
        assert!(pid_space.is_gone(&dead));
        assert!(
            !pid_space.is_gone(&Temporary { pid_space: dead.pid_space ^ 1, ..dead }),
            "another pid_space"
        );
        assert!(!pid_space.is_gone(&Temporary { pid_space: 0, ..dead }), "an unknown one");
    }
}
