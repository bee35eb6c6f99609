//! A tab of a terminal emulator that names its tabs.

use std::ffi::{OsStr, OsString};

use super::{Found, Identity, Verdict, anchor, describe, show};
use crate::catalogue::TERMINALS;
use crate::detection::{Confidence, Source};
use crate::digest::Key;
use crate::instance::ProcessInstance;
use crate::scene::{Boundary, Scene};

pub(super) fn detect(scene: &mut Scene, _explicit: Option<&OsStr>) -> Verdict {
    let (at, boundary) = scene.boundary();
    match boundary {
        Boundary::Terminal(row) => {
            if row.tab.is_empty() {
                return Err(format!("{} sets no variable with the id of a tab", row.name));
            }
            if let Some(inner) = anchor::inner(scene, at) {
                let inner = anchor::describe(scene, inner);
                return Err(format!("{inner}, is inside a tab of {}", row.name));
            }
            let value =
                scene.evidence(at, row.tab).ok_or_else(|| format!("{} is not set", row.tab))?;
            let instance = if row.counted { scene.instance(at) } else { None };
            let reason =
                format!("{} is an ancestor process, and {}={}", row.name, row.tab, show(&value));
            let anchor = anchor::climb(scene, at);
            let mut found = tab(row.tab, &value, instance.as_ref(), reason);
            found.confidence = Confidence::Confirmed;
            found.anchor = anchor;
            Ok(found)
        }
        // A pipe that is a terminal says more than a variable that was left behind.
        Boundary::Top if scene.ancestry.is_blind() && scene.source.named_terminal().is_none() => {
            TERMINALS
                .iter()
                .filter(|row| !row.tab.is_empty() && !row.counted)
                .find_map(|row| scene.variable(row.tab).map(|value| (row, value)))
                .map(|(row, value)| {
                    let reason = format!("{}={}, unconfirmed", row.tab, show(&value));
                    tab(row.tab, &value, None, reason)
                })
                .ok_or_else(|| "no variable of a terminal emulator is set".into())
        }
        Boundary::Top => named(scene, at),
        _ => {
            let boundary = describe(scene, at, boundary);
            Err(format!("no terminal emulator between this process and {boundary}"))
        }
    }
}

/// `MinTTY` on Windows: its programs lose their parents, but its pipes have names.
fn named(scene: &mut Scene, at: usize) -> Verdict {
    if anchor::climb(scene, at).is_some() {
        return Err("no ancestor process is a terminal emulator".into());
    }
    let name = scene.source.named_terminal().ok_or("no ancestor process is a terminal emulator")?;
    let reason = format!("the standard streams are connected to the terminal {name}");
    let machine = scene.host.as_ref().map_or("", |host| &host.boot).to_owned();
    let value = OsString::from(format!("{machine}:{name}"));
    Ok(tab("", &value, None, reason))
}

fn tab(variable: &str, value: &OsStr, instance: Option<&ProcessInstance>, reason: String) -> Found {
    let key = Key::new("terminal");
    let key = match instance {
        Some(instance) => key.with_instance(instance),
        None => key,
    };
    Found {
        identity: Identity::Key {
            namespace: "terminal",
            label: String::new(),
            key: key.with_free(essence(variable, value)),
        },
        source: Source::Terminal,
        confidence: Confidence::Unconfirmed,
        agent: None,
        context: None,
        anchor: None,
        reason,
    }
}

/// The part of a value that stays: iTerm2 puts the tab's first position before its UUID.
fn essence<'a>(variable: &str, value: &'a OsStr) -> &'a OsStr {
    match value.to_str().and_then(|text| text.rsplit_once(':')) {
        Some((_, uuid)) if variable == "ITERM_SESSION_ID" => OsStr::new(uuid),
        _ => value,
    }
}
