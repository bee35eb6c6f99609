//! What exists now and can be completed: sessions, archives, claims, goals, settings, trusted files.
//!
//! Nothing is created to look: a ledger or a folder that is missing has nothing to offer. What cannot
//! be read is not offered either; the command itself says why when it is run.

use osm_claims::{Listed, SqliteLedger};

use crate::completion::{self, Answer, Candidate, Kind, Place, WhichClaims};
use crate::config::keys;
use crate::interaction::Silence;
use crate::invocation::{Invocation, StoreName};
use crate::ops::identity::name;
use crate::ops::{claim, goal, session, trust};
use crate::render::{brief, escape};

/// What can stand at a place of a command line.
pub(crate) fn complete(invocation: &Invocation, place: &Place, root: &clap::Command) -> Answer {
    let known = match place.kind {
        Kind::Text | Kind::Files | Kind::Programs => Vec::new(),
        Kind::Words(words) => words.iter().map(|it| Candidate::new(*it, "")).collect(),
        Kind::Commands => commands(root, &place.arguments),
        Kind::Sessions => sessions(invocation, &place.prefix),
        Kind::Archives => archives(invocation),
        Kind::SessionsAndArchives => {
            [sessions(invocation, &place.prefix), archives(invocation)].concat()
        }
        Kind::Agents => of_sessions(invocation, |row| row.agent),
        Kind::Branches => of_sessions(invocation, |row| row.branch),
        Kind::Goals => goals(invocation),
        Kind::Settings => keys::all().map(|key| Candidate::new(key.name, key.doc)).collect(),
        Kind::SettingValues => setting_values(place.arguments.first()),
        Kind::Claims(which) => claims(invocation, place.option("scope"), which).unwrap_or_default(),
        Kind::Trusted => trusted(invocation),
    };
    let fits = |it: &Candidate| it.value.starts_with(&place.prefix);
    let mut candidates = place.offered.clone();
    candidates.extend(known.into_iter().filter(fits));
    for candidate in &mut candidates {
        candidate.value.insert_str(0, &place.before);
        candidate.about = escape::one_line(&candidate.about).into_owned();
    }
    // A shell prints what it offers. A name that controls the terminal can only be typed.
    candidates.retain(|it| !it.value.is_empty() && !it.value.contains(escape::is_unsafe));
    Answer { shell: place.shell(), candidates }
}

/// The commands below the ones that were named.
fn commands(root: &clap::Command, names: &[String]) -> Vec<Candidate> {
    let below = names.iter().try_fold(root, |command, name| command.find_subcommand(name));
    below.map(|command| completion::commands(command, "")).unwrap_or_default()
}

fn rows(invocation: &Invocation) -> Vec<session::Row> {
    let order = session::Order::Active;
    let request = session::ListRequest { order, ..session::ListRequest::default() };
    session::list(invocation, &request).unwrap_or_default()
}

/// Sessions by handle; by id if one is being typed, since both would be every session twice.
fn sessions(invocation: &Invocation, prefix: &str) -> Vec<Candidate> {
    let rows = rows(invocation);
    let about = |row: &session::Row, other: &str| {
        let facts = [row.agent.clone(), row.branch.clone()].into_iter().flatten();
        std::iter::once(other.to_owned()).chain(facts).collect::<Vec<_>>().join(", ")
    };
    let by_handle = rows.iter().map(|it| Candidate::new(&it.handle, about(it, it.id.as_str())));
    let by_id = rows.iter().filter(|it| !prefix.is_empty() && it.id.as_str().starts_with(prefix));
    by_handle.chain(by_id.map(|it| Candidate::new(it.id.as_str(), about(it, &it.handle)))).collect()
}

/// What sessions say of themselves, each once.
fn of_sessions(
    invocation: &Invocation,
    fact: impl Fn(session::Row) -> Option<String>,
) -> Vec<Candidate> {
    let facts: std::collections::BTreeSet<String> =
        rows(invocation).into_iter().filter_map(fact).collect();
    facts.into_iter().map(|it| Candidate::new(it, "")).collect()
}

fn archives(invocation: &Invocation) -> Vec<Candidate> {
    let all = session::archives(invocation).unwrap_or_default();
    let about = |it: &session::Archive| {
        let whose = it.document.id.as_ref().map(|id| format!(" of {}", id.label()));
        format!("{}{}", it.kind.name(), whose.unwrap_or_default())
    };
    all.iter().map(|it| Candidate::new(&it.document.name, about(it))).collect()
}

fn goals(invocation: &Invocation) -> Vec<Candidate> {
    let all = goal::list(invocation, &mut Silence).goals.into_iter().filter(|it| !it.hidden);
    all.map(|it| Candidate::new(it.call, it.description)).collect()
}

fn setting_values(name: Option<&String>) -> Vec<Candidate> {
    let Some(key) = keys::all().find(|key| Some(key.name) == name.map(String::as_str)) else {
        return Vec::new();
    };
    let words = key.words();
    words.iter().map(|word| Candidate::new(*word, "")).collect()
}

fn claims(
    invocation: &Invocation,
    scope: Option<&str>,
    which: WhichClaims,
) -> Option<Vec<Candidate>> {
    // Opening the ledger would create it.
    let is_there = || Some(SqliteLedger::file(&invocation.home().ok()?).is_file());
    if invocation.store_name().ok()? != StoreName::Fs || !is_there()? {
        return None;
    }
    let open = claim::list(invocation, scope, false, &mut Silence).ok()?.claims;
    let me = invocation.session_id().as_str();
    let is_for_me = |it: &Listed| it.claim.offer.as_ref().is_some_and(|offer| offer.to == me);
    let is_wanted = |it: &Listed| match which {
        WhichClaims::All => true,
        WhichClaims::Mine => it.is_mine,
        WhichClaims::Resumable => it.is_predecessors,
        WhichClaims::Offered => it.is_offered && is_for_me(it),
    };
    let candidate = |it: &Listed| {
        let resource = it.claim.resource.text()?;
        let holder = if it.is_mine {
            "this session".to_owned()
        } else {
            name::handle_of(&it.claim.owner.session)
        };
        let note = it.claim.note.as_deref().map(|note| format!(": {}", brief(note, 60)));
        Some(Candidate::new(resource, format!("{holder}{}", note.unwrap_or_default())))
    };
    Some(open.iter().filter(|it| is_wanted(it)).filter_map(candidate).collect())
}

fn trusted(invocation: &Invocation) -> Vec<Candidate> {
    let all = trust::list(invocation).unwrap_or_default();
    all.iter().filter_map(|it| Some(Candidate::new(it.path.to_str()?, it.state.name()))).collect()
}
