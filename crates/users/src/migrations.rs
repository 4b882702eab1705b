use paraffin_database::Migrations;

/// The schema of users. An entry that has been released never changes.
pub const MIGRATIONS: Migrations = Migrations {
    name: "users",
    is_guest: true,
    sqlite: &[include_str!("../migrations/sqlite/0001_users.sql")],
    postgres: &[include_str!("../migrations/postgres/0001_users.sql")],
};
