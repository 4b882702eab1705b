//! Loads and stores: little-endian, at the sum of an address and an offset. A float moves as its bits.

use crate::{TrapCode, UntypedVal};

/// Where an access begins.
#[inline]
fn start(address: UntypedVal, offset: u32) -> Result<usize, TrapCode> {
    let start = u32::from(address).checked_add(offset);
    start.and_then(|start| usize::try_from(start).ok()).ok_or(TrapCode::MemoryOutOfBounds)
}

#[inline]
fn read<const N: usize>(memory: &[u8], address: UntypedVal, offset: u32) -> Result<[u8; N], TrapCode> {
    let rest = memory.get(start(address, offset)?..);
    rest.and_then(<[u8]>::first_chunk).copied().ok_or(TrapCode::MemoryOutOfBounds)
}

#[inline]
fn write<const N: usize>(memory: &mut [u8], address: UntypedVal, offset: u32, bytes: [u8; N]) -> Result<(), TrapCode> {
    let rest = memory.get_mut(start(address, offset)?..);
    *rest.and_then(<[u8]>::first_chunk_mut).ok_or(TrapCode::MemoryOutOfBounds)? = bytes;
    Ok(())
}

/// Reads a value of one type and extends it to another.
macro_rules! loads {
    ($($name:ident: $stored:ty => $loaded:ty),+ $(,)?) => {
        impl UntypedVal {
            $(
                #[doc = concat!("Executes `", stringify!($name), "`.")]
                #[doc = ""]
                #[doc = "# Errors"]
                #[doc = "The access reaches past the memory's end."]
                #[inline]
                pub fn $name(memory: &[u8], address: Self, offset: u32) -> Result<Self, TrapCode> {
                    read(memory, address, offset).map(|bytes| Self::from(<$loaded>::from(<$stored>::from_le_bytes(bytes))))
                }
            )+
        }
    };
}

loads! {
    i32_load: u32 => u32,
    i32_load8_s: i8 => i32,
    i32_load8_u: u8 => u32,
    i32_load16_s: i16 => i32,
    i32_load16_u: u16 => u32,
    i64_load: u64 => u64,
    i64_load8_s: i8 => i64,
    i64_load8_u: u8 => u64,
    i64_load16_s: i16 => i64,
    i64_load16_u: u16 => u64,
    i64_load32_s: i32 => i64,
    i64_load32_u: u32 => u64,
    f32_load: u32 => u32,
    f64_load: u64 => u64,
}

/// Writes the lower bytes of a value.
macro_rules! stores {
    ($($name:ident: $stored:ty),+ $(,)?) => {
        impl UntypedVal {
            $(
                #[doc = concat!("Executes `", stringify!($name), "`.")]
                #[doc = ""]
                #[doc = "# Errors"]
                #[doc = "The access reaches past the memory's end; nothing is written."]
                #[inline]
                pub fn $name(memory: &mut [u8], address: Self, offset: u32, value: Self) -> Result<(), TrapCode> {
                    write(memory, address, offset, <$stored>::from(value).to_le_bytes())
                }
            )+
        }
    };
}

stores! {
    i32_store: u32,
    i32_store8: u8,
    i32_store16: u16,
    i64_store: u64,
    i64_store8: u8,
    i64_store16: u16,
    i64_store32: u32,
    f32_store: u32,
    f64_store: u64,
}
