use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::DatabaseError;

/// One row of a result.
pub struct Row(pub(crate) Columns);

pub(crate) enum Columns {
    Sqlite(SqliteRow),
    #[cfg(feature = "postgres")]
    Postgres(sqlx::postgres::PgRow),
}

/// What a column can be read as.
pub trait Field: Sized {
    /// The value of the column of that name.
    ///
    /// # Errors
    /// [`DatabaseError::Unavailable`] where there is no such column, or where it holds something else.
    fn of(row: &Row, column: &str) -> Result<Self, DatabaseError>;
}

impl Row {
    /// The value of the column of that name.
    ///
    /// # Errors
    /// As [`Field::of`].
    pub fn get<T: Field>(&self, column: &str) -> Result<T, DatabaseError> {
        T::of(self, column)
    }
}

macro_rules! read_as_stored {
    ($($kind:ty),*) => {$(
        impl Field for $kind {
            fn of(row: &Row, column: &str) -> Result<Self, DatabaseError> {
                Ok(match &row.0 {
                    Columns::Sqlite(row) => row.try_get(column)?,
                    #[cfg(feature = "postgres")]
                    Columns::Postgres(row) => row.try_get(column)?,
                })
            }
        }
    )*};
}

read_as_stored!(i64, Option<i64>, String, Option<String>, Vec<u8>);

fn narrow(number: i64, column: &str) -> Result<u32, DatabaseError> {
    u32::try_from(number).map_err(|_| DatabaseError::Unavailable(format!("{column} holds {number}")))
}

impl Field for u32 {
    fn of(row: &Row, column: &str) -> Result<Self, DatabaseError> {
        narrow(row.get(column)?, column)
    }
}

impl Field for Option<u32> {
    fn of(row: &Row, column: &str) -> Result<Self, DatabaseError> {
        row.get::<Option<i64>>(column)?.map(|number| narrow(number, column)).transpose()
    }
}

impl Field for bool {
    fn of(row: &Row, column: &str) -> Result<Self, DatabaseError> {
        Ok(row.get::<i64>(column)? != 0)
    }
}
