//! Feeds of rates that are no JSON: comma-separated values and XML. Whatever is read is above zero and can be used.

use paraffin_forex::SourceKind;
use paraffin_forex::fuzzing::feed;

pub(crate) fn run(bytes: &[u8]) {
    let is_table = feed(SourceKind::Ecb, bytes);
    let is_xml = feed(SourceKind::BankOfRussia, bytes);
    assert!(!(is_table && is_xml), "a text cannot be both");
}
