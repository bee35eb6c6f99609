-- Version 2: claims of paths, which overlap and may be shared. It is applied to a new ledger, too.

ALTER TABLE claim ADD COLUMN mode INTEGER NOT NULL DEFAULT 0;  -- bits: 1 shared, 2 everywhere, 4 automatic
ALTER TABLE claim ADD COLUMN prefix TEXT;                      -- of paths: the names that all of them start with
ALTER TABLE claim ADD COLUMN link TEXT;                        -- of a file with several names: device:inode

-- A resource has one owner, or is shared by owners that have one claim each.
DROP INDEX claim_open;
CREATE UNIQUE INDEX claim_open ON claim (scope, resource, CASE WHEN mode & 1 THEN owner ELSE 0 END)
    WHERE ended IS NULL;
CREATE INDEX claim_prefix ON claim (scope, prefix) WHERE ended IS NULL AND prefix IS NOT NULL;
CREATE INDEX claim_link ON claim (scope, link) WHERE ended IS NULL AND link IS NOT NULL;

-- Requests that wait to change something. They count while their process lives.
CREATE TABLE waiter (
    id       INTEGER PRIMARY KEY,
    scope    INTEGER NOT NULL REFERENCES scope,
    resource BLOB NOT NULL,
    link     TEXT,
    mode     INTEGER NOT NULL,
    session  TEXT NOT NULL,
    key      TEXT NOT NULL,         -- what the process has in common with no other
    process  TEXT NOT NULL          -- JSON: ProcessInstance
) STRICT;
CREATE INDEX waiter_scope ON waiter (scope);
CREATE INDEX waiter_key ON waiter (key);

DROP TRIGGER claim_ended;
CREATE TRIGGER claim_ended BEFORE UPDATE OF ended, hold, offer, owner, mode ON claim
    WHEN OLD.ended IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'the claim has ended'); END;
CREATE TRIGGER claim_fixed BEFORE UPDATE OF scope, resource, prefix, link ON claim
    BEGIN SELECT RAISE(ABORT, 'a claim keeps its resource'); END;
