//! Modules that no compiler would make: each breaks one rule of the machine. Written byte by byte, so they need no toolchain.

use std::collections::BTreeMap;

/// Types: 0 is `() -> i32`, 1 is `() -> ()`.
const TYPES: &[u8] = &[2, 0x60, 0, 1, 0x7f, 0x60, 0, 0];
/// Pages that the machine makes of every memory.
const PAGES: u32 = 512;

/// How a module of this file differs from one that works.
struct Shape {
    /// Initial and largest number of pages; `None` is a module without memory.
    memory: Option<(u32, Option<u32>)>,
    export_memory: bool,
    export_execute: bool,
    start: bool,
    /// What `__execute` answers.
    pointer: i32,
    /// Bytes at address 0.
    data: Vec<u8>,
    /// An import of this name from `env`, of type `() -> ()`.
    import: Option<&'static str>,
}

/// A response of no alkanes, no writes and no data, behind its length.
fn response() -> Vec<u8> {
    let mut bytes = 20u32.to_le_bytes().to_vec();
    bytes.extend_from_slice(&[0; 20]);
    bytes
}

impl Shape {
    /// A module that works: one page, a response of nothing.
    fn working() -> Self {
        Self {
            memory: Some((1, None)),
            export_memory: true,
            export_execute: true,
            start: false,
            pointer: 4,
            data: response(),
            import: None,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut module = b"\0asm\x01\0\0\0".to_vec();
        let imported = u32::from(self.import.is_some());
        section(&mut module, 1, TYPES);
        if let Some(name) = self.import {
            let mut content = vec![1];
            content.extend(text("env"));
            content.extend(text(name));
            content.extend_from_slice(&[0, 1]);
            section(&mut module, 2, &content);
        }
        section(&mut module, 3, &[2, 0, 1]);
        if let Some((initial, largest)) = self.memory {
            let mut content = vec![1, u8::from(largest.is_some())];
            content.extend(unsigned(initial));
            content.extend(largest.map(unsigned).unwrap_or_default());
            section(&mut module, 5, &content);
        }
        let mut exports = Vec::new();
        if self.export_memory && self.memory.is_some() {
            exports.extend(text("memory"));
            exports.extend_from_slice(&[2, 0]);
        }
        if self.export_execute {
            exports.extend(text("__execute"));
            exports.push(0);
            exports.extend(unsigned(imported));
        }
        let count = u8::from(self.export_memory && self.memory.is_some()) + u8::from(self.export_execute);
        exports.insert(0, count);
        section(&mut module, 7, &exports);
        if self.start {
            section(&mut module, 8, &unsigned(imported + 1));
        }
        let mut answer = vec![0, 0x41];
        answer.extend(signed(self.pointer));
        answer.push(0x0b);
        let mut code = vec![2];
        for body in [answer.as_slice(), &[0, 0x0b]] {
            code.extend(unsigned(size(body)));
            code.extend_from_slice(body);
        }
        section(&mut module, 10, &code);
        if !self.data.is_empty() {
            let mut content = vec![1, 0, 0x41, 0, 0x0b];
            content.extend(unsigned(size(&self.data)));
            content.extend_from_slice(&self.data);
            section(&mut module, 11, &content);
        }
        module
    }
}

fn size(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).expect("modules of this file are small")
}

fn section(module: &mut Vec<u8>, number: u8, content: &[u8]) {
    module.push(number);
    module.extend(unsigned(size(content)));
    module.extend_from_slice(content);
}

fn text(text: &str) -> Vec<u8> {
    let mut bytes = unsigned(size(text.as_bytes()));
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

fn unsigned(mut value: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn signed(mut value: i32) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = value.to_le_bytes()[0] & 0x7f;
        value >>= 7;
        if (value == 0 && low & 0x40 == 0) || (value == -1 && low & 0x40 != 0) {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

/// A response whose bytes are these, behind their length.
fn answering(bytes: &[u8]) -> Shape {
    let mut data = size(bytes).to_le_bytes().to_vec();
    data.extend_from_slice(bytes);
    Shape { data, ..Shape::working() }
}

/// Every module by its path below `contracts/wasm`.
pub(super) fn modules() -> BTreeMap<String, Vec<u8>> {
    let working = Shape::working;
    let many_transfers = [&(1u128 << 64).to_le_bytes()[..], &[0; 4]].concat();
    let many_writes = [&[0u8; 16][..], &u32::MAX.to_le_bytes()].concat();
    let long_key = [&[0u8; 16][..], &1u32.to_le_bytes(), &1000u32.to_le_bytes(), &[0; 8]].concat();
    let shapes = [
        ("working", working().bytes()),
        ("no-memory", Shape { memory: None, data: Vec::new(), ..working() }.bytes()),
        ("memory-not-exported", Shape { export_memory: false, ..working() }.bytes()),
        ("no-execute", Shape { export_execute: false, ..working() }.bytes()),
        ("start-function", Shape { start: true, ..working() }.bytes()),
        ("memory-maximum-511", Shape { memory: Some((1, Some(PAGES - 1))), ..working() }.bytes()),
        ("memory-maximum-512", Shape { memory: Some((1, Some(PAGES))), ..working() }.bytes()),
        ("memory-initial-664", Shape { memory: Some((664, None)), ..working() }.bytes()),
        ("memory-initial-665", Shape { memory: Some((665, None)), ..working() }.bytes()),
        ("unknown-import", Shape { import: Some("__no_such_function"), ..working() }.bytes()),
        ("pointer-0", Shape { pointer: 0, ..working() }.bytes()),
        ("pointer-3", Shape { pointer: 3, ..working() }.bytes()),
        ("pointer-minus-1", Shape { pointer: -1, ..working() }.bytes()),
        ("pointer-past-memory", Shape { pointer: 0x7fff_fff0, ..working() }.bytes()),
        ("length-past-memory", Shape { data: u32::MAX.to_le_bytes().to_vec(), ..working() }.bytes()),
        ("response-empty", answering(&[]).bytes()),
        ("response-15-bytes", answering(&[0; 15]).bytes()),
        ("response-no-storage-map", answering(&[0; 16]).bytes()),
        ("response-2-to-the-64-transfers", answering(&many_transfers).bytes()),
        ("response-4-billion-writes", answering(&many_writes).bytes()),
        ("response-key-past-end", answering(&long_key).bytes()),
        ("cut-short", working().bytes()[..30].to_vec()),
        ("empty", Vec::new()),
    ];
    shapes.into_iter().map(|(name, bytes)| (format!("broken/{name}.wasm"), bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_leb128() {
        assert_eq!(unsigned(0), [0]);
        assert_eq!(unsigned(664), [0x98, 0x05]);
        assert_eq!(signed(4), [4]);
        assert_eq!(signed(64), [0xc0, 0]);
        assert_eq!(signed(-1), [0x7f]);
        assert_eq!(signed(0x7fff_fff0), [0xf0, 0xff, 0xff, 0xff, 0x07]);
    }

    #[test]
    fn every_module_differs_from_the_working_one() {
        let modules = modules();
        let working = &modules["broken/working.wasm"];
        assert_eq!(modules.values().filter(|bytes| *bytes == working).count(), 1);
    }
}
