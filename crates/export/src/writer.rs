//! Rows to columns, and columns to the file.

use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, FixedLenByteArray, FixedLenByteArrayType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};

use crate::cell::{self, Cell};
use crate::column::{Column, DECIMAL_BYTES, Stored, schema};

/// Bytes of a row group in memory; compressed it is a third or less.
const GROUP_BYTES: usize = 64 << 20;
/// Rows of a row group.
const GROUP_ROWS: usize = 1_000_000;

/// Writes rows into row groups of bounded bytes.
pub(crate) struct TableWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: &'static [Column],
    buffers: Vec<Buffer>,
    group_bytes_max: usize,
    /// Rows of the group that is not written yet.
    waiting: usize,
    rows: u64,
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a file of one dataset. `notes` go to its metadata, beside the unit of every column.
    pub(crate) fn new(
        output: W,
        name: &str,
        columns: &'static [Column],
        notes: Vec<(String, String)>,
    ) -> Result<Self, ParquetError> {
        let stored: Vec<_> = columns.iter().flat_map(Column::stored).collect();
        let units = stored.iter().map(|(name, _, unit)| (format!("paraffin.unit.{name}"), unit.clone()));
        let notes = notes.into_iter().chain(units).map(|(key, value)| KeyValue::new(key, value)).collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(format!("paraffin {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(notes))
            .build();
        let file = SerializedFileWriter::new(output, schema(name, &stored)?, Arc::new(properties))?;
        let buffers = stored.iter().map(|(_, stored, _)| Buffer::of(*stored)).collect();
        Ok(Self { file, columns, buffers, group_bytes_max: GROUP_BYTES, waiting: 0, rows: 0 })
    }

    /// Rows so far.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds a row: a cell for each column of the dataset.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) -> Result<(), ParquetError> {
        if cells.len() != self.columns.len() {
            return Err(ParquetError::General("a row has another number of cells than there are columns".to_owned()));
        }
        let mut buffers = self.buffers.iter_mut();
        let mut add = |value: Value<'_>| buffers.next().is_some_and(|buffer| buffer.push(value));
        for (cell, column) in cells.into_iter().zip(self.columns) {
            let fits = match &cell {
                Cell::Absent => add(Value::Absent),
                Cell::Number(number) => add(Value::Number(*number)),
                Cell::Time(seconds) => add(Value::Time(*seconds)),
                Cell::Text(text) => add(Value::Text(text)),
                Cell::Amount(amount) => {
                    add(Value::Decimal(cell::decimal(*amount))) && add(Value::Text(&amount.to_string()))
                }
                Cell::Price(ratio) => {
                    add(Value::Decimal(cell::price(*ratio))) && add(Value::Text(&cell::ratio(*ratio)))
                }
            };
            if !fits {
                return Err(ParquetError::General(format!("the column {} cannot hold {cell:?}", column.name)));
            }
        }
        self.waiting += 1;
        self.rows += 1;
        let bytes: usize = self.buffers.iter().map(Buffer::bytes).sum();
        if bytes >= self.group_bytes_max || self.waiting >= GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    /// Writes the remaining rows and ends the file; returns the number of its rows.
    pub(crate) fn finish(mut self) -> Result<u64, ParquetError> {
        self.write_group()?;
        self.file.close()?;
        Ok(self.rows)
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        if self.waiting == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for buffer in &mut self.buffers {
            let missing = || ParquetError::General("a row group has fewer columns than its schema".to_owned());
            buffer.write(group.next_column()?.ok_or_else(missing)?)?;
        }
        group.close()?;
        self.waiting = 0;
        Ok(())
    }
}

/// A value of a column of the file.
enum Value<'v> {
    Absent,
    Number(u32),
    Time(u32),
    Text(&'v str),
    Decimal(Option<[u8; DECIMAL_BYTES]>),
}

/// The values of one column of the file in the group that is not written yet.
enum Buffer {
    Numbers(Vec<i32>),
    Times(Vec<i64>),
    Texts { bytes: Vec<u8>, ends: Vec<usize>, levels: Option<Vec<i16>> },
    Decimals { bytes: Vec<u8>, levels: Vec<i16> },
}

impl Buffer {
    fn of(stored: Stored) -> Self {
        match stored {
            Stored::Number => Self::Numbers(Vec::new()),
            Stored::Time => Self::Times(Vec::new()),
            Stored::Text { is_optional } => {
                Self::Texts { bytes: Vec::new(), ends: Vec::new(), levels: is_optional.then(Vec::new) }
            }
            Stored::Decimal { .. } => Self::Decimals { bytes: Vec::new(), levels: Vec::new() },
        }
    }

    /// Adds a value; returns whether it has the type of this column.
    fn push(&mut self, value: Value<'_>) -> bool {
        match (self, value) {
            // The format knows unsigned numbers as signed ones of the same bits.
            (Self::Numbers(values), Value::Number(number)) => values.push(number.cast_signed()),
            (Self::Times(values), Value::Time(seconds)) => values.push(i64::from(seconds) * 1_000),
            (Self::Texts { bytes, ends, levels }, Value::Text(text)) => {
                bytes.extend_from_slice(text.as_bytes());
                ends.push(bytes.len());
                if let Some(levels) = levels {
                    levels.push(1);
                }
            }
            (Self::Texts { levels: Some(levels), .. }, Value::Absent) => levels.push(0),
            (Self::Decimals { bytes, levels }, Value::Decimal(decimal)) => {
                levels.push(i16::from(decimal.is_some()));
                bytes.extend(decimal.iter().flatten());
            }
            _ => return false,
        }
        true
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len() * 4,
            Self::Times(values) => values.len() * 8,
            Self::Texts { bytes, ends, levels } => {
                bytes.len() + ends.len() * 8 + levels.as_ref().map_or(0, |levels| levels.len() * 2)
            }
            Self::Decimals { bytes, levels } => bytes.len() + levels.len() * 2,
        }
    }

    /// Writes all values and clears them.
    fn write(&mut self, mut column: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        match self {
            Self::Numbers(values) => {
                column.typed::<Int32Type>().write_batch(values, None, None)?;
                values.clear();
            }
            Self::Times(values) => {
                column.typed::<Int64Type>().write_batch(values, None, None)?;
                values.clear();
            }
            Self::Texts { bytes, ends, levels } => {
                let all = Bytes::from(std::mem::take(bytes));
                let begins = std::iter::once(0).chain(ends.iter().copied());
                let values: Vec<_> =
                    begins.zip(ends.iter()).map(|(begin, end)| ByteArray::from(all.slice(begin..*end))).collect();
                column.typed::<ByteArrayType>().write_batch(&values, levels.as_deref(), None)?;
                ends.clear();
                levels.iter_mut().for_each(Vec::clear);
            }
            Self::Decimals { bytes, levels } => {
                let all = Bytes::from(std::mem::take(bytes));
                let begins = (0..all.len()).step_by(DECIMAL_BYTES);
                let values: Vec<_> = begins
                    .map(|begin| FixedLenByteArray::from(ByteArray::from(all.slice(begin..begin + DECIMAL_BYTES))))
                    .collect();
                column.typed::<FixedLenByteArrayType>().write_batch(&values, Some(levels), None)?;
                levels.clear();
            }
        }
        column.close()
    }
}

#[cfg(test)]
mod tests;
