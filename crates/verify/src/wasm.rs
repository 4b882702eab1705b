//! The sections of a WASM module, as far as a comparison needs them.

/// Id of custom sections, which hold names and notes and do not change what a module does.
const CUSTOM: u8 = 0;
/// Id of the section that holds the functions' instructions.
pub(crate) const CODE: u8 = 10;
const HEADER: &[u8] = b"\0asm\x01\0\0\0";
/// Sections beside the custom ones. Of each kind a valid module has one; a file with more than a few is an attempt to
/// make the comparison slow.
const SECTIONS_MAX: usize = 64;

/// One section without its head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Section<'a> {
    pub(crate) id: u8,
    pub(crate) content: &'a [u8],
}

/// All sections but the custom ones, in their order; `None` when the bytes are no module, or none that could run.
pub(crate) fn sections(module: &[u8]) -> Option<Vec<Section<'_>>> {
    let mut rest = module.strip_prefix(HEADER)?;
    let mut sections = Vec::new();
    while let Some((&id, tail)) = rest.split_first() {
        let (length, tail) = length(tail)?;
        let (content, tail) = tail.split_at_checked(length)?;
        if id != CUSTOM {
            if sections.len() >= SECTIONS_MAX {
                return None;
            }
            sections.push(Section { id, content });
        }
        rest = tail;
    }
    Some(sections)
}

/// Name of a section as the WebAssembly specification has it.
pub(crate) fn section_name(id: u8) -> &'static str {
    const NAMES: [&str; 14] = [
        "custom",
        "type",
        "import",
        "function",
        "table",
        "memory",
        "global",
        "export",
        "start",
        "element",
        "code",
        "data",
        "data count",
        "tag",
    ];
    NAMES.get(usize::from(id)).copied().unwrap_or("unknown")
}

/// An unsigned LEB128 of up to 32 bits.
fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut value = 0_u64;
    for (index, &byte) in bytes.iter().enumerate().take(5) {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((usize::try_from(u32::try_from(value).ok()?).ok()?, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A module of these sections; not one that would run.
    pub(crate) fn module(sections: &[(u8, &[u8])]) -> Vec<u8> {
        let mut bytes = HEADER.to_vec();
        for (id, content) in sections {
            bytes.push(*id);
            let mut left = content.len();
            while left >= 0x80 {
                bytes.push((left & 0x7f) as u8 | 0x80);
                left >>= 7;
            }
            bytes.push(left as u8);
            bytes.extend_from_slice(content);
        }
        bytes
    }

    #[test]
    fn custom_sections_are_left_out_and_the_others_keep_their_order() {
        let long = vec![7; 300];
        let bytes = module(&[(1, b"types"), (0, b"name"), (CODE, &long), (0, b"producers")]);
        let found = sections(&bytes).unwrap();
        assert_eq!(found, [Section { id: 1, content: b"types" }, Section { id: CODE, content: &long }]);
        assert_eq!(section_name(CODE), "code");
        assert_eq!(section_name(99), "unknown");
    }

    #[test]
    fn what_is_cut_short_or_no_module_is_told() {
        let bytes = module(&[(CODE, b"instructions")]);
        assert!(sections(&bytes[..bytes.len() - 1]).is_none());
        assert!(sections(b"\x7fELF").is_none());
        assert!(sections(b"").is_none());
        let endless = [HEADER, &[CODE, 0x80, 0x80, 0x80, 0x80, 0x80, 0]].concat();
        assert!(sections(&endless).is_none());
    }

    #[test]
    fn a_million_sections_are_no_module() {
        let most: Vec<(u8, &[u8])> = vec![(11, b""); SECTIONS_MAX];
        assert_eq!(sections(&module(&most)).map(|found| found.len()), Some(SECTIONS_MAX));
        let many: Vec<(u8, &[u8])> = vec![(11, b""); 1_000_000];
        assert!(sections(&module(&many)).is_none());
        // Any number of custom sections is allowed.
        let notes: Vec<(u8, &[u8])> = vec![(CUSTOM, b""); 10_000];
        assert_eq!(sections(&module(&notes)).map(|found| found.len()), Some(0));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(tail in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = sections(&[HEADER, &tail].concat());
        }
    }
}
