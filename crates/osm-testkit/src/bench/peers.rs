//! Other programs to compare with, if the command line names them.
//!
//! `OSM_BENCH_PEERS='name=command:name=command'`; what a command may refer to is each benchmark's
//! own affair.

use super::Result;

/// Another program.
#[derive(Debug)]
pub struct Peer {
    /// How it is called.
    pub name: String,
    /// How it is run.
    pub command: String,
}

/// All that are named.
#[expect(clippy::disallowed_methods, reason = "a benchmark is a program of its own")]
pub fn named() -> Result<Vec<Peer>> {
    let list = std::env::var("OSM_BENCH_PEERS").unwrap_or_default();
    list.split(':').filter(|entry| !entry.trim().is_empty()).map(peer).collect()
}

fn peer(entry: &str) -> Result<Peer> {
    let (name, command) =
        entry.split_once('=').ok_or_else(|| format!("OSM_BENCH_PEERS: no name= in {entry}"))?;
    if command.trim().is_empty() {
        return Err(format!("OSM_BENCH_PEERS: no command in {entry}").into());
    }
    Ok(Peer { name: name.trim().to_owned(), command: command.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named() {
        let known = peer(" a = b c=d ").expect("it has a name and a command");
        assert_eq!((known.name.as_str(), known.command.as_str()), ("a", "b c=d"));
        for wrong in ["a", "a=", "a= "] {
            assert!(peer(wrong).is_err(), "{wrong}");
        }
    }
}
