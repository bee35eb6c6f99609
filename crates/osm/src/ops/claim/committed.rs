//! Automatic claims end with the commit that contains their files: the work that they protected is done.

use std::collections::BTreeSet;
use std::path::Path;

use osm_claims::{PathKind, Resource};
use osm_context::{Setting, git};

use super::paths::Site;
use super::{Error, GuardError};
use crate::invocation::Invocation;

/// Releases this session's automatic claims of files that the last commit of the worktree around a folder
/// contains, and that are as it has them; returns them.
pub(crate) fn release_committed(
    invocation: &Invocation,
    folder: &Path,
) -> Result<Vec<Resource>, Error> {
    let Ok(site) = Site::around(invocation, folder, None) else { return Ok(Vec::new()) };
    let client = site.client(invocation, None)?;
    let held = client.answer(client.claims.list(&client.requester, false))?;
    let mut held: Vec<Resource> = held
        .into_iter()
        .filter(|it| it.is_mine && it.claim.mode.automatic)
        .map(|it| it.claim.resource)
        .filter(|it| it.path().is_some_and(|path| path.kind == PathKind::File))
        .collect();
    if held.is_empty() {
        return Ok(held);
    }
    let (top, setting) = (site.top(), Setting::new(site.top()));
    let error = |error: osm_context::Error| GuardError::Git(error.to_string());
    let committed = git::committed(top, &setting).map_err(error)?;
    let committed: BTreeSet<Resource> =
        committed.iter().filter_map(|name| site.file(name)).collect();
    held.retain(|it| committed.contains(it));
    if held.is_empty() {
        return Ok(held);
    }
    let changed = git::uncommitted(top, &setting).map_err(error)?;
    held.retain(|it| it.path().is_some_and(|path| !may_be_among(&changed, &path.text)));
    for resource in &held {
        client.answer(client.claims.release(&client.requester, resource, None, false))?;
    }
    Ok(held)
}

/// Whether a file can be one of those that `git status --short` names. A name in quotes can be any.
fn may_be_among(changed: &[String], file: &str) -> bool {
    changed.iter().any(|line| line.contains(file) || line.contains('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_may_have_changed_again_is_kept() {
        let changed = |lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(|&it| it.to_owned()).collect();
            may_be_among(&lines, "src/a.rs")
        };
        for lines in [" M src/a.rs", "R  src/a.rs -> b", "R  b -> src/a.rs", "?? \"s\\303\""] {
            assert!(changed(&[" M x", lines]), "{lines}");
        }
        assert!(!changed(&[]) && !changed(&[" M src/b.rs", "?? docs/"]));
    }
}
