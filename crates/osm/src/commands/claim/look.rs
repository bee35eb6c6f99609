//! Looking at claims: `osm claims`, `claim mine`, `claim why`.

use std::ffi::OsStr;

use osm_claims::refusal::{fate, shown};
use osm_claims::rules::Standing;
use osm_claims::{End, Hold, Listed};
use serde_json::json;

use super::desk::{Answer, Desk};
use super::report;
use crate::render::{Style, Text, Ui, brief};

pub(super) fn list(desk: &Desk, everywhere: bool, ui: &mut Ui) -> Answer {
    let mut rows = desk.claims.list(&desk.asker, everywhere)?;
    rows.sort_by(|one, other| {
        let key = |it: &Listed| (it.scope.key.clone(), it.claim.resource.clone());
        key(one).cmp(&key(other))
    });
    if desk.json {
        let rows: Vec<_> = rows.iter().map(report::listed).collect();
        ui.json(&json!(rows));
        return Ok(());
    }
    if rows.is_empty() {
        let place = desk.asker.scope.shown();
        let place = if everywhere { "anywhere".to_owned() } else { format!("in {place}") };
        ui.line(format!("nothing is claimed {place}"));
        return Ok(());
    }
    report::table(&rows, everywhere, desk.invocation.world.now(), ui);
    Ok(())
}

pub(super) fn mine(desk: &Desk, ui: &mut Ui) -> Answer {
    let owned = desk.claims.mine(&desk.asker)?;
    if desk.json {
        let rows = |rows: &[Listed]| rows.iter().map(report::listed).collect::<Vec<_>>();
        ui.json(&json!({
            "session": desk.asker.caller.session,
            "held": rows(&owned.held),
            "resumable": rows(&owned.resumable),
            "offered": rows(&owned.offered),
            "lost": rows(&owned.lost),
        }));
        return Ok(());
    }
    let now = desk.invocation.world.now();
    let parts: [(&str, &[Listed]); 3] = [
        ("held", &owned.held),
        ("held before this session's process died (`osm claim resume`)", &owned.resumable),
        ("offered to this session (`osm claim accept`)", &owned.offered),
    ];
    if owned.held.is_empty() {
        ui.line("this session holds nothing");
    }
    for (title, rows) in parts.iter().filter(|(_, rows)| !rows.is_empty()) {
        ui.line(*title);
        report::table(rows, true, now, ui);
    }
    if !owned.lost.is_empty() {
        ui.line("lost (`osm release` takes note)");
    }
    for loss in &owned.lost {
        let (scope, resource) = (loss.scope.shown(), &loss.claim.resource);
        ui.line(format!("  {resource} in {scope}: {}", fate(&loss.claim)));
    }
    Ok(())
}

pub(super) fn why(desk: &Desk, name: &OsStr, ui: &mut Ui) -> Answer {
    let resource = Desk::resource(name)?;
    let found = desk.claims.look(&desk.asker, &resource)?;
    if desk.json {
        ui.json(&json!({
            "resource": resource,
            "claimed": found.as_ref().is_some_and(|it| it.claim.is_open()),
            "claim": found.as_ref().map(report::listed),
            "remedy": found.as_ref().map_or_else(|| FREE.to_owned(), remedy),
        }));
        return Ok(());
    }
    let Some(listed) = found else {
        ui.line(format!("{resource} was never claimed in {}", desk.asker.scope.shown()));
        return Ok(());
    };
    let claim = &listed.claim;
    let mut rows = vec![vec![Text::from("resource"), Style::Strong.of(resource.to_string())]];
    let mut add = |name: &'static str, value: String| rows.push(vec![name.into(), value.into()]);
    add("scope", listed.scope.shown());
    if claim.is_open() {
        let you = if listed.is_mine { " (you)" } else { "" };
        add("owner", format!("{}{you}", claim.owner.session));
        if let Some(agent) = &claim.owner.agent {
            add("agent", agent.clone());
        }
        add("host", claim.owner.host.clone());
        add("since", shown(claim.since).to_string());
        add("epoch", claim.token().to_string());
        add("evidence", report::evidence(&listed));
        if let Some(note) = &claim.note {
            add("note", brief(note, 200));
        }
        if let Some(offer) = claim.offer.as_ref().filter(|_| listed.is_offered) {
            add("offered to", offer.to.clone());
            if let Some(note) = &offer.note {
                add("with", brief(note, 200));
            }
        }
    } else {
        add("last", fate(claim));
    }
    add("to get it", remedy(&listed));
    ui.aligned(&rows);
    Ok(())
}

const FREE: &str = "claim it: it is free";

/// What would free a claim.
fn remedy(listed: &Listed) -> String {
    let name = listed.claim.resource.quoted();
    if let Some(ended) = &listed.claim.ended {
        return match ended.how {
            End::Completed => format!("it is done; osm claim --reopen {name} does it again"),
            _ => FREE.into(),
        };
    }
    if listed.is_mine {
        return "it is yours".into();
    }
    match (listed.standing, &listed.claim.hold) {
        (Standing::Free(_), _) if listed.is_offered => {
            "it is kept for the session that it was offered to, until the offer ends".into()
        }
        (Standing::Free(_), _) => "claim it: its owner is gone".into(),
        (Standing::Held, Hold::Lease(_)) => {
            "its owner releases it or hands it over, or its lease ends".into()
        }
        (Standing::Held, _) => "its owner releases it or hands it over, or its process ends".into(),
        (Standing::Suspended, _) => format!(
            "its process goes on and releases it, or ends; or osm claim take {name} --reason WHY"
        ),
        (Standing::Unknown(_), _) => format!(
            "its owner releases it; nobody can prove it dead from here, so only \
             osm claim take {name} --reason WHY takes it away"
        ),
    }
}
