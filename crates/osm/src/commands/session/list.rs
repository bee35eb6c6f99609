//! `osm session list`.

use super::super::upstream;
use crate::cli::{ListArguments, ListFormat, ListSort};
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::ops::session::{self, ListRequest, Order};
use crate::render::time::age;
use crate::render::{Column, Style, Table, Text, Ui, size};

const COLUMNS: &[Column] = &[
    Column::new("SESSION"),
    Column::new("ID").rank(2),
    Column::new("USED").rank(1),
    Column::new("SIZE").rank(5),
    Column::new("SOURCE").rank(4),
    Column::new("AGENT").rank(2).shrinks(8),
    Column::new("BRANCH").rank(3).shrinks(8),
    Column::new("STATE").rank(1),
];

pub(super) fn run(
    arguments: &ListArguments,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let request = ListRequest {
        agent: arguments.agent.clone(),
        repository: arguments.repository.clone(),
        branch: arguments.branch.clone(),
        order: match arguments.sort {
            ListSort::Default => Order::Id,
            ListSort::Active => Order::Active,
        },
    };
    let mut rows = session::list(invocation, &request)?;
    if arguments.json || arguments.format == ListFormat::Json {
        session::add_paths(invocation, &mut rows)?;
        ui.json(&rows);
        return Ok(());
    }
    upstream::offer(invocation, ui);
    if rows.is_empty() {
        ui.line("No sessions found");
        return Ok(());
    }
    let now = invocation.world.now();
    let current = invocation.session_id();
    let mut table = Table::new(COLUMNS);
    for row in &rows {
        let mut state = match (row.is_damaged, row.is_active) {
            (true, _) => Style::Bad.of("damaged"),
            (false, true) => Style::Good.of("live"),
            (false, false) => "idle".into(),
        };
        if row.id == *current {
            state = state.then(Style::Strong.of(" (this one)"));
        }
        let (age, size) = (age(row.updated_at, now).into(), size(row.size).into());
        let [source, agent, branch] = [&row.source, &row.agent, &row.branch]
            .map(|text| Text::from(text.as_deref().unwrap_or("-")));
        let (handle, id) = (row.handle.as_str().into(), row.id.as_str().into());
        table.row([handle, id, age, size, source, agent, branch, state]);
    }
    ui.table(&table);
    Ok(())
}
