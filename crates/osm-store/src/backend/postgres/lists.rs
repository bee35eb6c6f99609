//! Lists of sessions and archives, page by page.

use osm_postgres::{Connection, Type};

use super::{ArchiveKind, ArchivedDocument, Entry, Listing, Page, USUAL_PAGE, pieces};
use crate::backend::Cursor;
use crate::error::Result;
use crate::layout;

/// How many rows to ask for: one more than fits, to know whether there is another page.
fn limit(page: &Page) -> (usize, i64) {
    let limit = page.limit.unwrap_or(USUAL_PAGE).clamp(1, USUAL_PAGE);
    (limit, i64::try_from(limit + 1).unwrap_or(i64::MAX))
}

fn listing<T>(mut items: Vec<T>, limit: usize, cursor: impl Fn(&T) -> String) -> Listing<T> {
    let has_more = items.len() > limit;
    items.truncate(limit);
    let last = if has_more { items.last() } else { None };
    let next = last.map(|last| Cursor(cursor(last)));
    Listing { items, next }
}

pub(super) fn sessions(connection: &mut Connection, page: &Page) -> Result<Listing<Entry>> {
    let (limit, rows) = limit(page);
    let after = page.after.as_ref().map_or("", |Cursor(after)| after);
    let sql = "SELECT id, revision, size, modified_at, summary, EXISTS (
            SELECT FROM osm.lease WHERE lease.session = id AND expires_at > clock_timestamp())
        FROM osm.session WHERE id > $1 ORDER BY id LIMIT $2";
    let rows = connection.read(sql, &[(&after, Type::TEXT), (&rows, Type::INT8)])?;
    let entry = |row: &osm_postgres::Row| {
        let (revision, size): (i64, i64) = (row.get(1), row.get(2));
        let summary: Option<Vec<u8>> = row.get(4);
        Some(Entry {
            // Only osm writes ids; a row of another program is not a session.
            id: row.get::<_, &str>(0).parse().ok()?,
            size: size.unsigned_abs(),
            modified: row.get(3),
            stamp: pieces::stamp(revision, size),
            active: row.get(5),
            summary: summary.map(Into::into),
        })
    };
    Ok(listing(rows.iter().filter_map(entry).collect(), limit, |entry| {
        entry.id.as_str().to_owned()
    }))
}

pub(super) fn archived(
    connection: &mut Connection,
    kind: ArchiveKind,
    page: &Page,
) -> Result<Listing<ArchivedDocument>> {
    let (limit, rows) = limit(page);
    let after: i64 = page.after.as_ref().and_then(|Cursor(after)| after.parse().ok()).unwrap_or(0);
    let sql = "SELECT number, name, octet_length(content)::int8, modified_at FROM osm.archive
        WHERE kind = $1 AND number > $2 ORDER BY number LIMIT $3";
    let parameters =
        [(&kind.name() as _, Type::TEXT), (&after as _, Type::INT8), (&rows as _, Type::INT8)];
    let rows = connection.read(sql, &parameters)?;
    let item = |row: &osm_postgres::Row| {
        let (number, name, size): (i64, String, i64) = (row.get(0), row.get(1), row.get(2));
        let id = layout::archived_id(kind, &name);
        let size = size.unsigned_abs();
        (number, ArchivedDocument { name, id, size, modified: row.get(3) })
    };
    let page = listing(rows.iter().map(item).collect(), limit, |(number, _)| number.to_string());
    Ok(Listing { items: page.items.into_iter().map(|(_, item)| item).collect(), next: page.next })
}
