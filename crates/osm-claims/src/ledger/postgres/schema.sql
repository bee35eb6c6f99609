-- Version 1. The rules are in `rules.rs`; the constraints here hold for every writer.
-- Names and prefixes are bytes, so that no collation of the server decides what is the same.

CREATE TABLE osm.claim_scope (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key    text NOT NULL UNIQUE,    -- what clones have in common, or a name: see scope/shared.rs
    folder text                     -- sightings, where machines have nothing in common: see scope/folder.rs
);

CREATE TABLE osm.claim_owner (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session text NOT NULL,
    process text,                   -- what the process has in common with no other
    who     text NOT NULL           -- JSON: Caller
);
CREATE INDEX claim_owner_session ON osm.claim_owner (session, id);
CREATE INDEX claim_owner_process ON osm.claim_owner (process, id) WHERE process IS NOT NULL;

CREATE TABLE osm.claim (
    epoch    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    seal     bigint NOT NULL CHECK (seal BETWEEN 0 AND 4294967295),
    scope    bigint NOT NULL REFERENCES osm.claim_scope,
    resource bytea NOT NULL CHECK (octet_length(resource) BETWEEN 1 AND 1024),
    owner    bigint NOT NULL REFERENCES osm.claim_owner,
    mode     smallint NOT NULL CHECK (mode BETWEEN 0 AND 7),  -- bits: 1 shared, 2 everywhere, 4 automatic
    prefix   bytea,                 -- of paths: the names that all of them start with
    link     text,                  -- of a file with several names: device:inode
    hold     text NOT NULL,         -- JSON: Hold
    term     bigint CHECK (term > 0),  -- of a lease that the owner's machine renews, in microseconds
    renewed  bigint,                -- when that lease started last, in microseconds of the server's clock
    since    text NOT NULL,
    note     text,
    request  text,
    offer    text,                  -- JSON: Offer
    ended    text,                  -- JSON: Ended
    lost     boolean,               -- whether its owner was told
    CHECK ((term IS NULL) = (renewed IS NULL)),
    CHECK (lost IS NULL OR ended IS NOT NULL)
);
-- A resource has one owner, or is shared by owners that have one claim each.
CREATE UNIQUE INDEX claim_open
    ON osm.claim (scope, resource, (CASE WHEN mode & 1 = 1 THEN owner ELSE 0 END)) WHERE ended IS NULL;
CREATE UNIQUE INDEX claim_request ON osm.claim (scope, request) WHERE request IS NOT NULL;
CREATE INDEX claim_resource ON osm.claim (scope, resource, epoch);
CREATE INDEX claim_of_owner ON osm.claim (owner) WHERE ended IS NULL;
CREATE INDEX claim_lost ON osm.claim (owner) WHERE lost IS NOT NULL;
CREATE INDEX claim_prefix ON osm.claim (scope, prefix) WHERE ended IS NULL AND prefix IS NOT NULL;
CREATE INDEX claim_link ON osm.claim (scope, link) WHERE ended IS NULL AND link IS NOT NULL;

CREATE TABLE osm.claim_event (
    number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at       text NOT NULL,
    scope    bigint NOT NULL REFERENCES osm.claim_scope,
    resource bytea NOT NULL,
    epoch    bigint NOT NULL REFERENCES osm.claim,
    actor    text NOT NULL,
    deed     text NOT NULL          -- JSON: Transition
);
CREATE INDEX claim_event_resource ON osm.claim_event (scope, resource, number);

-- Requests that wait to change something. They count while their process lives, and while their machine
-- says so.
CREATE TABLE osm.claim_waiter (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope    bigint NOT NULL REFERENCES osm.claim_scope,
    resource bytea NOT NULL,
    link     text,
    mode     smallint NOT NULL CHECK (mode BETWEEN 0 AND 7),
    session  text NOT NULL,
    key      text NOT NULL,         -- what the process has in common with no other
    process  text NOT NULL          -- JSON: ProcessInstance
);
CREATE INDEX claim_waiter_scope ON osm.claim_waiter (scope);
CREATE INDEX claim_waiter_key ON osm.claim_waiter (key);

-- Messages between sessions.
CREATE TABLE osm.claim_message (
    number    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    scope     bigint NOT NULL REFERENCES osm.claim_scope,
    sent      bigint NOT NULL,      -- when, in microseconds since 1970
    sender    text NOT NULL,
    recipient text,                 -- a session; NULL: every other session of the scope
    kind      text NOT NULL,
    resource  bytea,
    body      text NOT NULL
);
CREATE INDEX claim_message_recipient ON osm.claim_message (recipient, scope, sent);
CREATE INDEX claim_message_sender ON osm.claim_message (sender);
CREATE INDEX claim_message_resource ON osm.claim_message (scope, resource);

-- Who knows which message.
CREATE TABLE osm.claim_receipt (
    message bigint NOT NULL REFERENCES osm.claim_message,
    session text NOT NULL,
    PRIMARY KEY (message, session)
);
CREATE INDEX claim_receipt_session ON osm.claim_receipt (session);

-- An end is an end, and what happened has happened.
CREATE FUNCTION osm.claim_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER claim_ended BEFORE UPDATE OF ended, hold, renewed, offer, owner, mode ON osm.claim
    FOR EACH ROW WHEN (OLD.ended IS NOT NULL) EXECUTE FUNCTION osm.claim_refuse('the claim has ended');
CREATE TRIGGER claim_fixed BEFORE UPDATE OF epoch, seal, scope, resource, prefix, link ON osm.claim
    FOR EACH ROW EXECUTE FUNCTION osm.claim_refuse('a claim keeps its resource');
CREATE TRIGGER claim_kept BEFORE DELETE ON osm.claim
    FOR EACH ROW EXECUTE FUNCTION osm.claim_refuse('claims are kept');
CREATE TRIGGER claim_event_kept BEFORE UPDATE OR DELETE ON osm.claim_event
    FOR EACH ROW EXECUTE FUNCTION osm.claim_refuse('events are kept');

-- Those who wait look again.
CREATE FUNCTION osm.claim_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('osm_claims', '');
    RETURN NULL;
END $$;
CREATE TRIGGER claim_event_told AFTER INSERT ON osm.claim_event
    FOR EACH STATEMENT EXECUTE FUNCTION osm.claim_changed();
CREATE TRIGGER claim_message_told AFTER INSERT ON osm.claim_message
    FOR EACH STATEMENT EXECUTE FUNCTION osm.claim_changed();
CREATE TRIGGER claim_waiter_told AFTER DELETE ON osm.claim_waiter
    FOR EACH ROW EXECUTE FUNCTION osm.claim_changed();
