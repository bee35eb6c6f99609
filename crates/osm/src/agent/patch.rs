//! The files of a patch in the format of `apply_patch`, which Codex, opencode and Copilot use.
//!
//! One call can change several files, and their names are only in its text. A name on a line of content
//! does not count: content begins with `+`, `-` or a space.

/// How each line with a name begins.
const HEADERS: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// How a patch begins.
const BEGIN: &str = "*** Begin Patch";

/// The paths that a text changes if it is a patch, each once, in their order.
pub(crate) fn paths(text: &str) -> Vec<String> {
    if !text.contains(BEGIN) {
        return Vec::new();
    }
    let named = text.lines().filter_map(|line| {
        let name = HEADERS.iter().find_map(|header| line.strip_prefix(header))?.trim();
        (!name.is_empty()).then(|| name.to_owned())
    });
    let mut paths: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    paths.extend(named.filter(|name| seen.insert(name.clone())));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_patch() {
        let text = "*** Begin Patch\n*** Add File: a.txt\n+*** Add File: no\n*** Update File: b c.rs\r\n\
                    *** Move to: src/d.rs\n@@\n-*** Delete File: no\n *** Delete File: no\n*** Delete File: e\n\
                    *** Update File: a.txt\n*** Update File: \n*** End Patch\n";
        assert_eq!(paths(text), ["a.txt", "b c.rs", "src/d.rs", "e"]);
        assert_eq!(paths("*** Add File: a.txt\n"), [""; 0], "a shell command is not a patch");
        assert_eq!(paths(""), [""; 0]);
    }

    #[test]
    fn a_patch_inside_a_command() {
        let text = "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: x\n*** End Patch\nEOF\n";
        assert_eq!(paths(text), ["x"]);
    }
}
