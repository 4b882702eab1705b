-- One run of the build worker; times are milliseconds since the Unix epoch.
CREATE TABLE run (
    id          TEXT    NOT NULL PRIMARY KEY,
    created_at  BIGINT  NOT NULL,
    ended_at    BIGINT,
    key_id      BIGINT  NOT NULL,
    alkane      TEXT    NOT NULL,
    wasm_sha256 TEXT    NOT NULL,
    stage       TEXT    NOT NULL,
    submission  TEXT    NOT NULL,
    outcome     TEXT
);

CREATE INDEX run_created_at ON run (created_at);

-- The best that is known of a module by building it.
CREATE TABLE record (
    wasm_sha256 TEXT    NOT NULL PRIMARY KEY,
    run         TEXT    NOT NULL,
    verdict     TEXT    NOT NULL,
    similarity  BIGINT  NOT NULL,
    repo_url    TEXT    NOT NULL,
    commit_id   TEXT,
    subdir      TEXT    NOT NULL,
    package     TEXT    NOT NULL,
    private     BIGINT,
    sources     TEXT,
    updated_at  BIGINT  NOT NULL
);

-- What an admin says of a module.
CREATE TABLE attestation (
    wasm_sha256 TEXT    NOT NULL PRIMARY KEY,
    body        TEXT    NOT NULL,
    key_id      BIGINT  NOT NULL,
    attested_at BIGINT  NOT NULL
);
