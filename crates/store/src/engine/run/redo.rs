//! The redo file of a run: everything that the run writes, checked and compressed.
//!
//! It is called `run.part` until it is whole and on the disk, then `run`; from that moment the commit has happened.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::StoreError;
use crate::engine::Space;
use crate::frame::{END, HEAD_LEN, Head, PAYLOAD_MAX, PAYLOAD_TARGET, RowReader, RowWriter};

const MAGIC: [u8; 8] = *b"PARAREDO";
const VERSION: u32 = 1;
/// Magic, version, number of the commit, checksum.
const HEADER_LEN: usize = 8 + 4 + 8 + 4;
/// Bytes of the last frame: number of rows.
const END_LEN: usize = 8;

fn whole_path(folder: &Path) -> PathBuf {
    folder.join("run")
}

fn part_path(folder: &Path) -> PathBuf {
    folder.join("run.part")
}

fn failed(source: io::Error) -> StoreError {
    StoreError::io("writing a sorted run", source)
}

fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

/// Removes a redo file that was not finished: its commit has not happened.
pub(crate) fn discard_unfinished(folder: &Path) -> Result<(), StoreError> {
    match fs::remove_file(part_path(folder)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        _ => Ok(()),
    }
}

/// Writes a redo file. Dropped before [`Self::finish`] it leaves nothing.
pub(crate) struct RedoWriter<'a> {
    folder: &'a Path,
    output: BufWriter<File>,
    rows: RowWriter,
    packed: Vec<u8>,
    frames: u64,
    row_count: u64,
    bytes: u64,
    is_whole: bool,
}

impl<'a> RedoWriter<'a> {
    /// Begins the file of commit `number`.
    pub(crate) fn create(folder: &'a Path, number: u64) -> Result<Self, StoreError> {
        let file = File::create(part_path(folder)).map_err(failed)?;
        let mut writer = Self {
            folder,
            output: BufWriter::with_capacity(256 * 1024, file),
            rows: RowWriter::default(),
            packed: Vec::new(),
            frames: 0,
            row_count: 0,
            bytes: 0,
            is_whole: false,
        };
        let mut header = MAGIC.to_vec();
        header.extend_from_slice(&VERSION.to_be_bytes());
        header.extend_from_slice(&number.to_be_bytes());
        header.extend_from_slice(&crc32fast::hash(&header).to_be_bytes());
        writer.put(&header)?;
        Ok(writer)
    }

    /// Adds a change. Keyspaces come in the order of [`Space::ALL`], keys ascending.
    pub(crate) fn change(&mut self, space: Space, key: &[u8], value: Option<&[u8]>) -> Result<(), StoreError> {
        self.rows.change(key, value);
        if self.rows.payload.len() >= PAYLOAD_TARGET { self.end_frame(space) } else { Ok(()) }
    }

    /// The changes of `space` are complete.
    pub(crate) fn end_space(&mut self, space: Space) -> Result<(), StoreError> {
        if self.rows.rows > 0 { self.end_frame(space) } else { Ok(()) }
    }

    fn end_frame(&mut self, space: Space) -> Result<(), StoreError> {
        let payload = &self.rows.payload;
        let raw_len = payload.len() as u32;
        self.packed.resize(4 + lz4_flex::block::get_maximum_output_size(payload.len()), 0);
        self.packed[..4].copy_from_slice(&raw_len.to_be_bytes());
        let len = lz4_flex::block::compress_into(payload, &mut self.packed[4..])
            .map_err(|error| failed(io::Error::other(error)))?;
        self.packed.truncate(4 + len);
        let count = self.rows.rows;
        self.rows.clear();
        let packed = std::mem::take(&mut self.packed);
        let written = self.frame(space as u8, count, &packed);
        self.packed = packed;
        self.row_count += u64::from(count);
        written
    }

    fn frame(&mut self, space: u8, rows: u32, payload: &[u8]) -> Result<(), StoreError> {
        let head = Head::new(space, self.frames, rows, payload);
        self.frames += 1;
        self.put(&head.encode())?;
        self.put(payload)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.bytes += bytes.len() as u64;
        self.output.write_all(bytes).map_err(failed)
    }

    /// Completes the file, flushes it and renames it to its name. Returns its length.
    pub(crate) fn finish(mut self) -> Result<u64, StoreError> {
        let count = self.row_count.to_be_bytes();
        self.frame(END, 0, &count)?;
        self.output.flush().map_err(failed)?;
        self.output.get_ref().sync_all().map_err(failed)?;
        fs::rename(part_path(self.folder), whole_path(self.folder)).map_err(failed)?;
        self.is_whole = true;
        sync_folder(self.folder)?;
        Ok(self.bytes)
    }
}

impl Drop for RedoWriter<'_> {
    fn drop(&mut self) {
        // On a full disk the space is needed; a file that cannot be removed is overwritten or removed at the next start.
        if !self.is_whole {
            let _ = discard_unfinished(self.folder);
        }
    }
}

/// A whole redo file.
pub(crate) struct RedoFile {
    path: PathBuf,
    number: u64,
}

impl RedoFile {
    /// The redo file in `folder`, if there is one.
    pub(crate) fn find(folder: &Path) -> Result<Option<Self>, StoreError> {
        let path = whole_path(folder);
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|error| StoreError::io("reading a sorted run", error))?,
        };
        let number = Reader::new(file)?.number;
        Ok(Some(Self { path, number }))
    }

    /// Number of the commit.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Checks the whole file, before any of it is used.
    pub(crate) fn verify(&self) -> Result<(), StoreError> {
        let mut reader = self.reader()?;
        let mut rows = 0;
        let (mut space, mut last) = (0, Vec::new());
        while let Some(head) = reader.frame()? {
            rows += u64::from(head.rows);
            if head.space != space {
                space = head.space;
                last.clear();
            }
            reader.each(head, &mut |key, _| {
                if key <= last.as_slice() {
                    return Err(damaged("a key is out of order"));
                }
                last.clear();
                last.extend_from_slice(key);
                Ok(())
            })?;
        }
        if reader.row_count != rows {
            return Err(damaged("its number of rows differs"));
        }
        Ok(())
    }

    /// Visits the changes of one keyspace, in order of their keys.
    pub(crate) fn visit(&self, space: Space, each: &mut EachRow<'_>) -> Result<(), StoreError> {
        let mut reader = self.reader()?;
        while let Some(head) = reader.frame()? {
            if head.space == space as u8 {
                reader.each(head, each)?;
            }
        }
        Ok(())
    }

    /// Removes the file: every keyspace has the run.
    pub(crate) fn remove(folder: &Path) -> Result<(), StoreError> {
        fs::remove_file(whole_path(folder)).map_err(failed)?;
        sync_folder(folder)
    }

    fn reader(&self) -> Result<Reader, StoreError> {
        Reader::new(File::open(&self.path).map_err(|error| StoreError::io("reading a sorted run", error))?)
    }
}

/// Takes the next row of the file: key, and the value or `None` when the row is removed.
type EachRow<'a> = dyn FnMut(&[u8], Option<&[u8]>) -> Result<(), StoreError> + 'a;

fn damaged(reason: &str) -> StoreError {
    StoreError::Corrupt(format!("the file of an unfinished commit (`run`) cannot be used: {reason}"))
}

struct Reader {
    input: BufReader<File>,
    number: u64,
    frames: u64,
    payload: Vec<u8>,
    rows: Vec<u8>,
    /// Stated in the last frame.
    row_count: u64,
}

impl Reader {
    fn new(file: File) -> Result<Self, StoreError> {
        let mut input = BufReader::with_capacity(256 * 1024, file);
        let mut header = [0; HEADER_LEN];
        read(&mut input, &mut header)?;
        let (body, checksum) = header.split_at(HEADER_LEN - 4);
        if body[..8] != MAGIC
            || body[8..12] != VERSION.to_be_bytes()
            || *checksum != crc32fast::hash(body).to_be_bytes()
        {
            return Err(damaged("its header is not one that this program writes"));
        }
        let number = body[12..].try_into().map_or(0, u64::from_be_bytes);
        Ok(Self { input, number, frames: 0, payload: Vec::new(), rows: Vec::new(), row_count: 0 })
    }

    /// The next frame of rows; `None` at the last one, which must be followed by nothing.
    fn frame(&mut self) -> Result<Option<Head>, StoreError> {
        let mut head = [0; HEAD_LEN];
        read(&mut self.input, &mut head)?;
        let head = Head::decode(&head);
        if head.number != self.frames || head.len as usize > 4 + lz4_flex::block::get_maximum_output_size(PAYLOAD_MAX) {
            return Err(damaged("a frame is out of order"));
        }
        self.frames += 1;
        self.payload.resize(head.len as usize, 0);
        read(&mut self.input, &mut self.payload)?;
        if !head.fits(&self.payload) {
            return Err(damaged("the checksum of a frame differs"));
        }
        if head.space != END {
            return Ok(Some(head));
        }
        if self.payload.len() != END_LEN || self.input.read(&mut [0]).map_or(1, |count| count) != 0 {
            return Err(damaged("its end is wrong"));
        }
        self.row_count = self.payload[..].try_into().map_or(0, u64::from_be_bytes);
        Ok(None)
    }

    /// Visits the rows of the last frame.
    fn each(&mut self, head: Head, each: &mut EachRow<'_>) -> Result<(), StoreError> {
        let (raw_len, packed) = self.payload.split_first_chunk::<4>().ok_or_else(|| damaged("a frame is too short"))?;
        let raw_len = u32::from_be_bytes(*raw_len) as usize;
        if raw_len > PAYLOAD_MAX {
            return Err(damaged("a frame is too long"));
        }
        self.rows.resize(raw_len, 0);
        match lz4_flex::block::decompress_into(packed, &mut self.rows) {
            Ok(len) if len == raw_len => {}
            _ => return Err(damaged("a frame cannot be unpacked")),
        }
        let mut reader = RowReader::new(&self.rows);
        for _ in 0..head.rows {
            let (key, value) = reader.next_change().ok_or_else(|| damaged("a row cannot be read"))?;
            each(key, value)?;
        }
        if reader.is_at_end() { Ok(()) } else { Err(damaged("bytes are left behind its rows")) }
    }
}

/// Reads exactly; the end of the file is damage, for the file was whole when it got its name.
fn read(input: &mut impl Read, bytes: &mut [u8]) -> Result<(), StoreError> {
    input.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged("it is cut off"),
        _ => StoreError::io("reading a sorted run", error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    type Change = (Space, Vec<u8>, Option<Vec<u8>>);

    fn changes() -> Vec<Change> {
        let mut changes = vec![(Space::Ordered, vec![1], None), (Space::Ordered, vec![1, 2], Some(Vec::new()))];
        changes.extend((0..300_u32).map(|number| {
            let value = (number % 7 != 0).then(|| vec![number as u8; number as usize * 40]);
            (Space::Bulk, number.to_be_bytes().to_vec(), value)
        }));
        changes.push((Space::Undo, vec![7; 300], Some(vec![8; 3 << 20])));
        changes
    }

    fn write(folder: &Path) -> u64 {
        let mut writer = RedoWriter::create(folder, 77).unwrap();
        for space in Space::ALL {
            for (_, key, value) in changes().iter().filter(|(of, ..)| *of == space) {
                writer.change(space, key, value.as_deref()).unwrap();
            }
            writer.end_space(space).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn changes_come_back_by_keyspace_and_the_file_has_its_name_only_when_whole() {
        let folder = tempfile::tempdir().unwrap();
        drop(RedoWriter::create(folder.path(), 1).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "an unfinished file stays");
        assert!(RedoFile::find(folder.path()).unwrap().is_none());
        let len = write(folder.path());
        assert_eq!(fs::metadata(folder.path().join("run")).unwrap().len(), len);
        let file = RedoFile::find(folder.path()).unwrap().unwrap();
        assert_eq!(file.number(), 77);
        file.verify().unwrap();
        let mut found: Vec<Change> = Vec::new();
        for space in Space::ALL {
            let mut each = |key: &[u8], value: Option<&[u8]>| {
                found.push((space, key.to_vec(), value.map(<[u8]>::to_vec)));
                Ok(())
            };
            file.visit(space, &mut each).unwrap();
        }
        assert!(found == changes());
        RedoFile::remove(folder.path()).unwrap();
        assert!(RedoFile::find(folder.path()).unwrap().is_none());
    }

    #[test]
    fn every_cut_and_every_flipped_byte_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path());
        let path = folder.path().join("run");
        let whole = fs::read(&path).unwrap();
        let refused = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            let checked = RedoFile::find(folder.path()).and_then(|file| file.unwrap().verify());
            assert!(matches!(checked, Err(StoreError::Corrupt(_))), "{checked:?}");
        };
        for step in 0..60 {
            let position = step * (whole.len() - 1) / 59;
            refused(&whole[..position]);
            let mut flipped = whole.clone();
            flipped[position] ^= 0x10;
            refused(&flipped);
        }
        refused(&[whole.as_slice(), b"x"].concat());
    }
}
