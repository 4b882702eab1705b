use sqlx::{AssertSqlSafe, Executor as _, SqlStr, Sqlite};

use crate::row::{Columns, Row};
#[cfg(feature = "postgres")]
use crate::server::in_time;
use crate::session::{Engine, Session};
use crate::{DatabaseError, DatabaseFuture, Transaction};

/// A bound parameter of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// An integer, or NULL.
    Integer(Option<i64>),
    /// Text, or NULL.
    Text(Option<String>),
    /// Bytes.
    Bytes(Vec<u8>),
}

macro_rules! value_of {
    ($($kind:ty => $value:ident, $make:expr;)*) => {$(
        impl From<$kind> for Value {
            fn from($value: $kind) -> Self {
                $make
            }
        }
    )*};
}

value_of! {
    i64 => number, Self::Integer(Some(number));
    u32 => number, Self::Integer(Some(number.into()));
    bool => flag, Self::Integer(Some(flag.into()));
    Option<i64> => number, Self::Integer(number);
    Option<u32> => number, Self::Integer(number.map(Into::into));
    Option<bool> => flag, Self::Integer(flag.map(Into::into));
    &str => text, Self::Text(Some(text.to_owned()));
    String => text, Self::Text(Some(text));
    &String => text, Self::Text(Some(text.clone()));
    &Option<String> => text, Self::Text(text.clone());
    &[u8] => bytes, Self::Bytes(bytes.to_vec());
    Vec<u8> => bytes, Self::Bytes(bytes);
    &Vec<u8> => bytes, Self::Bytes(bytes.clone());
}

/// One statement and its values.
#[must_use = "a statement does nothing until it is run"]
pub struct Query {
    text: SqlStr,
    values: Vec<Value>,
    is_persistent: bool,
}

/// A statement that is written in the program.
pub fn query(text: &'static str) -> Query {
    Query { text: sqlx::SqlSafeStr::into_sql_str(text), values: Vec::new(), is_persistent: true }
}

/// A statement that the program assembles from its own constants alone: input of callers goes through
/// [`Query::bind`].
pub fn query_of(text: String) -> Query {
    Query { text: sqlx::SqlSafeStr::into_sql_str(AssertSqlSafe(text)), values: Vec::new(), is_persistent: true }
}

impl Query {
    /// The next value: the first is `$1`.
    pub fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Leaves the statement out of the cache of prepared statements, for a text that seldom repeats.
    pub fn once(mut self) -> Self {
        self.is_persistent = false;
        self
    }

    /// Runs it; the number of rows that it changed.
    ///
    /// # Errors
    /// [`DatabaseError::Unavailable`].
    pub fn execute(self, session: &mut Session) -> DatabaseFuture<'_, u64> {
        Box::pin(async move {
            match session.engine() {
                Engine::Sqlite(connection) => Ok(connection.execute(self.sqlite()).await?.rows_affected()),
                #[cfg(feature = "postgres")]
                Engine::Postgres(connection) => Ok(in_time(connection.execute(self.postgres())).await?.rows_affected()),
            }
        })
    }

    /// Its one row.
    ///
    /// # Errors
    /// [`DatabaseError::Unavailable`], also where there is none.
    pub fn fetch_one(self, session: &mut Session) -> DatabaseFuture<'_, Row> {
        Box::pin(async move {
            let row = self.fetch_optional(session).await?;
            row.ok_or_else(|| DatabaseError::Unavailable("a row is missing".to_owned()))
        })
    }

    /// Its first row, if it has any.
    ///
    /// # Errors
    /// [`DatabaseError::Unavailable`].
    pub fn fetch_optional(self, session: &mut Session) -> DatabaseFuture<'_, Option<Row>> {
        Box::pin(async move {
            Ok(match session.engine() {
                Engine::Sqlite(connection) => {
                    connection.fetch_optional(self.sqlite()).await?.map(|row| Row(Columns::Sqlite(row)))
                }
                #[cfg(feature = "postgres")]
                Engine::Postgres(connection) => {
                    in_time(connection.fetch_optional(self.postgres())).await?.map(|row| Row(Columns::Postgres(row)))
                }
            })
        })
    }

    /// All its rows.
    ///
    /// # Errors
    /// [`DatabaseError::Unavailable`].
    pub fn fetch_all(self, session: &mut Session) -> DatabaseFuture<'_, Vec<Row>> {
        Box::pin(async move {
            Ok(match session.engine() {
                Engine::Sqlite(connection) => {
                    let rows = connection.fetch_all(self.sqlite()).await?;
                    rows.into_iter().map(|row| Row(Columns::Sqlite(row))).collect()
                }
                #[cfg(feature = "postgres")]
                Engine::Postgres(connection) => {
                    let rows = in_time(connection.fetch_all(self.postgres())).await?;
                    rows.into_iter().map(|row| Row(Columns::Postgres(row))).collect()
                }
            })
        })
    }

    fn sqlite(self) -> sqlx::query::Query<'static, Sqlite, sqlx::sqlite::SqliteArguments> {
        let mut query = sqlx::query(self.text).persistent(self.is_persistent);
        for value in self.values {
            query = match value {
                Value::Integer(number) => query.bind(number),
                Value::Text(text) => query.bind(text),
                Value::Bytes(bytes) => query.bind(bytes),
            };
        }
        query
    }

    #[cfg(feature = "postgres")]
    fn postgres(self) -> sqlx::query::Query<'static, sqlx::Postgres, sqlx::postgres::PgArguments> {
        let mut query = sqlx::query(self.text).persistent(self.is_persistent);
        for value in self.values {
            query = match value {
                Value::Integer(number) => query.bind(number),
                Value::Text(text) => query.bind(text),
                Value::Bytes(bytes) => query.bind(bytes),
            };
        }
        query
    }
}

/// Runs several statements at once, as a migration is.
pub(crate) async fn run_all(transaction: &mut Transaction, text: &'static str) -> Result<(), DatabaseError> {
    match transaction.engine() {
        Engine::Sqlite(connection) => connection.execute(sqlx::raw_sql(text)).await.map(drop)?,
        #[cfg(feature = "postgres")]
        Engine::Postgres(connection) => connection.execute(sqlx::raw_sql(text)).await.map(drop)?,
    }
    Ok(())
}
