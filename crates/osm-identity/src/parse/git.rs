//! Git's own small files, read as Git reads them.
//!
//! These bytes are not trusted: they come from a clone, an archive or another user.

/// What `HEAD` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head<'a> {
    /// A reference, by its whole name: `refs/heads/main`.
    Reference(&'a [u8]),
    /// A commit.
    Commit,
}

impl<'a> Head<'a> {
    /// The branch, if it is one whose name is text.
    #[must_use]
    pub fn branch(self) -> Option<&'a str> {
        match self {
            Self::Reference(name) => std::str::from_utf8(name.strip_prefix(b"refs/heads/")?).ok(),
            Self::Commit => None,
        }
    }
}

/// The path in a `.git` file.
#[must_use]
pub fn gitdir(bytes: &[u8]) -> Option<&[u8]> {
    path(bytes.strip_prefix(b"gitdir: ")?)
}

/// The path in a `commondir` file.
#[must_use]
pub fn commondir(bytes: &[u8]) -> Option<&[u8]> {
    path(bytes)
}

/// What a `HEAD` file names; `None` if Git takes it for no `HEAD`.
#[must_use]
pub fn head(bytes: &[u8]) -> Option<Head<'_>> {
    if let Some(rest) = bytes.strip_prefix(b"ref:") {
        return reference(rest.trim_ascii());
    }
    // The name of a commit is a SHA-1, or a longer SHA-256.
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    (digits >= 40).then_some(Head::Commit)
}

/// What a `HEAD` names that is a symbolic link, as those of old repositories are.
#[must_use]
pub fn reference(name: &[u8]) -> Option<Head<'_>> {
    let line = name.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.starts_with(b"refs/").then_some(Head::Reference(line.trim_ascii_end()))
}

/// All of a file is its path, up to the line ends behind it.
fn path(bytes: &[u8]) -> Option<&[u8]> {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let end = bytes.iter().rposition(|byte| !is_end(byte))?;
    let path = &bytes[..=end];
    (!path.contains(&0)).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        assert_eq!(gitdir(b"gitdir: ../x y\r\n\n"), Some(&b"../x y"[..]));
        assert_eq!(gitdir(b"gitdir: a\nb"), Some(&b"a\nb"[..]), "a path may contain a line end");
        for bytes in ["", "gitdir:", "gitdir: ", "gitdir: \n", "gitdir: a\0b", " gitdir: a", "a"] {
            assert_eq!(gitdir(bytes.as_bytes()), None, "{bytes:?}");
        }
        assert_eq!(commondir(b"../..\n"), Some(&b"../.."[..]));
    }

    #[test]
    fn heads() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        for (text, branch) in [
            ("ref: refs/heads/main\n", Some("main")),
            ("ref:\t refs/heads/a/b  \nmore", Some("a/b")),
            ("ref: refs/remotes/x\n", None),
            (commit, None),
        ] {
            assert_eq!(head(text.as_bytes()).expect("valid").branch(), branch, "{text:?}");
        }
        for text in ["", "main", "ref: heads/main", "ref: /refs/x", &commit[1..], " ref: refs/x"] {
            assert_eq!(head(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(head(b"ref: refs/heads/\xff").expect("valid").branch(), None);
    }
}
