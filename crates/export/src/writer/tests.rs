use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use ruint::aliases::U256;

use super::*;
use crate::column::Kind;

const COLUMNS: &[Column] = &[
    Column::new("height", Kind::Number, "blocks"),
    Column::new("time", Kind::Time, "UTC"),
    Column::new("name", Kind::Text, "a name"),
    Column::new("address", Kind::OptionalText, "an address"),
    Column::new("amount", Kind::Amount, "base units"),
];

fn row(number: u32) -> Vec<Cell> {
    let address = if number.is_multiple_of(3) { Cell::Absent } else { Cell::text(number) };
    let amount = if number.is_multiple_of(5) { U256::MAX } else { U256::from(number) };
    vec![
        Cell::Number(u32::MAX - number),
        Cell::Time(number),
        Cell::text(format!("n{number}")),
        address,
        Cell::Amount(amount),
    ]
}

fn read(bytes: Vec<u8>) -> SerializedFileReader<Bytes> {
    SerializedFileReader::new(Bytes::from(bytes)).unwrap()
}

#[test]
fn rows_come_back_whatever_the_groups_they_were_written_in() {
    for group_bytes_max in [1, 1_000, GROUP_BYTES] {
        let mut bytes = Vec::new();
        let notes = vec![("paraffin.height".to_owned(), "7".to_owned())];
        let mut writer = TableWriter::new(&mut bytes, "rows", COLUMNS, notes).unwrap();
        writer.group_bytes_max = group_bytes_max;
        for number in 0..100 {
            writer.row(row(number)).unwrap();
        }
        assert_eq!(writer.finish().unwrap(), 100);
        let file = read(bytes);
        assert_eq!(file.num_row_groups() == 1, group_bytes_max == GROUP_BYTES);
        let notes = file.metadata().file_metadata().key_value_metadata().unwrap();
        let note = |key: &str| notes.iter().find(|note| note.key == key).and_then(|note| note.value.clone()).unwrap();
        assert_eq!(note("paraffin.height"), "7");
        assert_eq!(note("paraffin.unit.amount_text"), "base units, all digits");
        let mut count = 0;
        for (number, row) in (0u32..).zip(file.get_row_iter(None).unwrap()) {
            let fields: Vec<Field> = row.unwrap().into_columns().into_iter().map(|(_, field)| field).collect();
            let text = |text: String| Field::Str(text);
            assert_eq!(fields[0], Field::UInt(u32::MAX - number));
            assert_eq!(fields[1], Field::TimestampMillis(i64::from(number) * 1_000));
            assert_eq!(fields[2], text(format!("n{number}")));
            let address = if number % 3 == 0 { Field::Null } else { text(number.to_string()) };
            assert_eq!(fields[3], address);
            let is_wide = number % 5 == 0;
            assert_eq!(fields[4] == Field::Null, is_wide);
            let digits = if is_wide { U256::MAX.to_string() } else { number.to_string() };
            assert_eq!(fields[5], text(digits));
            count += 1;
        }
        assert_eq!(count, 100);
    }
}

#[test]
fn a_file_without_rows_is_one_that_can_be_read() {
    let mut bytes = Vec::new();
    TableWriter::new(&mut bytes, "rows", COLUMNS, Vec::new()).unwrap().finish().unwrap();
    assert_eq!(read(bytes).metadata().file_metadata().num_rows(), 0);
}

#[test]
fn a_row_that_does_not_fit_its_columns_is_refused() {
    let mut writer = TableWriter::new(Vec::new(), "rows", COLUMNS, Vec::new()).unwrap();
    assert!(writer.row(vec![Cell::Number(1)]).is_err());
    let mut swapped = row(1);
    swapped.swap(0, 2);
    assert!(writer.row(swapped).is_err());
}
