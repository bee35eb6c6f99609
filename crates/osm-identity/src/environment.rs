//! The environment as a value.
//!
//! This crate never reads the process environment: the caller captures one, so that a test
//! can pass another, and no other thread can change a variable in the meantime.

use std::ffi::{OsStr, OsString};

use crate::process::Pid;

/// Variables that users set for identity, and what each does.
pub const VARIABLES: &[(&str, &str)] = &[
    ("OSM_SESSION", "use this session instead of the detected one"),
    ("OSM_SESSION_ID", "the same; OSM_SESSION has precedence"),
    ("OSM_CONTEXT_ID", "added to the detected session, to distinguish sub-agents of one process"),
    ("OSM_EXTRA_SHELLS", "names of additional shells, separated by `;`"),
];

/// The variables of a process and its own pid.
#[derive(Clone, Debug)]
pub struct Environment {
    pid: Pid,
    variables: Vec<(OsString, OsString)>,
}

impl Environment {
    /// An environment of the process `pid`; where a name occurs twice, the first counts.
    pub fn new(pid: u32, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self { pid: Pid(pid), variables: variables.into_iter().collect() }
    }

    /// The process itself.
    #[must_use]
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// A variable's value; empty and blank ones count as unset.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        let (_, value) = self.variables.iter().find(|(key, _)| key == name)?;
        (!is_blank(value)).then_some(value)
    }

    /// The names of all variables that are text.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().filter_map(|(name, _)| name.to_str())
    }

    /// The same environment without these variables.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        let mut variables = self.variables.clone();
        variables.retain(|(key, _)| !names.iter().any(|name| key == name));
        Self { pid: self.pid, variables }
    }

    /// The same environment with these variables, which replace those of the same name.
    #[must_use]
    pub fn with<'a>(&self, variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let added = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self { pid: self.pid, variables: added.chain(self.variables.iter().cloned()).collect() }
    }
}

/// Whether a value says nothing.
pub(crate) fn is_blank(value: &OsStr) -> bool {
    value.as_encoded_bytes().trim_ascii().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_is_unset() {
        let variables = [("A", ""), ("B", " \t\n"), ("C", " x "), ("C", "y")];
        let environment =
            Environment::new(1, variables.map(|(key, value)| (key.into(), value.into())));
        assert_eq!(environment.get("A"), None);
        assert_eq!(environment.get("B"), None);
        assert_eq!(environment.get("C"), Some(OsStr::new(" x ")));
        assert_eq!(environment.get("D"), None);
    }
}
