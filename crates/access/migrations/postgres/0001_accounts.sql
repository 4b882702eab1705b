CREATE TABLE account (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       TEXT   NOT NULL,
    plan       TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE api_key (
    id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account       BIGINT NOT NULL REFERENCES account (id),
    name          TEXT   NOT NULL,
    prefix        TEXT   NOT NULL,
    digest        BYTEA  NOT NULL UNIQUE,
    per_minute    BIGINT,
    per_day       BIGINT,
    admin         BIGINT NOT NULL,
    management    BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT,
    request_count BIGINT NOT NULL DEFAULT 0,
    expires_at    BIGINT,
    revoked_at    BIGINT
);

-- Keys are looked up by the first bytes of their digest; the whole digest is then compared in constant time.
CREATE INDEX api_key_tag ON api_key (substr(digest, 1, 8));
CREATE INDEX api_key_account ON api_key (account);

CREATE TABLE alias (
    id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account       BIGINT NOT NULL REFERENCES account (id),
    name          TEXT   NOT NULL UNIQUE,
    surfaces      TEXT   NOT NULL,
    per_minute    BIGINT,
    per_day       BIGINT,
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT,
    request_count BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE origin (
    id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account       BIGINT NOT NULL REFERENCES account (id),
    pattern       TEXT   NOT NULL,
    token         TEXT   NOT NULL,
    created_at    BIGINT NOT NULL,
    verified_at   BIGINT,
    last_used_at  BIGINT,
    request_count BIGINT NOT NULL DEFAULT 0,
    UNIQUE (account, pattern)
);

CREATE INDEX origin_pattern ON origin (pattern);

-- Counts of the current minute and day; `minute` and `day` are numbers since the Unix epoch.
CREATE TABLE window_count (
    subject      BIGINT NOT NULL PRIMARY KEY,
    minute       BIGINT NOT NULL,
    minute_count BIGINT NOT NULL,
    day          BIGINT NOT NULL,
    day_count    BIGINT NOT NULL
);

-- Scripts in Lua that callers have saved, by the SHA-256 of their source; bytes, since a text may not hold everything here.
CREATE TABLE script (
    hash   BYTEA NOT NULL PRIMARY KEY,
    source BYTEA NOT NULL
);

-- Whose they are, for the limits; account 0 is everybody without one. `turn` grows with every saving.
CREATE TABLE script_owner (
    account BIGINT NOT NULL,
    hash    BYTEA  NOT NULL,
    bytes   BIGINT NOT NULL,
    turn    BIGINT NOT NULL,
    PRIMARY KEY (account, hash)
);

CREATE INDEX script_owner_hash ON script_owner (hash);

CREATE TABLE audit (
    id      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      BIGINT NOT NULL,
    actor   TEXT   NOT NULL,
    action  TEXT   NOT NULL,
    subject TEXT   NOT NULL,
    detail  TEXT   NOT NULL
);

CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END
$$;

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();

-- One number that moves with every change that decides who may call, whichever process makes it; and a name by which counts
-- elsewhere are known to belong to these accounts.
CREATE TABLE access_version (
    only_row BIGINT NOT NULL PRIMARY KEY CHECK (only_row = 1),
    value    BIGINT NOT NULL,
    identity TEXT   NOT NULL
);

INSERT INTO access_version (only_row, value, identity) VALUES (1, 1, md5(clock_timestamp()::text || random()::text));

CREATE FUNCTION access_version_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE access_version SET value = value + 1;
    RETURN NULL;
END
$$;

CREATE TRIGGER key_change_moves_the_version
AFTER UPDATE OF name, digest, account, per_minute, per_day, admin, management, expires_at, revoked_at ON api_key
FOR EACH STATEMENT EXECUTE FUNCTION access_version_moves();

CREATE TRIGGER key_removal_moves_the_version AFTER DELETE OR TRUNCATE ON api_key
FOR EACH STATEMENT EXECUTE FUNCTION access_version_moves();

CREATE TRIGGER account_change_moves_the_version AFTER UPDATE ON account
FOR EACH STATEMENT EXECUTE FUNCTION access_version_moves();

CREATE TRIGGER alias_change_moves_the_version
AFTER UPDATE OF account, name, surfaces, per_minute, per_day ON alias
FOR EACH STATEMENT EXECUTE FUNCTION access_version_moves();

CREATE TRIGGER alias_removal_moves_the_version AFTER DELETE OR TRUNCATE ON alias
FOR EACH STATEMENT EXECUTE FUNCTION access_version_moves();

CREATE TRIGGER origin_change_moves_the_version AFTER UPDATE OF account, pattern, token, verified_at ON origin
FOR EACH STATEMENT EXECUTE FUNCTION access_version_moves();

CREATE TRIGGER origin_removal_moves_the_version AFTER DELETE OR TRUNCATE ON origin
FOR EACH STATEMENT EXECUTE FUNCTION access_version_moves();
