-- Endpoints of accounts. `cursor` is the position after what the receiver has acknowledged. A lease is held by `lease_owner` until
-- `lease_until`; `lease_token` grows whenever it is taken and whenever the account changes what is delivered, so that work which
-- began before writes nothing any more.
CREATE TABLE webhook_endpoint (
    id               BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account          BIGINT NOT NULL,
    url              TEXT NOT NULL,
    filter           TEXT NOT NULL,
    description      TEXT,
    state            TEXT NOT NULL CHECK (state IN ('active', 'paused', 'failing', 'gone', 'lost')),
    cursor           TEXT NOT NULL,
    secret           BYTEA NOT NULL,
    old_secret       BYTEA NOT NULL,
    old_secret_until BIGINT NOT NULL,
    created_at       BIGINT NOT NULL,
    last_success_at  BIGINT,
    last_error       TEXT,
    last_error_at    BIGINT,
    failures         BIGINT NOT NULL,
    failing_since    BIGINT,
    next_attempt_at  BIGINT NOT NULL,
    taken_at         BIGINT NOT NULL,
    lease_owner      TEXT NOT NULL,
    lease_until      BIGINT NOT NULL,
    lease_token      BIGINT NOT NULL
);

CREATE INDEX webhook_endpoint_account ON webhook_endpoint (account);
CREATE INDEX webhook_endpoint_due ON webhook_endpoint (state, next_attempt_at);

-- The message that an endpoint has to acknowledge before it gets another one.
CREATE TABLE webhook_message (
    endpoint   BIGINT NOT NULL PRIMARY KEY REFERENCES webhook_endpoint (id) ON DELETE CASCADE,
    id         TEXT NOT NULL,
    body       TEXT NOT NULL,
    cursor     TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
