use paraffin_database::Migrations;

/// The schema of accounts. An entry that has been released never changes.
pub const MIGRATIONS: Migrations = Migrations {
    name: "access",
    is_guest: false,
    sqlite: &[
        include_str!("../migrations/sqlite/0001_keys.sql"),
        include_str!("../migrations/sqlite/0002_accounts_aliases_origins.sql"),
        include_str!("../migrations/sqlite/0003_scripts.sql"),
        include_str!("../migrations/sqlite/0004_usage.sql"),
        include_str!("../migrations/sqlite/0005_key_expiry.sql"),
    ],
    postgres: &[
        include_str!("../migrations/postgres/0001_accounts.sql"),
        include_str!("../migrations/postgres/0002_usage.sql"),
        include_str!("../migrations/postgres/0003_key_expiry.sql"),
    ],
};
