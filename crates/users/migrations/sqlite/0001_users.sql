-- People who sign in. `name_key` is the name without ASCII case. The digest is Argon2id's, with the parameters beside it.
CREATE TABLE console_user (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL,
    name_key        TEXT    NOT NULL UNIQUE,
    role            TEXT    NOT NULL CHECK (role IN ('owner', 'member')),
    account         INTEGER,
    created_at      INTEGER NOT NULL,
    last_sign_in_at INTEGER,
    disabled_at     INTEGER,
    password_digest BLOB    NOT NULL,
    password_salt   BLOB    NOT NULL,
    memory_kib      INTEGER NOT NULL,
    passes          INTEGER NOT NULL,
    lanes           INTEGER NOT NULL,
    CHECK (role = 'owner' OR account IS NOT NULL)
);

-- Links that were handed out and not used. A used one is deleted.
CREATE TABLE console_link (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    digest     BLOB    NOT NULL UNIQUE,
    kind       TEXT    NOT NULL CHECK (kind IN ('setup', 'invitation', 'reset', 'owner-reset')),
    role       TEXT,
    account    INTEGER,
    user_id    INTEGER REFERENCES console_user (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
);

CREATE TABLE console_session (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id      INTEGER NOT NULL REFERENCES console_user (id) ON DELETE CASCADE,
    client       TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL
);

CREATE INDEX console_session_user ON console_session (user_id);

-- Tokens of sessions. One that was replaced has an end.
CREATE TABLE console_token (
    digest     BLOB    NOT NULL PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES console_session (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    ends_at    INTEGER
);

CREATE INDEX console_token_session ON console_token (session_id);

-- Who has given the password and not yet the second factor.
CREATE TABLE console_pending (
    digest     BLOB    NOT NULL PRIMARY KEY,
    user_id    INTEGER NOT NULL REFERENCES console_user (id) ON DELETE CASCADE,
    attempts   INTEGER NOT NULL,
    created_at INTEGER NOT NULL
);

CREATE INDEX console_pending_user ON console_pending (user_id);

-- Secrets of TOTP. `last_step` is the newest step of which a code was accepted.
CREATE TABLE console_second_factor (
    user_id      INTEGER PRIMARY KEY REFERENCES console_user (id) ON DELETE CASCADE,
    secret       BLOB    NOT NULL,
    created_at   INTEGER NOT NULL,
    confirmed_at INTEGER,
    last_step    INTEGER NOT NULL
);

CREATE TABLE console_recovery_code (
    digest  BLOB    NOT NULL PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES console_user (id) ON DELETE CASCADE
);

CREATE INDEX console_recovery_code_user ON console_recovery_code (user_id);

-- One number for each name, client or second factor that was tried: when its bucket is full again.
CREATE TABLE console_throttle (
    subject BLOB    NOT NULL PRIMARY KEY,
    full_at INTEGER NOT NULL
);

CREATE INDEX console_throttle_full_at ON console_throttle (full_at);

-- Digests of the clients from which a user has signed in, for the limits of attempts.
CREATE TABLE console_known_client (
    user_id INTEGER NOT NULL REFERENCES console_user (id) ON DELETE CASCADE,
    client  BLOB    NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, client)
);
