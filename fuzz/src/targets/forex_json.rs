//! Answers of feeds of rates that are JSON, and records of their history: whatever is read is above zero and can be used.

use paraffin_forex::SourceKind;
use paraffin_forex::fuzzing::{chainlink, feed, record};

const JSON: [SourceKind; 5] =
    [SourceKind::Bcra, SourceKind::OpenErApi, SourceKind::Openexchangerates, SourceKind::Frankfurter, SourceKind::File];

pub(crate) fn run(bytes: &[u8]) {
    // A JSON text is of any of the forms that its members make it.
    for kind in JSON {
        feed(kind, bytes);
    }
    record(bytes);
    if let Some((decimals, answer)) = bytes.split_first() {
        chainlink(answer, u32::from(*decimals));
    }
}
