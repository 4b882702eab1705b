//! The cost of compiling a module, and the module without sections that no contract can observe.

use super::memory_section::{Cursor, Section, Sections, section};
use crate::work::cost;

/// Longest name that the parser of wasmi 0.37.2 takes, in bytes.
const NAME_LEN_MAX_BYTES: usize = 100_000;

/// An instruction of one byte becomes one of eight.
const BYTES_PER_INSTRUCTION_BYTE: u64 = 8;

/// Parameters and results that the parser of wasmi 0.37.2 lets a function have, each.
const WIDTH_MAX: u64 = 2 * 1000;

/// An element of a segment takes a byte at least, and becomes an expression.
const BYTES_PER_ELEMENT_BYTE: u64 = 40;

/// Types, functions, globals, imports and exports, of which the parser takes some millions at most.
const BYTES_PER_DECLARATION_BYTE: u64 = 64;

/// First byte of the type of a function.
const FUNCTION_TYPE: u8 = 0x60;

/// The instruction that does nothing and becomes none.
const NOP: u8 = 1;

/// The cost of compiling a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ModuleSize {
    /// Its length in bytes.
    pub(super) len: usize,
    /// Memory that its compiled form takes, in bytes, by an estimate that is not too low.
    pub(super) compiled_bytes: u64,
    /// Work of compiling it.
    pub(super) compile_work: u64,
}

impl ModuleSize {
    /// Of a module that is malformed it may be anything that is not too low: that one is not compiled to its end.
    pub(super) fn of(code: &[u8]) -> Self {
        let mut size = Self { len: code.len(), compiled_bytes: 4096, compile_work: 0 };
        let mut widest = 0;
        let mut sections = Sections::of(code).into_iter().flatten();
        loop {
            match sections.next() {
                None => return size,
                Some(Some(section)) => {
                    if section.id == section::TYPE {
                        widest = widest.max(widest_type(section.body).unwrap_or(WIDTH_MAX));
                    }
                    size.add(&section, widest);
                }
                // The parser ends here as well.
                Some(None) => {
                    size.compile_work += code.len() as u64 * cost::SECTION_BYTE;
                    return size;
                }
            }
        }
    }

    /// Most memory while it is compiled, in bytes: itself, a copy, and the compiled form.
    pub(super) const fn compiling_bytes(&self) -> u64 {
        2 * self.len as u64 + self.compiled_bytes
    }

    fn add(&mut self, section: &Section<'_>, widest: u64) {
        let len = section.body.len() as u64;
        let (bytes, work) = match section.id {
            section::CUSTOM => (0, 0),
            section::CODE => {
                let empty = memchr::memchr_iter(NOP, section.body).count() as u64;
                // A call or a block of two bytes handles all parameters and results of its type, three to an instruction of eight bytes.
                let instruction_bytes = BYTES_PER_INSTRUCTION_BYTE.max(widest * 3 / 4);
                ((len - empty) * instruction_bytes, len * cost::COMPILED_BYTE.max(widest))
            }
            section::DATA => (len, len * cost::SECTION_BYTE),
            section::ELEMENT => (len * BYTES_PER_ELEMENT_BYTE, len * cost::COMPILED_BYTE),
            _ => (len * BYTES_PER_DECLARATION_BYTE, len * cost::COMPILED_BYTE),
        };
        self.compiled_bytes += bytes;
        self.compile_work += work;
    }
}

/// Most parameters and results together of a type; `None` when they are malformed.
fn widest_type(body: &[u8]) -> Option<u64> {
    let mut body = Cursor(body);
    let mut widest = 0;
    for _ in 0..body.number()? {
        body.byte().filter(|form| *form == FUNCTION_TYPE)?;
        let parameters = body.number()?;
        body.bytes(parameters as usize)?;
        let results = body.number()?;
        body.bytes(results as usize)?;
        widest = widest.max(u64::from(parameters) + u64::from(results));
    }
    Some(widest)
}

/// A copy of `code` without its custom sections, which have no effect on execution; `None` when it has none, or when one of them
/// may be what makes the module invalid.
pub(super) fn without_custom_sections(code: &[u8]) -> Option<Vec<u8>> {
    let mut kept = Vec::new();
    let mut kept_from = 0;
    for section in Sections::of(code)? {
        let section = section?;
        if section.id == section::CUSTOM {
            let mut body = Cursor(section.body);
            let len = body.number()? as usize;
            let name = body.bytes(len).filter(|name| name.len() <= NAME_LEN_MAX_BYTES)?;
            std::str::from_utf8(name).ok()?;
            kept.extend_from_slice(&code[kept_from..section.length_start - 1]);
            kept_from = section.end();
        }
    }
    (kept_from > 0).then(|| {
        kept.extend_from_slice(&code[kept_from..]);
        kept
    })
}

#[cfg(test)]
mod tests;
