//! Keys as the engine sees them: module byte, table byte, then the key of the row.
//!
//! A versioned key is escaped so that no key is a prefix of another (`00` becomes `00 ff`, the end is `00 00`); this
//! keeps the order of the keys, and no version of one key ever lies between two versions of another. The height follows
//! bitwise inverted, so the newest version comes first.

use paraffin_primitives::Height;

use crate::Table;

/// Bytes before the key of the row: module and table.
pub(crate) const PREFIX_LEN: usize = 2;
/// Greatest length of a key given by a module, bytes; escaped it stays far below the engine's 65,535.
pub const KEY_LEN_MAX: usize = 4096;
/// Bytes of the inverted height at the end of a versioned key.
const HEIGHT_LEN: usize = 4;
/// Keys up to this length are built on the stack.
const STACK_LEN: usize = 160;

/// Calls `use_key` with the engine key of a row of a table that is not versioned.
pub(crate) fn with_plain<R>(table: &Table, key: &[u8], use_key: impl FnOnce(&[u8]) -> R) -> R {
    let len = PREFIX_LEN + key.len();
    if len <= STACK_LEN {
        let mut buffer = [0; STACK_LEN];
        buffer[0] = table.module.0;
        buffer[1] = table.id;
        buffer[PREFIX_LEN..len].copy_from_slice(key);
        use_key(&buffer[..len])
    } else {
        use_key(&plain(table, key))
    }
}

/// Engine key of a row of a table that is not versioned.
pub(crate) fn plain(table: &Table, key: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(PREFIX_LEN + key.len());
    out.extend_from_slice(&[table.module.0, table.id]);
    out.extend_from_slice(key);
    out
}

/// Escaped start that every versioned key whose row key begins with `prefix` shares.
pub(crate) fn escaped_prefix(table: &Table, prefix: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(PREFIX_LEN + prefix.len() + 2 + HEIGHT_LEN);
    out.extend_from_slice(&[table.module.0, table.id]);
    for &byte in prefix {
        out.push(byte);
        if byte == 0 {
            out.push(0xff);
        }
    }
    out
}

/// Versioned key without the height.
pub(crate) fn stem(table: &Table, key: &[u8]) -> Vec<u8> {
    let mut out = escaped_prefix(table, key);
    out.extend_from_slice(&[0, 0]);
    out
}

/// Calls `use_stem` with the versioned key without the height.
pub(crate) fn with_stem<R>(table: &Table, key: &[u8], use_stem: impl FnOnce(&[u8]) -> R) -> R {
    if PREFIX_LEN + 2 * key.len() + 2 > STACK_LEN {
        return use_stem(&stem(table, key));
    }
    let mut buffer = [0; STACK_LEN];
    buffer[0] = table.module.0;
    buffer[1] = table.id;
    let mut len = PREFIX_LEN;
    for &byte in key {
        buffer[len] = byte;
        len += 1;
        if byte == 0 {
            buffer[len] = 0xff;
            len += 1;
        }
    }
    // The two bytes of the end are zero already.
    use_stem(&buffer[..len + 2])
}

/// Versioned key of `stem` at `height`.
pub(crate) fn at_height(stem: &[u8], height: Height) -> Vec<u8> {
    let mut out = Vec::with_capacity(stem.len() + HEIGHT_LEN);
    write_at_height(&mut out, stem, height);
    out
}

/// Makes `out` the versioned key of `stem` at `height`.
pub(crate) fn write_at_height(out: &mut Vec<u8>, stem: &[u8], height: Height) {
    out.clear();
    out.extend_from_slice(stem);
    out.extend_from_slice(&(!height).to_be_bytes());
}

/// Versioned key of the row that repeats the newest version of `stem`, before all its versions.
pub(crate) fn newest(stem: &[u8]) -> Vec<u8> {
    at_height(stem, Height::MAX)
}

/// Makes `out` that key.
pub(crate) fn write_newest(out: &mut Vec<u8>, stem: &[u8]) {
    write_at_height(out, stem, Height::MAX);
}

/// Splits a versioned key into stem and height; `None` when the bytes are not such a key.
pub(crate) fn split_height(engine_key: &[u8]) -> Option<(&[u8], Height)> {
    let (stem, height) = engine_key.split_last_chunk::<HEIGHT_LEN>()?;
    (stem.len() >= PREFIX_LEN + 2).then(|| (stem, !u32::from_be_bytes(*height)))
}

/// Row key in a stem; `None` when the bytes are not a stem.
pub(crate) fn unescape(stem: &[u8]) -> Option<Vec<u8>> {
    let escaped = stem.get(PREFIX_LEN..)?.strip_suffix(&[0, 0])?;
    let mut out = Vec::with_capacity(escaped.len());
    let mut bytes = escaped.iter();
    while let Some(&byte) = bytes.next() {
        out.push(byte);
        if byte == 0 && bytes.next() != Some(&0xff) {
            return None;
        }
    }
    Some(out)
}

/// Smallest key greater than every key that starts with `prefix`, which is not all `ff`.
pub(crate) fn after_prefix(prefix: &[u8]) -> Vec<u8> {
    let mut out = prefix.to_vec();
    while let Some(last) = out.pop() {
        if last != u8::MAX {
            out.push(last + 1);
            return out;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModuleId, Placement, TableKind};
    use proptest::prelude::*;

    const TABLE: Table =
        Table { module: ModuleId(3), id: 7, name: "t", kind: TableKind::Versioned, placement: Placement::Ordered };

    fn key() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(0xfe), Just(0xff), any::<u8>()], 0..12)
    }

    proptest! {
        #[test]
        fn escaped_keys_keep_the_order_and_come_back(a in key(), b in key(), first: u32, second: u32) {
            let (stem_a, stem_b) = (stem(&TABLE, &a), stem(&TABLE, &b));
            prop_assert_eq!(unescape(&stem_a), Some(a.clone()));
            prop_assert_eq!(with_stem(&TABLE, &a, <[u8]>::to_vec), stem_a.clone());
            let (key_a, key_b) = (at_height(&stem_a, first), at_height(&stem_b, second));
            prop_assert_eq!(split_height(&key_a), Some((stem_a.as_slice(), first)));
            // Newer first within a key; never a version of one key between those of another.
            prop_assert_eq!(key_a.cmp(&key_b), a.cmp(&b).then(second.cmp(&first)));
        }

        #[test]
        fn a_row_key_starts_with_a_prefix_exactly_when_its_stem_does(whole in key(), prefix in key()) {
            let stem = stem(&TABLE, &whole);
            let escaped = escaped_prefix(&TABLE, &prefix);
            prop_assert_eq!(stem.starts_with(&escaped), whole.starts_with(&prefix));
            prop_assert_eq!(stem >= escaped && stem < after_prefix(&escaped), whole.starts_with(&prefix));
        }

        #[test]
        fn plain_keys_are_the_same_built_on_the_stack_and_on_the_heap(key in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(with_plain(&TABLE, &key, <[u8]>::to_vec), plain(&TABLE, &key));
        }
    }

    #[test]
    fn damaged_stems_are_refused() {
        assert_eq!(unescape(&[3, 7, 1, 0]), None);
        assert_eq!(unescape(&[3, 7, 0, 5, 0, 0]), None);
        assert_eq!(unescape(&[3]), None);
        assert_eq!(split_height(&[3, 7, 0, 0, 0]), None);
    }
}
