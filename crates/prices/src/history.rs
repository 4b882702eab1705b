//! The history of prices on the disk: an append-only log of points, read once at the start.
//!
//! A record begins with its kind. `1`: a point, Unix seconds (8 bytes) and the scaled price (16). `2`: a point, then the sums of the
//! pool's fees: growth of bitcoin and of the dollar (32 each), liquidity (16), both fees in parts of a billion (4 each), both decimals
//! (1 each). `3`: the name of the source that the following points come from, UTF-8. Integers are big-endian. Points need not be in
//! order: the past is filled in after the present. A record of another kind or length is skipped, so that an older program reads what a
//! newer one wrote.

use std::fs;
use std::path::Path;

use paraffin_log::{Log, LogError, LogOptions};
use ruint::aliases::U256;

use crate::activity::Activity;
use crate::error::PricesError;
use crate::price::{PricePoint, UsdPrice};
use crate::series::Sample;

const POINT: u8 = 1;
const POINT_WITH_ACTIVITY: u8 = 2;
const SOURCE: u8 = 3;
const POINT_LEN: usize = 1 + 8 + 16;
const ACTIVITY_LEN: usize = POINT_LEN + 32 + 32 + 16 + 4 + 4 + 1 + 1;
/// Longest name of a source that is read back, bytes.
const SOURCE_LEN_MAX: usize = 256;
/// Records read at a time.
const READ_RECORDS: usize = 10_000;
/// Greatest number of decimals that a record may state; larger ones were never written.
const DECIMALS_MAX: u8 = crate::abi::DECIMALS_MAX;

/// The content of the history.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// Points in the order in which they were written.
    pub(crate) samples: Vec<Sample>,
    /// Name of the newest source.
    pub(crate) source: Option<String>,
}

/// Opens the history in `folder` and reads it. Damage costs history and never the start: a damaged history is put aside, under a name
/// with `now` (Unix seconds) in it, and a new one begins.
///
/// # Errors
/// Another process uses it, or the disk refuses.
pub(crate) fn open(folder: &Path, now: u64) -> Result<(Log, Loaded), PricesError> {
    match Log::open(folder, LogOptions::default()) {
        Ok(log) => match load(&log) {
            (loaded, None) => Ok((log, loaded)),
            (loaded, Some(damage)) => {
                drop(log);
                let log = begin_anew(folder, now, &damage)?;
                // Readable records are written to the new history.
                let records: Vec<Vec<u8>> = loaded
                    .source
                    .iter()
                    .map(|name| source_record(name))
                    .chain(loaded.samples.iter().map(point_record))
                    .collect();
                for part in records.chunks(READ_RECORDS) {
                    log.append(part)?;
                }
                Ok((log, loaded))
            }
        },
        Err(damage @ LogError::Corrupt { .. }) => Ok((begin_anew(folder, now, &damage)?, Loaded::default())),
        Err(error) => Err(error.into()),
    }
}

fn begin_anew(folder: &Path, now: u64, damage: &LogError) -> Result<Log, PricesError> {
    let aside = folder.with_extension(format!("damaged-{now}"));
    tracing::warn!(%damage, aside = %aside.display(), "the history of prices is damaged: it is put aside and a new one begins");
    fs::rename(folder, &aside).map_err(|source| PricesError::Aside { folder: folder.to_owned(), source })?;
    Ok(Log::open(folder, LogOptions::default())?)
}

/// Everything that can be read, and what stopped the reading.
fn load(log: &Log) -> (Loaded, Option<LogError>) {
    let mut loaded = Loaded::default();
    let mut skipped = 0_u64;
    let mut seq = log.first_seq();
    let damage = loop {
        let entries = match log.read(seq, READ_RECORDS) {
            Ok(entries) => entries,
            Err(error) => break Some(error),
        };
        let Some(last) = entries.last() else { break None };
        seq = last.seq + 1;
        for entry in entries {
            match Record::read(&entry.payload) {
                Some(Record::Point(sample)) => loaded.samples.push(sample),
                Some(Record::Source(name)) => {
                    if loaded.source.as_ref().is_some_and(|before| *before != name) {
                        // Sums of another pool cannot be compared with those of this one.
                        loaded.samples.iter_mut().for_each(|sample| sample.activity = None);
                    }
                    loaded.source = Some(name);
                }
                None => skipped += 1,
            }
        }
    };
    if skipped > 0 {
        tracing::warn!(skipped, "records of the history of prices are of an unknown kind and were skipped");
    }
    (loaded, damage)
}

/// A record of the log.
#[derive(Debug, PartialEq, Eq)]
enum Record {
    Point(Sample),
    Source(String),
}

impl Record {
    fn read(payload: &[u8]) -> Option<Self> {
        match (payload.first()?, payload.len()) {
            (&POINT, POINT_LEN) => Some(Self::Point(Sample { point: point(payload)?, activity: None })),
            (&POINT_WITH_ACTIVITY, ACTIVITY_LEN) => {
                Some(Self::Point(Sample { point: point(payload)?, activity: Some(activity(&payload[POINT_LEN..])?) }))
            }
            (&SOURCE, len) if len <= SOURCE_LEN_MAX => {
                Some(Self::Source(std::str::from_utf8(&payload[1..]).ok()?.to_owned()))
            }
            _ => None,
        }
    }
}

fn point(payload: &[u8]) -> Option<PricePoint> {
    let time = u64::from_be_bytes(*payload.get(1..)?.first_chunk()?);
    let price = UsdPrice(u128::from_be_bytes(*payload.get(9..)?.first_chunk()?));
    Some(PricePoint { time, price })
}

fn activity(bytes: &[u8]) -> Option<Activity> {
    let growth = |at: usize| Some(U256::from_be_bytes::<32>(*bytes.get(at..)?.first_chunk()?));
    let fee = |at: usize| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?)).filter(|fee| *fee > 0);
    let decimals = |at: usize| bytes.get(at).copied().filter(|decimals| *decimals <= DECIMALS_MAX);
    Some(Activity {
        growth: [growth(0)?, growth(32)?],
        liquidity: u128::from_be_bytes(*bytes.get(64..)?.first_chunk()?),
        fee_ppb: [fee(80)?, fee(84)?],
        decimals: [decimals(88)?, decimals(89)?],
    })
}

/// The record of a point.
pub(crate) fn point_record(sample: &Sample) -> Vec<u8> {
    let mut record = Vec::with_capacity(ACTIVITY_LEN);
    record.push(if sample.activity.is_some() { POINT_WITH_ACTIVITY } else { POINT });
    record.extend_from_slice(&sample.point.time.to_be_bytes());
    record.extend_from_slice(&sample.point.price.0.to_be_bytes());
    if let Some(activity) = &sample.activity {
        activity.growth.iter().for_each(|growth| record.extend_from_slice(&growth.to_be_bytes::<32>()));
        record.extend_from_slice(&activity.liquidity.to_be_bytes());
        activity.fee_ppb.iter().for_each(|fee| record.extend_from_slice(&fee.to_be_bytes()));
        record.extend_from_slice(&activity.decimals);
    }
    record
}

/// The record of a source.
pub(crate) fn source_record(name: &str) -> Vec<u8> {
    let mut record = vec![SOURCE];
    record.extend_from_slice(name.as_bytes());
    record
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, SeekFrom, Write as _};

    use proptest::prelude::*;

    use super::*;

    fn sample(time: u64) -> Sample {
        let activity = Activity {
            growth: [U256::MAX - U256::from(time), U256::from(time)],
            liquidity: u128::MAX,
            fee_ppb: [3_000_000, 1],
            decimals: [8, 6],
        };
        let price = UsdPrice(u128::from(time) * UsdPrice::DOLLAR.0 + 7);
        Sample { point: PricePoint { time, price }, activity: time.is_multiple_of(2).then_some(activity) }
    }

    fn write(folder: &Path, records: &[Vec<u8>]) {
        let (log, _) = open(folder, 0).unwrap();
        log.append(records).unwrap();
    }

    #[test]
    fn what_was_written_is_read_at_the_next_start() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("prices");
        let samples: Vec<Sample> = [5, 6, 4, 9].map(sample).to_vec();
        let mut records = vec![source_record("uniswap-v3:0x1")];
        records.extend(samples.iter().map(point_record));
        write(&folder, &records);
        let (_, loaded) = open(&folder, 1).unwrap();
        assert_eq!((loaded.samples, loaded.source.as_deref()), (samples, Some("uniswap-v3:0x1")));
    }

    #[test]
    fn sums_of_another_pool_are_not_compared() {
        let folder = tempfile::tempdir().unwrap();
        let records = [source_record("a"), point_record(&sample(2)), source_record("b"), point_record(&sample(4))];
        write(folder.path(), &records);
        let (_, loaded) = open(folder.path(), 1).unwrap();
        assert_eq!(loaded.samples, [Sample { activity: None, ..sample(2) }, sample(4)]);
    }

    #[test]
    fn unknown_records_are_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let mut long = point_record(&sample(2));
        long.push(0);
        let mut no_fee = point_record(&sample(2));
        no_fee[POINT_LEN + 80..POINT_LEN + 84].fill(0);
        let mut name = source_record("x");
        name.push(0xff);
        write(folder.path(), &[vec![], vec![9, 9], vec![POINT], long, no_fee, name, point_record(&sample(3))]);
        let (_, loaded) = open(folder.path(), 1).unwrap();
        assert_eq!((loaded.samples, loaded.source), (vec![sample(3)], None));
    }

    #[test]
    fn a_torn_end_costs_the_last_point_alone() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[point_record(&sample(1)), point_record(&sample(3))]);
        let file = folder.path().join("00000000000000000001.log");
        let len = std::fs::metadata(&file).unwrap().len();
        std::fs::File::options().write(true).open(&file).unwrap().set_len(len - 3).unwrap();
        let (log, loaded) = open(folder.path(), 1).unwrap();
        assert_eq!(loaded.samples, [sample(1)]);
        log.append(&[point_record(&sample(5))]).unwrap();
        drop(log);
        assert_eq!(open(folder.path(), 1).unwrap().1.samples, [sample(1), sample(5)]);
    }

    #[test]
    fn a_damaged_history_is_put_aside_and_a_new_one_begins() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("prices");
        write(&folder, &(1..200).map(|time| point_record(&sample(time))).collect::<Vec<_>>());
        let mut file = std::fs::File::options().write(true).open(folder.join("00000000000000000001.log")).unwrap();
        file.seek(SeekFrom::Start(100)).unwrap();
        file.write_all(&[0xff; 50]).unwrap();
        drop(file);
        let (log, loaded) = open(&folder, 77).unwrap();
        assert!(loaded.samples.is_empty());
        assert!(parent.path().join("prices.damaged-77").join("00000000000000000001.log").is_file());
        log.append(&[point_record(&sample(5))]).unwrap();
        drop(log);
        assert_eq!(open(&folder, 78).unwrap().1.samples, [sample(5)]);
    }

    #[test]
    fn two_processes_do_not_write_one_history() {
        let folder = tempfile::tempdir().unwrap();
        let (_log, _) = open(folder.path(), 1).unwrap();
        assert!(matches!(open(folder.path(), 1), Err(PricesError::History(LogError::Locked { .. }))));
    }

    proptest! {
        #[test]
        fn arbitrary_records_never_panic_and_points_come_back(payload in prop::collection::vec(any::<u8>(), 0..130), kind in 0_u8..4) {
            let _ = Record::read(&payload);
            let mut payload = payload;
            if let Some(first) = payload.first_mut() {
                *first = kind;
            }
            if let Some(Record::Point(sample)) = Record::read(&payload) {
                prop_assert_eq!(point_record(&sample), payload);
            }
        }
    }
}
