//! Declarations of a module: copies whose memory starts at its full size, so that nothing has to be zeroed by hand, and the
//! work of starting one.
//!
//! The reference grows the memory of every instance to 512 pages before it calls it (protocol B9). wasmi grows by writing
//! zeros, 32 MiB of them for each call. A memory that *starts* at 512 pages comes from the operating system as zero
//! pages, which cost nothing until they are touched. So the cached copy of a module declares 512 pages, where the
//! difference cannot be observed: the contract is called with 512 pages either way, and its data segments must fit the size that
//! it declared itself.

use crate::codec::append_varint;
use crate::work::cost;

/// Pages of 64 KiB that every contract is called with (protocol B9).
pub(super) const CALL_PAGES: u32 = 512;

const PAGE_LEN_BYTES: u64 = 64 * 1024;

/// First eight bytes of a module: magic and version.
pub(super) const WASM_HEADER: [u8; 8] = *b"\0asm\x01\0\0\0";

pub(super) mod section {
    pub(in crate::vm) const CUSTOM: u8 = 0;
    pub(in crate::vm) const TYPE: u8 = 1;
    pub(super) const IMPORT: u8 = 2;
    pub(super) const FUNCTION: u8 = 3;
    pub(super) const TABLE: u8 = 4;
    pub(super) const MEMORY: u8 = 5;
    pub(super) const GLOBAL: u8 = 6;
    pub(super) const EXPORT: u8 = 7;
    pub(in crate::vm) const ELEMENT: u8 = 9;
    pub(in crate::vm) const CODE: u8 = 10;
    pub(in crate::vm) const DATA: u8 = 11;
}

/// Work of starting an instance of a module: everything that it declares is made, every table filled, every segment copied.
/// Of a module that is malformed it may be anything: that one is never started.
pub(super) fn start_work(code: &[u8]) -> u64 {
    let mut units = 0_u64;
    for section in Sections::of(code).into_iter().flatten().flatten() {
        let mut body = Cursor(section.body);
        let declared = match section.id {
            section::IMPORT | section::FUNCTION | section::GLOBAL | section::EXPORT => body.number(),
            section::TABLE => {
                units = units.saturating_add(table_elements(&mut body).unwrap_or(0) * cost::TABLE_ELEMENT);
                None
            }
            section::ELEMENT | section::DATA => {
                // An element takes a byte at least, and is looked up; data is copied.
                let byte_units = if section.id == section::ELEMENT { 4 } else { 1 };
                units = units.saturating_add(section.body.len() as u64 * byte_units / 4);
                let segments = body.number();
                if section.id == section::DATA {
                    // Each can be in a page of its own, which costs the contract no fuel.
                    let pages = u64::from(segments.unwrap_or(0)) + section.body.len() as u64 / 4096;
                    units = units.saturating_add(pages * cost::TOUCHED_PAGE);
                }
                segments
            }
            _ => None,
        };
        units = units.saturating_add(u64::from(declared.unwrap_or(0)) * cost::DECLARED);
    }
    units
}

/// Elements that the tables of a module start with.
fn table_elements(body: &mut Cursor<'_>) -> Option<u64> {
    let mut elements = 0_u64;
    for _ in 0..body.number()? {
        body.byte()?;
        elements += u64::from(body.limits()?.0);
    }
    Some(elements)
}

/// A copy of `code` that declares 512 pages; `None` when a contract could detect the difference, or when the code is not
/// plain enough to be sure. What is `None` here is run as the reference does.
pub(super) fn with_call_pages(code: &[u8]) -> Option<Vec<u8>> {
    let sections = Sections::of(code)?;
    let mut memory = None;
    let mut declared_pages = 0;
    for section in sections {
        let section = section?;
        let mut body = Cursor(section.body);
        match section.id {
            section::IMPORT if imports_memory(&mut body)? => return None,
            section::MEMORY => {
                let (minimum, maximum) = only_memory_that_may_grow(&mut body)?;
                declared_pages = minimum;
                memory = Some((section, memory_of_call_pages(maximum)));
            }
            section::DATA => data_fits(&mut body, declared_pages)?,
            _ => {}
        }
    }
    let (section, body) = memory.filter(|_| declared_pages < CALL_PAGES)?;
    Some(replace(code, &section, &body))
}

/// Contents of the data section of a module, each with the offset in memory that it is copied to.
///
/// Only segments at constant offsets are listed. `None` when the module is malformed.
pub(super) fn data_segments(code: &[u8]) -> Option<Vec<(u32, &[u8])>> {
    let mut segments = Vec::new();
    for section in Sections::of(code)? {
        let section = section?;
        if section.id == section::DATA {
            let mut body = Cursor(section.body);
            for _ in 0..body.number()? {
                match body.segment()? {
                    Segment::Active { offset, bytes } => segments.push((offset, bytes)),
                    Segment::Passive => {}
                }
            }
        }
    }
    Some(segments)
}

/// A section with the offsets of its length and body in the code.
#[derive(Clone, Copy)]
pub(super) struct Section<'c> {
    pub(super) id: u8,
    /// First byte after the section's id.
    pub(super) length_start: usize,
    body_start: usize,
    pub(super) body: &'c [u8],
}

impl Section<'_> {
    /// First byte after the section.
    pub(super) fn end(&self) -> usize {
        self.body_start + self.body.len()
    }
}

/// Walks the sections of a module; yields `None` once when they are malformed.
pub(super) struct Sections<'c> {
    code: &'c [u8],
    position: usize,
}

impl<'c> Sections<'c> {
    pub(super) fn of(code: &'c [u8]) -> Option<Self> {
        code.starts_with(&WASM_HEADER).then_some(Self { code, position: WASM_HEADER.len() })
    }

    fn read(&mut self) -> Option<Section<'c>> {
        let mut cursor = Cursor(&self.code[self.position..]);
        let id = cursor.byte()?;
        let len = cursor.number()? as usize;
        let body_start = self.code.len() - cursor.0.len();
        let body = cursor.bytes(len)?;
        let length_start = self.position + 1;
        self.position = body_start + len;
        Some(Section { id, length_start, body_start, body })
    }
}

impl<'c> Iterator for Sections<'c> {
    type Item = Option<Section<'c>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.position >= self.code.len() {
            return None;
        }
        let section = self.read();
        if section.is_none() {
            self.position = self.code.len();
        }
        Some(section)
    }
}

enum Segment<'c> {
    /// Copied to `offset` when the module is instantiated.
    Active { offset: u32, bytes: &'c [u8] },
    /// Copied when the code asks for it.
    Passive,
}

/// Reads the binary format from the front.
pub(super) struct Cursor<'c>(pub(super) &'c [u8]);

impl<'c> Cursor<'c> {
    pub(super) fn bytes(&mut self, len: usize) -> Option<&'c [u8]> {
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.bytes(1).map(|bytes| bytes[0])
    }

    /// An unsigned LEB128 integer of 32 bits.
    pub(super) fn number(&mut self) -> Option<u32> {
        let mut value = 0_u64;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value).ok();
            }
        }
        None
    }

    /// A signed LEB128 integer of 32 bits, as an unsigned offset.
    fn offset(&mut self) -> Option<u32> {
        let mut value = 0_i64;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            value |= i64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let unused = 64 - (shift + 7);
                let value = i32::try_from(value << unused >> unused).ok()?;
                return Some(value.cast_unsigned());
            }
        }
        None
    }

    /// Minimum, and maximum when there is one.
    fn limits(&mut self) -> Option<(u32, Option<u32>)> {
        match self.byte()? {
            0 => Some((self.number()?, None)),
            1 => Some((self.number()?, Some(self.number()?))),
            _ => None,
        }
    }

    /// A segment of memory 0; `None` for any other memory, or when its offset is not a plain constant.
    fn segment(&mut self) -> Option<Segment<'c>> {
        let kind = self.number()?;
        if kind == 1 {
            let len = self.number()? as usize;
            return self.bytes(len).map(|_| Segment::Passive);
        }
        if kind == 2 && self.number()? != 0 || kind > 2 {
            return None;
        }
        let constant = self.byte()? == 0x41;
        let offset = self.offset()?;
        let ended = self.byte()? == 0x0b;
        let len = self.number()? as usize;
        let bytes = self.bytes(len)?;
        (constant && ended).then_some(Segment::Active { offset, bytes })
    }
}

fn imports_memory(body: &mut Cursor<'_>) -> Option<bool> {
    for _ in 0..body.number()? {
        for _ in 0..2 {
            let len = body.number()? as usize;
            body.bytes(len)?;
        }
        match body.byte()? {
            0 => _ = body.number()?,
            1 => {
                body.byte()?;
                body.limits()?;
            }
            3 => _ = body.bytes(2)?,
            _ => return Some(true),
        }
    }
    Some(false)
}

/// Minimum and maximum of the only memory; `None` when there are several, or when it may not grow to 512 pages.
///
/// Bytes behind it make the module invalid, which a rewritten section would hide: `None` as well.
fn only_memory_that_may_grow(body: &mut Cursor<'_>) -> Option<(u32, Option<u32>)> {
    if body.number()? != 1 {
        return None;
    }
    let (minimum, maximum) = body.limits()?;
    let may_grow = maximum.is_none_or(|maximum| maximum >= CALL_PAGES);
    (may_grow && body.0.is_empty()).then_some((minimum, maximum))
}

/// Every active segment must be within the pages that the module itself declares: the reference copies them before it
/// grows the memory.
fn data_fits(body: &mut Cursor<'_>, declared_pages: u32) -> Option<()> {
    let declared_len = u64::from(declared_pages) * PAGE_LEN_BYTES;
    for _ in 0..body.number()? {
        if let Segment::Active { offset, bytes } = body.segment()?
            && u64::from(offset) + bytes.len() as u64 > declared_len
        {
            return None;
        }
    }
    Some(())
}

/// The code with another memory section.
fn replace(code: &[u8], section: &Section<'_>, body: &[u8]) -> Vec<u8> {
    let mut copy = Vec::with_capacity(code.len() + 8);
    copy.extend_from_slice(&code[..section.length_start]);
    append_number(body.len() as u32, &mut copy);
    copy.extend_from_slice(body);
    copy.extend_from_slice(&code[section.end()..]);
    copy
}

/// A memory section of one memory that starts at 512 pages.
fn memory_of_call_pages(maximum: Option<u32>) -> Vec<u8> {
    let mut body = vec![1, u8::from(maximum.is_some())];
    append_number(CALL_PAGES, &mut body);
    if let Some(maximum) = maximum {
        append_number(maximum, &mut body);
    }
    body
}

fn append_number(number: u32, bytes: &mut Vec<u8>) {
    append_varint(u128::from(number), bytes);
}

#[cfg(test)]
mod tests;
