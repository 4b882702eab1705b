-- Scripts in Lua that callers have saved, by the SHA-256 of their source; one that several accounts saved is kept once.
CREATE TABLE script (
    hash   BLOB    NOT NULL PRIMARY KEY,
    source TEXT    NOT NULL
);

-- Whose they are, for the limits; account 0 is everybody without one. `turn` grows with every saving.
CREATE TABLE script_owner (
    account INTEGER NOT NULL,
    hash    BLOB    NOT NULL,
    bytes   INTEGER NOT NULL,
    turn    INTEGER NOT NULL,
    PRIMARY KEY (account, hash)
) WITHOUT ROWID;

CREATE INDEX script_owner_hash ON script_owner (hash);
