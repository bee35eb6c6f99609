-- Version 1. The rules are in `rules.rs`; the constraints here hold for every writer.

CREATE TABLE scope (
    id     INTEGER PRIMARY KEY,
    key    TEXT NOT NULL UNIQUE,
    folder TEXT                     -- sightings, to know a folder by another path: see scope/folder.rs
) STRICT;
CREATE INDEX scope_folder ON scope (folder) WHERE folder IS NOT NULL;

CREATE TABLE owner (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    process TEXT,                   -- what the process has in common with no other
    who     TEXT NOT NULL           -- JSON: Caller
) STRICT;
CREATE INDEX owner_session ON owner (session, id);
CREATE INDEX owner_process ON owner (process, id) WHERE process IS NOT NULL;

CREATE TABLE claim (
    epoch    INTEGER PRIMARY KEY AUTOINCREMENT,
    seal     INTEGER NOT NULL,
    scope    INTEGER NOT NULL REFERENCES scope,
    resource BLOB NOT NULL CHECK (length(resource) BETWEEN 1 AND 1024),
    owner    INTEGER NOT NULL REFERENCES owner,
    hold     TEXT NOT NULL,         -- JSON: Hold
    since    TEXT NOT NULL,
    note     TEXT,
    request  TEXT,
    offer    TEXT,                  -- JSON: Offer
    ended    TEXT,                  -- JSON: Ended
    lost     INTEGER                -- 0: its owner was not told yet, 1: it was
) STRICT;
CREATE UNIQUE INDEX claim_open ON claim (scope, resource) WHERE ended IS NULL;
CREATE UNIQUE INDEX claim_request ON claim (scope, request) WHERE request IS NOT NULL;
CREATE INDEX claim_resource ON claim (scope, resource, epoch);
CREATE INDEX claim_owner ON claim (owner) WHERE ended IS NULL;
CREATE INDEX claim_lost ON claim (owner) WHERE lost IS NOT NULL;

CREATE TABLE event (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    at       TEXT NOT NULL,
    scope    INTEGER NOT NULL REFERENCES scope,
    resource BLOB NOT NULL,
    epoch    INTEGER NOT NULL REFERENCES claim,
    actor    TEXT NOT NULL,
    deed     TEXT NOT NULL          -- JSON: Deed
) STRICT;
CREATE INDEX event_resource ON event (scope, resource, number);

-- An end is an end, and what happened has happened.
CREATE TRIGGER claim_ended BEFORE UPDATE OF ended, hold, offer, owner ON claim
    WHEN OLD.ended IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'the claim has ended'); END;
CREATE TRIGGER claim_kept BEFORE DELETE ON claim
    BEGIN SELECT RAISE(ABORT, 'claims are kept'); END;
CREATE TRIGGER event_fixed BEFORE UPDATE ON event
    BEGIN SELECT RAISE(ABORT, 'events are kept'); END;
CREATE TRIGGER event_kept BEFORE DELETE ON event
    BEGIN SELECT RAISE(ABORT, 'events are kept'); END;
