use paraffin_database::Migrations;

/// The schema of webhooks. An entry that has been released never changes.
pub const MIGRATIONS: Migrations = Migrations {
    name: "webhooks",
    is_guest: true,
    sqlite: &[
        include_str!("../migrations/sqlite/0001_webhooks.sql"),
        include_str!("../migrations/sqlite/0002_attempts.sql"),
    ],
    postgres: &[
        include_str!("../migrations/postgres/0001_webhooks.sql"),
        include_str!("../migrations/postgres/0002_attempts.sql"),
    ],
};
