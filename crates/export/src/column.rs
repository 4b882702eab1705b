//! Columns as a dataset declares them, and as the file stores them.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::ParquetError;
use parquet::schema::types::{Type, TypePtr};

/// Digits of a decimal: as many as 16 bytes hold and every reader takes.
pub(crate) const DIGITS: u32 = 38;
/// Decimal places of a price.
pub(crate) const PRICE_PLACES: u32 = 18;
/// Bytes of a decimal.
pub(crate) const DECIMAL_BYTES: usize = DECIMAL_LENGTH.cast_unsigned() as usize;
/// The same in the type of schemas.
const DECIMAL_LENGTH: i32 = 16;

/// A column of a dataset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Description of its values, with their unit.
    pub(crate) unit: &'static str,
}

/// Type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A number of 32 bits.
    Number,
    /// A moment, whole seconds.
    Time,
    /// A text that every row has.
    Text,
    /// A text that some rows have.
    OptionalText,
    /// An amount, in two columns: a decimal where it has at most 38 digits, and all its digits.
    Amount,
    /// A ratio of two amounts, in two columns: a decimal of 18 places where it has at most 20 digits before them, and the two amounts.
    Price,
}

/// A column of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    Number,
    Time,
    Text { is_optional: bool },
    Decimal { places: u32 },
}

impl Column {
    pub(crate) const fn new(name: &'static str, kind: Kind, unit: &'static str) -> Self {
        Self { name, kind, unit }
    }

    /// Its columns in the file, with what their values are.
    pub(crate) fn stored(&self) -> Vec<(String, Stored, String)> {
        let Self { name, kind, unit } = *self;
        let text = Stored::Text { is_optional: false };
        let one = |stored| vec![(name.to_owned(), stored, unit.to_owned())];
        match kind {
            Kind::Number => one(Stored::Number),
            Kind::Time => one(Stored::Time),
            Kind::Text => one(text),
            Kind::OptionalText => one(Stored::Text { is_optional: true }),
            Kind::Amount => vec![
                (
                    name.to_owned(),
                    Stored::Decimal { places: 0 },
                    format!("{unit}; null where it has more than 38 digits"),
                ),
                (format!("{name}_text"), text, format!("{unit}, all digits")),
            ],
            Kind::Price => vec![
                (
                    name.to_owned(),
                    Stored::Decimal { places: PRICE_PLACES },
                    format!("{unit}, rounded half to even; null from 10^20 on"),
                ),
                (format!("{name}_ratio"), text, format!("{unit}, exact: base units of quote/base units of base")),
            ],
        }
    }
}

impl Stored {
    fn type_of(self, name: &str) -> Result<Type, ParquetError> {
        let (physical, logical, is_optional) = match self {
            Self::Number => (Physical::INT32, LogicalType::integer(32, false), false),
            Self::Time => (Physical::INT64, LogicalType::timestamp(true, TimeUnit::MILLIS), false),
            Self::Text { is_optional } => (Physical::BYTE_ARRAY, LogicalType::String, is_optional),
            Self::Decimal { places } => {
                (Physical::FIXED_LEN_BYTE_ARRAY, LogicalType::decimal(places.cast_signed(), DIGITS.cast_signed()), true)
            }
        };
        let repetition = if is_optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let builder =
            Type::primitive_type_builder(name, physical).with_repetition(repetition).with_logical_type(Some(logical));
        match self {
            Self::Decimal { places } => builder
                .with_length(DECIMAL_LENGTH)
                .with_precision(DIGITS.cast_signed())
                .with_scale(places.cast_signed())
                .build(),
            _ => builder.build(),
        }
    }
}

/// The schema of a file with these columns.
pub(crate) fn schema(name: &str, columns: &[(String, Stored, String)]) -> Result<TypePtr, ParquetError> {
    let fields = columns.iter().map(|(name, stored, _)| stored.type_of(name).map(Arc::new));
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder(name).with_fields(fields).build()?))
}
