CREATE TABLE account (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL,
    plan       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
);

-- Every key that stood alone becomes the key of an account of its own.
INSERT INTO account (id, name, plan, created_at) SELECT id, name, plan, created_at FROM api_key;

DROP TRIGGER key_change_moves_the_version;
ALTER TABLE api_key ADD COLUMN account INTEGER NOT NULL DEFAULT 0;
UPDATE api_key SET account = id;
ALTER TABLE api_key DROP COLUMN plan;
ALTER TABLE api_key ADD COLUMN per_minute INTEGER;
ALTER TABLE api_key ADD COLUMN per_day INTEGER;

-- Keys are looked up by the first bytes of their digest; the whole digest is then compared in constant time.
CREATE INDEX api_key_tag ON api_key (substr(digest, 1, 8));
CREATE INDEX api_key_account ON api_key (account);

CREATE TABLE alias (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    account       INTEGER NOT NULL,
    name          TEXT    NOT NULL UNIQUE,
    surfaces      TEXT    NOT NULL,
    per_minute    INTEGER,
    per_day       INTEGER,
    created_at    INTEGER NOT NULL,
    last_used_at  INTEGER,
    request_count INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE origin (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    account       INTEGER NOT NULL,
    pattern       TEXT    NOT NULL,
    token         TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    verified_at   INTEGER,
    last_used_at  INTEGER,
    request_count INTEGER NOT NULL DEFAULT 0,
    UNIQUE (account, pattern)
);

CREATE INDEX origin_pattern ON origin (pattern);

-- Counts of the current minute and day; `minute` and `day` are numbers since the Unix epoch.
CREATE TABLE window_count (
    subject      INTEGER PRIMARY KEY,
    minute       INTEGER NOT NULL,
    minute_count INTEGER NOT NULL,
    day          INTEGER NOT NULL,
    day_count    INTEGER NOT NULL
);

CREATE TRIGGER key_change_moves_the_version
AFTER UPDATE OF name, digest, account, per_minute, per_day, admin, management, expires_at, revoked_at ON api_key
BEGIN
    UPDATE access_version SET value = value + 1;
END;

CREATE TRIGGER account_change_moves_the_version AFTER UPDATE ON account
BEGIN
    UPDATE access_version SET value = value + 1;
END;

CREATE TRIGGER alias_change_moves_the_version
AFTER UPDATE OF account, name, surfaces, per_minute, per_day ON alias
BEGIN
    UPDATE access_version SET value = value + 1;
END;

CREATE TRIGGER alias_removal_moves_the_version AFTER DELETE ON alias
BEGIN
    UPDATE access_version SET value = value + 1;
END;

CREATE TRIGGER origin_change_moves_the_version AFTER UPDATE OF account, pattern, token, verified_at ON origin
BEGIN
    UPDATE access_version SET value = value + 1;
END;

CREATE TRIGGER origin_removal_moves_the_version AFTER DELETE ON origin
BEGIN
    UPDATE access_version SET value = value + 1;
END;
