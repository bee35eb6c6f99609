-- Version 3: messages between sessions. They are no part of what the high-water mark counts: a message
-- that is lost grants nothing.

CREATE TABLE message (
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    scope     INTEGER NOT NULL REFERENCES scope,
    at        TEXT NOT NULL,
    sender    TEXT NOT NULL,
    recipient TEXT,                 -- a session; NULL: every other session of the scope
    kind      TEXT NOT NULL,
    resource  BLOB,
    body      TEXT NOT NULL
) STRICT;
CREATE INDEX message_recipient ON message (recipient, scope, at);
CREATE INDEX message_sender ON message (sender);
CREATE INDEX message_resource ON message (scope, resource);

-- Who knows which message.
CREATE TABLE receipt (
    message INTEGER NOT NULL REFERENCES message,
    session TEXT NOT NULL,
    PRIMARY KEY (message, session)
) STRICT, WITHOUT ROWID;
