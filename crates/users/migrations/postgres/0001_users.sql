-- People who sign in. `name_key` is the name without ASCII case. The digest is Argon2id's, with the parameters beside it.
CREATE TABLE console_user (
    id              BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name            TEXT NOT NULL,
    name_key        TEXT NOT NULL UNIQUE,
    role            TEXT NOT NULL CHECK (role IN ('owner', 'member')),
    account         BIGINT,
    created_at      BIGINT NOT NULL,
    last_sign_in_at BIGINT,
    disabled_at     BIGINT,
    password_digest BYTEA NOT NULL,
    password_salt   BYTEA NOT NULL,
    memory_kib      BIGINT NOT NULL,
    passes          BIGINT NOT NULL,
    lanes           BIGINT NOT NULL,
    CHECK (role = 'owner' OR account IS NOT NULL)
);

-- Links that were handed out and not used. A used one is deleted.
CREATE TABLE console_link (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest     BYTEA NOT NULL UNIQUE,
    kind       TEXT NOT NULL CHECK (kind IN ('setup', 'invitation', 'reset', 'owner-reset')),
    role       TEXT,
    account    BIGINT,
    user_id    BIGINT REFERENCES console_user (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE TABLE console_session (
    id           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id      BIGINT NOT NULL REFERENCES console_user (id) ON DELETE CASCADE,
    client       TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL
);

CREATE INDEX console_session_user ON console_session (user_id);

-- Tokens of sessions. One that was replaced has an end.
CREATE TABLE console_token (
    digest     BYTEA NOT NULL PRIMARY KEY,
    session_id BIGINT NOT NULL REFERENCES console_session (id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    ends_at    BIGINT
);

CREATE INDEX console_token_session ON console_token (session_id);

-- Who has given the password and not yet the second factor.
CREATE TABLE console_pending (
    digest     BYTEA NOT NULL PRIMARY KEY,
    user_id    BIGINT NOT NULL REFERENCES console_user (id) ON DELETE CASCADE,
    attempts   BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE INDEX console_pending_user ON console_pending (user_id);

-- Secrets of TOTP. `last_step` is the newest step of which a code was accepted.
CREATE TABLE console_second_factor (
    user_id      BIGINT PRIMARY KEY REFERENCES console_user (id) ON DELETE CASCADE,
    secret       BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    confirmed_at BIGINT,
    last_step    BIGINT NOT NULL
);

CREATE TABLE console_recovery_code (
    digest  BYTEA NOT NULL PRIMARY KEY,
    user_id BIGINT NOT NULL REFERENCES console_user (id) ON DELETE CASCADE
);

CREATE INDEX console_recovery_code_user ON console_recovery_code (user_id);

-- One number for each name, client or second factor that was tried: when its bucket is full again.
CREATE TABLE console_throttle (
    subject BYTEA NOT NULL PRIMARY KEY,
    full_at BIGINT NOT NULL
);

CREATE INDEX console_throttle_full_at ON console_throttle (full_at);

-- Digests of the clients from which a user has signed in, for the limits of attempts.
CREATE TABLE console_known_client (
    user_id BIGINT NOT NULL REFERENCES console_user (id) ON DELETE CASCADE,
    client  BYTEA  NOT NULL,
    last_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, client)
);
