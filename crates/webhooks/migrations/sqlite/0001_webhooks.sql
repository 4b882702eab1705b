-- Endpoints of accounts. `cursor` is the position after what the receiver has acknowledged. A lease is held by `lease_owner` until
-- `lease_until`; `lease_token` grows whenever it is taken and whenever the account changes what is delivered, so that work which
-- began before writes nothing any more.
CREATE TABLE webhook_endpoint (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    account          INTEGER NOT NULL,
    url              TEXT NOT NULL,
    filter           TEXT NOT NULL,
    description      TEXT,
    state            TEXT NOT NULL CHECK (state IN ('active', 'paused', 'failing', 'gone', 'lost')),
    cursor           TEXT NOT NULL,
    secret           BLOB NOT NULL,
    old_secret       BLOB NOT NULL,
    old_secret_until INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    last_success_at  INTEGER,
    last_error       TEXT,
    last_error_at    INTEGER,
    failures         INTEGER NOT NULL,
    failing_since    INTEGER,
    next_attempt_at  INTEGER NOT NULL,
    taken_at         INTEGER NOT NULL,
    lease_owner      TEXT NOT NULL,
    lease_until      INTEGER NOT NULL,
    lease_token      INTEGER NOT NULL
);

CREATE INDEX webhook_endpoint_account ON webhook_endpoint (account);
CREATE INDEX webhook_endpoint_due ON webhook_endpoint (state, next_attempt_at);

-- The message that an endpoint has to acknowledge before it gets another one.
CREATE TABLE webhook_message (
    endpoint   INTEGER NOT NULL PRIMARY KEY REFERENCES webhook_endpoint (id) ON DELETE CASCADE,
    id         TEXT NOT NULL,
    body       TEXT NOT NULL,
    cursor     TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
