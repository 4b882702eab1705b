//! One way to SQLite in a file and to PostgreSQL at a URL: opening, migrations, sessions, transactions and errors.
//!
//! Invariant: a crate writes each statement once. Both databases understand it, `$1` names the first value, and what differs
//! (types of columns, triggers) stands in the migrations of each.
#![forbid(unsafe_code)]

mod copy;
mod database;
mod error;
mod migrate;
mod place;
mod query;
mod row;
#[cfg(feature = "postgres")]
mod server;
mod session;

pub use copy::{copy_file, restore_file};
pub use database::{Database, Watch};
pub use error::DatabaseError;
pub use migrate::Migrations;
pub use place::{Place, ServerUrl};
pub use query::{Query, Value, query, query_of};
pub use row::{Field, Row};
pub use session::{Session, Transaction};

/// What is asked of a database. Boxed, so that the drivers' machinery is compiled here alone and not in every crate that asks.
pub type DatabaseFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = Result<T, DatabaseError>> + Send + 'a>>;
