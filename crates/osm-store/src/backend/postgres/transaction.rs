//! What goes with a change of a store on a server: rows of the same transaction.

use jiff::Timestamp;
use osm_postgres::Type;

use crate::audit::Event;
use crate::backend::{ArchiveKind, Transaction};
use crate::error::{Error, Result};
use crate::{gzip, layout};

pub(super) struct ServerTransaction<'a, 'b> {
    transaction: &'a mut osm_postgres::Transaction<'b>,
    now: Timestamp,
}

impl<'a, 'b> ServerTransaction<'a, 'b> {
    pub(super) fn begin(transaction: &'a mut osm_postgres::Transaction<'b>) -> Result<Self> {
        let rows = transaction.query("SELECT clock_timestamp()", &[])?;
        let now = rows[0].get(0);
        Ok(Self { transaction, now })
    }

    /// With a time that was read already.
    pub(super) fn at(now: Timestamp, transaction: &'a mut osm_postgres::Transaction<'b>) -> Self {
        Self { transaction, now }
    }
}

impl Transaction for ServerTransaction<'_, '_> {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn archive(&mut self, kind: ArchiveKind, stem: &str, document: &[u8]) -> Result<String> {
        let packed = layout::is_compressed(kind).then(|| gzip::pack(document));
        let content = packed.as_deref().unwrap_or(document);
        let kind_name = (&kind.name() as _, Type::TEXT);
        let mut taken: Option<Vec<String>> = None;
        for name in layout::archive_names(kind, stem)? {
            // Usually the first name is free; only if it is not, the others are asked for.
            if taken.as_ref().is_some_and(|taken| taken.contains(&name)) {
                continue;
            }
            let sql = "INSERT INTO osm.archive (kind, name, content) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
            let parameters =
                [kind_name.clone(), (&name as _, Type::TEXT), (&content as _, Type::BYTEA)];
            if self.transaction.execute(sql, &parameters)? == 1 {
                return Ok(name);
            }
            let sql = "SELECT name FROM osm.archive WHERE kind = $1 AND starts_with(name, $2)";
            let beginning = format!("{stem}--");
            let rows =
                self.transaction.query(sql, &[kind_name.clone(), (&beginning, Type::TEXT)])?;
            taken = Some(rows.iter().map(|row| row.get(0)).collect());
        }
        Err(Error::NoFreeName(stem.to_owned()))
    }

    fn audit(&mut self, event: &Event) -> Result<()> {
        let sql = "INSERT INTO osm.audit (event) VALUES ($1)";
        self.transaction.execute(sql, &[(&event.to_string(), Type::TEXT)])?;
        Ok(())
    }

    fn record(&mut self) -> Result<Option<Vec<u8>>> {
        let rows = self.transaction.query("SELECT content FROM osm.record FOR UPDATE", &[])?;
        Ok(rows.first().and_then(|row| row.get(0)))
    }

    fn set_record(&mut self, record: Vec<u8>) -> Result<()> {
        let sql = "UPDATE osm.record SET content = $1";
        self.transaction.execute(sql, &[(&record, Type::BYTEA)])?;
        Ok(())
    }
}
