//! Segment files: a head of 32 bytes, then records; only the newest file grows.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::frame::{HEAD_LEN, Head};
use super::{Entry, LogError};

const MAGIC: [u8; 8] = *b"PARAFLOG";
const FORMAT_VERSION: u32 = 1;
/// Bytes before the first record.
pub(super) const SEGMENT_HEAD_LEN: u64 = 32;
/// Least distance of the cached offsets of a segment, bytes.
const OFFSET_DISTANCE: u64 = 64 * 1024;
/// A record found after damage counts when its number lies at most this far ahead.
const SEQ_AHEAD_MAX: u64 = 1 << 24;

/// One segment file.
pub(super) struct Segment {
    path: PathBuf,
    first_seq: u64,
    /// Bytes that hold whole records.
    len: AtomicU64,
    /// Some records and where they begin, ascending; filled by reading.
    offsets: Mutex<Vec<(u64, u64)>>,
}

/// The end of the newest segment, where records are written.
pub(super) struct Sink {
    folder: PathBuf,
    segment_bytes: u64,
    file: File,
    pub(super) segment: Arc<Segment>,
}

impl Segment {
    fn new(path: PathBuf, first_seq: u64, len: u64) -> Self {
        Self { path, first_seq, len: AtomicU64::new(len), offsets: Mutex::new(Vec::new()) }
    }

    pub(super) fn first_seq(&self) -> u64 {
        self.first_seq
    }

    pub(super) fn len(&self) -> u64 {
        self.len.load(Ordering::Acquire)
    }

    pub(super) fn remove_file(&self) -> Result<(), LogError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(LogError::io("removing an old segment", error))
            }
            _ => Ok(()),
        }
    }

    fn corrupt(&self, offset: u64, what: &'static str) -> LogError {
        LogError::Corrupt { file: self.path.clone(), offset, what }
    }

    /// Error for a missing record that the first number of the next segment implies.
    pub(super) fn ends_early(&self) -> LogError {
        self.corrupt(self.len(), "records are missing at its end")
    }

    /// Reads records from number `seq` on, below `until`; returns the payload bytes read.
    pub(super) fn read(
        &self,
        seq: u64,
        until: u64,
        limit: usize,
        bytes_max: usize,
        entries: &mut Vec<Entry>,
    ) -> Result<usize, LogError> {
        let (mut next, offset) = self.offset_before(seq);
        let file = File::open(&self.path).map_err(|error| LogError::io("opening a segment", error))?;
        let mut records =
            Records::at(file, offset, self.len()).map_err(|error| LogError::io("reading a segment", error))?;
        let (mut count, mut bytes) = (0, 0);
        while count < limit && next < until && (bytes < bytes_max || count == 0) {
            self.remember(next, records.offset);
            match records.next(next)? {
                Step::Record(payload) => {
                    if next >= seq {
                        bytes += payload.len();
                        count += 1;
                        entries.push(Entry { seq: next, payload: payload.to_vec() });
                    }
                }
                Step::End => break,
                Step::Damage(what) => return Err(self.corrupt(records.offset, what)),
            }
            next += 1;
        }
        Ok(bytes)
    }

    fn offset_before(&self, seq: u64) -> (u64, u64) {
        let offsets = self.offsets.lock();
        let after = offsets.partition_point(|(first, _)| *first <= seq);
        after.checked_sub(1).map_or((self.first_seq, SEGMENT_HEAD_LEN), |index| offsets[index])
    }

    fn remember(&self, seq: u64, offset: u64) {
        let mut offsets = self.offsets.lock();
        if offsets.last().is_none_or(|(_, last)| offset >= last + OFFSET_DISTANCE) {
            offsets.push((seq, offset));
        }
    }
}

/// The content at an offset of a segment.
enum Step<'a> {
    Record(&'a [u8]),
    End,
    Damage(&'static str),
}

/// Records of a file, one after the other.
struct Records {
    reader: BufReader<File>,
    /// Where the next record begins.
    offset: u64,
    until: u64,
    payload: Vec<u8>,
}

impl Records {
    fn at(mut file: File, offset: u64, until: u64) -> io::Result<Self> {
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self { reader: BufReader::with_capacity(64 * 1024, file), offset, until, payload: Vec::new() })
    }

    /// Reads the record that should have number `seq`. After damage the offset stays before it.
    fn next(&mut self, seq: u64) -> Result<Step<'_>, LogError> {
        let left = self.until.saturating_sub(self.offset);
        if left == 0 {
            return Ok(Step::End);
        }
        if left < HEAD_LEN as u64 {
            return Ok(Step::Damage("a record ends within its head"));
        }
        let mut head = [0; HEAD_LEN];
        self.read_exact(&mut head)?;
        let Some(head) = Head::decode(&head) else { return Ok(Step::Damage("a record has an impossible length")) };
        if left < (HEAD_LEN + head.len) as u64 {
            return Ok(Step::Damage("a record ends within its payload"));
        }
        let mut payload = std::mem::take(&mut self.payload);
        payload.resize(head.len, 0);
        self.read_exact(&mut payload)?;
        self.payload = payload;
        if !head.matches(&self.payload) {
            return Ok(Step::Damage("a checksum does not match"));
        }
        if head.seq != seq {
            return Ok(Step::Damage("a record has another number than expected"));
        }
        self.offset += (HEAD_LEN + head.len) as u64;
        Ok(Step::Record(&self.payload))
    }

    fn read_exact(&mut self, buffer: &mut [u8]) -> Result<(), LogError> {
        self.reader.read_exact(buffer).map_err(|error| LogError::io("reading a segment", error))
    }
}

impl Sink {
    /// Writes whole records, the first of them numbered `first_seq`, and waits until they are on the disk. Returns the new
    /// segment that was begun, when the newest one is full.
    pub(super) fn write(&mut self, records: &[u8], first_seq: u64) -> Result<Option<Arc<Segment>>, LogError> {
        let len = self.segment.len();
        let is_full = len > SEGMENT_HEAD_LEN && len + records.len() as u64 > self.segment_bytes;
        let begun = if is_full {
            *self = Self::create(&self.folder, self.segment_bytes, first_seq)?;
            Some(Arc::clone(&self.segment))
        } else {
            None
        };
        let during = "appending to the log";
        self.file.write_all(records).map_err(|error| LogError::io(during, error))?;
        self.file.sync_data().map_err(|error| LogError::io(during, error))?;
        self.segment.len.fetch_add(records.len() as u64, Ordering::AcqRel);
        Ok(begun)
    }

    fn create(folder: &Path, segment_bytes: u64, first_seq: u64) -> Result<Self, LogError> {
        let path = folder.join(format!("{first_seq:020}.log"));
        let create = || {
            let mut file = File::options().write(true).create(true).truncate(true).open(&path)?;
            file.write_all(&segment_head(first_seq))?;
            file.sync_all()?;
            sync_folder(folder)?;
            Ok(file)
        };
        let file = create().map_err(|error| LogError::io("beginning a new segment", error))?;
        let segment = Arc::new(Segment::new(path, first_seq, SEGMENT_HEAD_LEN));
        Ok(Self { folder: folder.to_path_buf(), segment_bytes, file, segment })
    }
}

fn segment_head(first_seq: u64) -> [u8; SEGMENT_HEAD_LEN as usize] {
    let mut head = [0; SEGMENT_HEAD_LEN as usize];
    head[..8].copy_from_slice(&MAGIC);
    head[8..12].copy_from_slice(&FORMAT_VERSION.to_be_bytes());
    head[12..20].copy_from_slice(&first_seq.to_be_bytes());
    let crc = crc32fast::hash(&head[..28]);
    head[28..].copy_from_slice(&crc.to_be_bytes());
    head
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Opens all segments of a folder: the list, the end to write at, and the number of the next record.
pub(super) fn open_all(folder: &Path, segment_bytes: u64) -> Result<(Vec<Arc<Segment>>, Sink, u64), LogError> {
    let mut segments = list(folder)?;
    let Some(newest) = segments.last().cloned() else {
        let sink = Sink::create(folder, segment_bytes, 1)?;
        return Ok((vec![Arc::clone(&sink.segment)], sink, 1));
    };
    let (next_seq, len) = check_newest(&newest)?;
    let open = || {
        let mut file = File::options().write(true).open(&newest.path)?;
        if file.metadata()?.len() > len {
            file.set_len(len)?;
            file.sync_all()?;
        }
        file.seek(SeekFrom::Start(len))?;
        Ok(file)
    };
    let file = open().map_err(|error| LogError::io("opening the newest segment", error))?;
    newest.len.store(len, Ordering::Release);
    let sink = Sink { folder: folder.to_path_buf(), segment_bytes, file, segment: newest };
    segments.shrink_to_fit();
    Ok((segments, sink, next_seq))
}

/// Segment files in order. A newest file that never got its head is removed.
fn list(folder: &Path) -> Result<Vec<Arc<Segment>>, LogError> {
    let during = "listing the segments";
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| LogError::io(during, error))? {
        let entry = entry.map_err(|error| LogError::io(during, error))?;
        let name = entry.file_name();
        let Some(number) = name.to_str().and_then(|name| name.strip_suffix(".log")) else { continue };
        let is_number = number.len() == 20 && number.bytes().all(|byte| byte.is_ascii_digit());
        let Some(first_seq) = is_number.then(|| number.parse::<u64>().ok()).flatten() else { continue };
        let len = entry.metadata().map_err(|error| LogError::io(during, error))?.len();
        found.push(Segment::new(entry.path(), first_seq, len));
    }
    found.sort_by_key(Segment::first_seq);
    let mut segments = Vec::with_capacity(found.len());
    let count = found.len();
    for (segment, number) in found.into_iter().zip(1..) {
        let mut head = [0; SEGMENT_HEAD_LEN as usize];
        let mut file = File::open(&segment.path).map_err(|error| LogError::io("opening a segment", error))?;
        let has_head = match file.read_exact(&mut head) {
            Ok(()) => head == segment_head(segment.first_seq),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
            Err(error) => return Err(LogError::io("reading a segment", error)),
        };
        if has_head {
            segments.push(Arc::new(segment));
        } else if number == count && count > 1 && segment.len() <= SEGMENT_HEAD_LEN {
            tracing::warn!(file = %segment.path.display(), "removing a segment that was never begun");
            segment.remove_file()?;
        } else if count == 1 && segment.len() <= SEGMENT_HEAD_LEN && segment.first_seq == 1 {
            segment.remove_file()?;
        } else {
            return Err(segment.corrupt(0, "the head of the file is not one of this log"));
        }
    }
    Ok(segments)
}

/// Reads the newest segment through. Returns the number of the next record and the length of the whole records.
///
/// A bad record with no valid one after it is the torn end of a write that was never acknowledged. A bad record with a
/// valid one after it is damage: a write starts only after the ones before are on the disk.
fn check_newest(segment: &Segment) -> Result<(u64, u64), LogError> {
    let during = "reading the newest segment";
    let file = File::open(&segment.path).map_err(|error| LogError::io(during, error))?;
    let mut records =
        Records::at(file, SEGMENT_HEAD_LEN, segment.len()).map_err(|error| LogError::io(during, error))?;
    let mut seq = segment.first_seq;
    let what = loop {
        segment.remember(seq, records.offset);
        match records.next(seq)? {
            Step::Record(_) => {}
            Step::End => return Ok((seq, records.offset)),
            Step::Damage(what) => break what,
        }
        seq += 1;
    };
    let offset = records.offset;
    let mut tail = Vec::new();
    let mut file = File::open(&segment.path).map_err(|error| LogError::io(during, error))?;
    file.seek(SeekFrom::Start(offset)).map_err(|error| LogError::io(during, error))?;
    file.read_to_end(&mut tail).map_err(|error| LogError::io(during, error))?;
    if has_record_after(&tail, seq) {
        return Err(segment.corrupt(offset, what));
    }
    tracing::warn!(file = %segment.path.display(), offset, bytes = tail.len(), "cutting off the torn end of the log");
    Ok((seq, offset))
}

/// Whether a valid record with a number above `seq` begins somewhere in `tail`.
pub(super) fn has_record_after(tail: &[u8], seq: u64) -> bool {
    (1..tail.len().saturating_sub(HEAD_LEN - 1)).any(|at| {
        let head = tail[at..].first_chunk::<HEAD_LEN>().and_then(Head::decode);
        head.is_some_and(|head| {
            let payload = tail.get(at + HEAD_LEN..at + HEAD_LEN + head.len);
            head.seq > seq && head.seq - seq <= SEQ_AHEAD_MAX && payload.is_some_and(|payload| head.matches(payload))
        })
    })
}
