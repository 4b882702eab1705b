//! The memory layout of a program (protocol A2): bytes at a pointer, their length in the four bytes before it.

/// The length that a program reads for a value whose key it passed by an invalid pointer.
pub const UNREADABLE: u32 = 0x7fff_ffff;

/// Bytes of the length before a pointer.
const LENGTH_LEN: usize = 4;

/// A pointer that does not lead to bytes in the program's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("pointer {pointer} does not lead to bytes in a memory of {memory_len} bytes")]
pub struct BadPointer {
    /// The pointer that the program passed.
    pub pointer: u32,
    /// Length of its memory in bytes.
    pub memory_len: usize,
}

/// The bytes that a pointer leads to.
///
/// # Errors
/// Their length or they themselves are not all in the memory.
pub fn read(memory: &[u8], pointer: u32) -> Result<&[u8], BadPointer> {
    let bad = BadPointer { pointer, memory_len: memory.len() };
    let start = pointer as usize;
    let length = start.checked_sub(LENGTH_LEN).and_then(|at| memory.get(at..start)).ok_or(bad)?;
    let length = length.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte));
    memory.get(start..).and_then(|rest| rest.get(..length)).ok_or(bad)
}

/// Writes bytes at a pointer, without their length, which the program has read before.
///
/// # Errors
/// They do not fit the memory; nothing is written.
pub fn write(memory: &mut [u8], pointer: u32, bytes: &[u8]) -> Result<(), BadPointer> {
    let bad = BadPointer { pointer, memory_len: memory.len() };
    let target = memory.get_mut(pointer as usize..).and_then(|rest| rest.get_mut(..bytes.len()));
    target.ok_or(bad)?.copy_from_slice(bytes);
    Ok(())
}

/// Reports to a program that the key at its pointer cannot be read: [`UNREADABLE`] where the length of the value would be.
///
/// # Errors
/// The four bytes before the pointer are not in the memory either.
pub fn write_unreadable(memory: &mut [u8], pointer: u32) -> Result<(), BadPointer> {
    let bad = BadPointer { pointer, memory_len: memory.len() };
    let at = pointer.checked_sub(LENGTH_LEN as u32).ok_or(bad)?;
    write(memory, at, &UNREADABLE.to_le_bytes()).map_err(|_| bad)
}

/// The input of a program: the height, then the block or the payload of the view (protocol A2).
pub fn input(height: u32, bytes: &[u8]) -> Vec<u8> {
    let mut input = Vec::with_capacity(bytes.len() + 4);
    input.extend_from_slice(&height.to_le_bytes());
    input.extend_from_slice(bytes);
    input
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pointer_leads_to_as_many_bytes_as_stand_before_it() {
        let memory = [9, 3, 0, 0, 0, b'k', b'e', b'y', 7];
        assert_eq!(read(&memory, 5), Ok(&b"key"[..]));
        for pointer in [0, 3, 4, 9, 10, u32::MAX] {
            let result = read(&memory, pointer);
            assert!(result.is_err(), "{pointer}: {result:?}");
        }
        // At the very end of the memory stands nothing, which can be read.
        assert_eq!(read(&[0, 0, 0, 0], 4), Ok(&[][..]));
        let text = read(&memory, 0).unwrap_err().to_string();
        assert_eq!(text, "pointer 0 does not lead to bytes in a memory of 9 bytes");
    }

    #[test]
    fn writes_stay_within_the_memory() {
        let mut memory = [0; 8];
        write(&mut memory, 6, &[1, 2]).unwrap();
        assert!(write(&mut memory, 7, &[1, 2]).is_err());
        assert!(write(&mut memory, u32::MAX, &[]).is_err());
        assert_eq!(memory, [0, 0, 0, 0, 0, 0, 1, 2]);
        write_unreadable(&mut memory, 4).unwrap();
        assert_eq!(memory[..4], [0xff, 0xff, 0xff, 0x7f]);
        assert!(write_unreadable(&mut memory, 3).is_err());
    }

    #[test]
    fn the_input_begins_with_the_height() {
        assert_eq!(input(0x0102, b"block"), [&[2, 1, 0, 0][..], b"block"].concat());
    }

    proptest! {
        #[test]
        fn no_memory_and_no_pointer_breaks_the_reader(mut memory: Vec<u8>, pointer: u32, near in 0u32..64, bytes: Vec<u8>) {
            for pointer in [pointer, near] {
                _ = read(&memory, pointer);
                let before = memory.clone();
                if write(&mut memory, pointer, &bytes).is_err() {
                    prop_assert_eq!(&memory, &before);
                }
            }
        }
    }
}
