//! What is wrong with a PostgreSQL server, for programs and for people: one table for sessions and claims.

use osm_postgres::Kind;

/// The sort of trouble, its name for programs, and what to do.
const TABLE: &[(Kind, &str, Option<&str>)] = &[
    (
        Kind::Settings,
        "store_settings",
        Some(
            "set OSM_DATABASE_URL, or run `osm config set store.url postgres://user@host/database`",
        ),
    ),
    (
        Kind::Unreachable,
        "store_unreachable",
        Some("check the address and the network, and that the server runs: `osm store status`"),
    ),
    (
        Kind::Denied,
        "store_denied",
        Some("check user, database and rights, and the password in ~/.pgpass or PGPASSWORD"),
    ),
    (
        Kind::Tls,
        "store_tls",
        Some("check sslmode and sslrootcert in the address, and the server's certificate"),
    ),
    (
        Kind::ReadOnly,
        "store_read_only",
        Some(
            "use the address of the primary server; target_session_attrs=read-write finds it among several",
        ),
    ),
    (
        Kind::TooManyConnections,
        "store_no_connection",
        Some("try again later, raise max_connections of the server, or use a pooler"),
    ),
    (Kind::DiskFull, "store_full", Some("free some space on the server; earlier saves are intact")),
    (Kind::MissingSchema, "store_schema_missing", Some("run `osm store migrate`")),
    (
        Kind::OlderSchema,
        "store_schema_older",
        Some("run `osm store migrate`; older versions of osm can then no longer use this store"),
    ),
    (Kind::NewerSchema, "store_schema_newer", Some("use a newer osm")),
    (Kind::LockTimeout, "store_busy", Some("try again")),
    (Kind::Cancelled, "store_cancelled", Some("try again; nothing was changed")),
    (Kind::Conflict, "store_busy", Some("try again")),
    (Kind::OutcomeUnknown, "unknown_outcome", Some("see `osm session history` for what was saved")),
];

fn row(kind: Kind) -> Option<&'static (Kind, &'static str, Option<&'static str>)> {
    TABLE.iter().find(|(it, ..)| *it == kind)
}

/// The name for programs.
pub(crate) fn reason(kind: Kind) -> &'static str {
    row(kind).map_or("store", |(_, reason, _)| reason)
}

/// What to do.
pub(crate) fn hint(kind: Kind) -> Option<&'static str> {
    row(kind).and_then(|(.., hint)| *hint)
}
