-- Files of stored sources by SHA-256, in parts, where every gateway can read them; times are milliseconds since the Unix epoch.
CREATE TABLE source_part (
    digest   TEXT   NOT NULL,
    part     BIGINT NOT NULL,
    size     BIGINT NOT NULL,
    bytes    BYTEA  NOT NULL,
    added_at BIGINT NOT NULL,
    PRIMARY KEY (digest, part)
);
