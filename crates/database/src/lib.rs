//! One way to SQLite in a file and to PostgreSQL at a URL: opening, migrations, sessions, transactions and errors.
//!
//! Invariant: a crate writes each statement once. Both databases understand it, `$1` names the first value, and what differs
//! (column types, triggers) is in the migrations of each.
#![forbid(unsafe_code)]

mod copy;
mod database;
mod error;
mod location;
mod migrate;
mod query;
mod row;
#[cfg(feature = "postgres")]
mod server;
mod session;

pub use copy::{copy_file, restore_file};
pub use database::{Database, Watch};
pub use error::DatabaseError;
pub use location::{DatabaseLocation, ServerUrl};
pub use migrate::Migrations;
pub use query::{Query, Value, query, query_of};
pub use row::{Field, Row};
pub use session::{Session, Transaction};

/// A pending database call. Boxed, so that the drivers' generic code is compiled in this crate alone and not in each dependent.
pub type DatabaseFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = Result<T, DatabaseError>> + Send + 'a>>;
