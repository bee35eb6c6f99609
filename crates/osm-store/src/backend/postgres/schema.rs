//! The tables of the store.
//!
//! Names and ids compare byte by byte (`COLLATE "C"`), as files do, whatever the language of the database.

use osm_postgres::{Component, Migration};

/// The tables of the store. A migration that was released is never changed.
pub const COMPONENT: Component = Component {
    name: "store",
    migrations: &[Migration { name: "make the tables of the store", sql: FIRST }],
};

const FIRST: &str = r#"
-- Revisions and epochs: no number is given twice.
CREATE SEQUENCE osm.store_number AS bigint;

CREATE TABLE osm.session (
    id text COLLATE "C" PRIMARY KEY CHECK (id <> ''),
    revision bigint NOT NULL UNIQUE DEFAULT nextval('osm.store_number'),
    size bigint NOT NULL CHECK (size >= 0),
    -- The first line of the document, which lists show; nothing if it is too long for that.
    summary bytea,
    modified_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The hashes of its pieces, in order.
    pieces bytea[] NOT NULL
);

CREATE TABLE osm.piece (
    session text COLLATE "C" NOT NULL REFERENCES osm.session ON DELETE CASCADE,
    hash bytea NOT NULL CHECK (octet_length(hash) = 32),
    content bytea NOT NULL,
    PRIMARY KEY (session, hash)
);

CREATE TABLE osm.lease (
    epoch bigint PRIMARY KEY DEFAULT nextval('osm.store_number'),
    -- Chosen by the owner: a request whose reply was lost is sent again, and grants one lease.
    request text COLLATE "C" NOT NULL UNIQUE,
    session text COLLATE "C" NOT NULL,
    exclusive boolean NOT NULL,
    holder text NOT NULL,
    expires_at timestamptz NOT NULL,
    -- The number of its last update that was carried out.
    last_update bigint NOT NULL DEFAULT 0
);
CREATE INDEX lease_session ON osm.lease (session);
CREATE UNIQUE INDEX lease_exclusive ON osm.lease (session) WHERE exclusive;

CREATE TABLE osm.archive (
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('archive', 'quarantine', 'recovered', 'trash')),
    name text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT nextval('osm.store_number'),
    modified_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    content bytea NOT NULL,
    PRIMARY KEY (kind, name)
);
CREATE UNIQUE INDEX archive_order ON osm.archive (kind, number);

CREATE TABLE osm.audit (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    event text NOT NULL
);

CREATE TABLE osm.record (
    only_one boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    content bytea
);
INSERT INTO osm.record DEFAULT VALUES;
"#;
