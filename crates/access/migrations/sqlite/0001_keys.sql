CREATE TABLE api_key (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    name          TEXT    NOT NULL,
    prefix        TEXT    NOT NULL,
    digest        BLOB    NOT NULL UNIQUE,
    plan          TEXT    NOT NULL,
    admin         INTEGER NOT NULL,
    management    INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    last_used_at  INTEGER,
    request_count INTEGER NOT NULL DEFAULT 0,
    expires_at    INTEGER,
    revoked_at    INTEGER
);

CREATE TABLE audit (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    actor   TEXT    NOT NULL,
    action  TEXT    NOT NULL,
    subject TEXT    NOT NULL,
    detail  TEXT    NOT NULL
);

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;

-- One number that moves with every change that decides who may call, whichever process makes it.
CREATE TABLE access_version (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    value    INTEGER NOT NULL
);

INSERT INTO access_version (only_row, value) VALUES (1, 1);

CREATE TRIGGER key_change_moves_the_version
AFTER UPDATE OF name, digest, plan, admin, management, expires_at, revoked_at ON api_key
BEGIN
    UPDATE access_version SET value = value + 1;
END;

CREATE TRIGGER key_removal_moves_the_version AFTER DELETE ON api_key
BEGIN
    UPDATE access_version SET value = value + 1;
END;
