//! The boundary to the host: the one module with `unsafe` in it.
//!
//! Every pointer that crosses the boundary is an offset in this module's memory, with the length of what stands there as a
//! little-endian u32 in the four bytes before it. The host reads and writes only there, during the call that names it; a run is
//! one thread and begins in a fresh memory.
#![allow(unsafe_code)]

use crate::{COUNTS, header_key, index};

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    fn __host_len() -> i32;
    fn __load_input(place: i32);
    fn __get_len(key: i32) -> i32;
    fn __get(key: i32, value: i32);
    fn __flush(message: i32);
    fn __log(text: i32);
}

const PAGE: usize = 65_536;

/// Bytes behind their length, as the host reads and writes them.
#[repr(C)]
struct Buffer<const LENGTH: usize> {
    length: u32,
    bytes: [u8; LENGTH],
}

impl<const LENGTH: usize> Buffer<LENGTH> {
    const fn of(bytes: [u8; LENGTH]) -> Self {
        Self { length: LENGTH as u32, bytes }
    }

    fn pointer(&mut self) -> i32 {
        offset(&raw mut self.bytes as *mut u8)
    }
}

#[expect(clippy::cast_possible_wrap, reason = "addresses have 32 bits here")]
fn offset(pointer: *mut u8) -> i32 {
    pointer.expose_provenance() as i32
}

/// Fresh memory of at least `length` bytes behind four for a length, never given back: a run is short.
fn fresh(length: usize) -> &'static mut [u8] {
    let start = core::arch::wasm32::memory_grow::<0>((length + 4).div_ceil(PAGE));
    if start == usize::MAX {
        core::arch::wasm32::unreachable();
    }
    let place = core::ptr::with_exposed_provenance_mut::<u8>(start * PAGE);
    // SAFETY: the pages were just added and belong to nobody else.
    let whole = unsafe { core::slice::from_raw_parts_mut(place, length + 4) };
    let (before, bytes) = whole.split_at_mut(4);
    before.copy_from_slice(&(length as u32).to_le_bytes());
    bytes
}

/// What the host gives: the height, then the block or the payload of a view.
fn input() -> &'static [u8] {
    // SAFETY: takes no pointer.
    let length = usize::try_from(unsafe { __host_len() }).unwrap_or(0);
    let input = fresh(length);
    // SAFETY: the host writes as many bytes as it announced.
    unsafe { __load_input(offset(input.as_mut_ptr())) };
    input
}

/// The value of a key; zeros when it was never set.
fn value<const KEY: usize, const LENGTH: usize>(key: [u8; KEY]) -> Option<[u8; LENGTH]> {
    let (mut key, mut value) = (Buffer::of(key), Buffer::of([0; LENGTH]));
    // SAFETY: the key lies behind its length and is only read.
    let announced = usize::try_from(unsafe { __get_len(key.pointer()) }).unwrap_or(0);
    if announced == LENGTH {
        // SAFETY: the value has as many bytes as the host announced.
        unsafe { __get(key.pointer(), value.pointer()) };
        return Some(value.bytes);
    }
    None
}

/// Leaves an answer where the host finds it after the view has returned.
fn answer(bytes: &[u8]) -> i32 {
    let place = fresh(bytes.len());
    place.copy_from_slice(bytes);
    offset(place.as_mut_ptr())
}

/// Runs a block.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn _start() {
    let counts = value(COUNTS).unwrap_or([0; 16]);
    let Some(message) = index(input(), counts) else { core::arch::wasm32::unreachable() };
    let mut text = Buffer::of(*b"a block was counted");
    let mut message = Buffer::of(message);
    // SAFETY: both lie behind their lengths and are only read.
    unsafe {
        __log(text.pointer());
        __flush(message.pointer());
    }
}

/// Answers both counts.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn counts() -> i32 {
    answer(&value(COUNTS).unwrap_or([0; 16]))
}

/// Answers the header of the block at the height that the payload says.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn header() -> i32 {
    let height = input().get(4..).and_then(|payload| payload.first_chunk::<4>());
    match height.and_then(|height| value::<12, 80>(header_key(*height))) {
        Some(header) => answer(&header),
        None => answer(&[]),
    }
}

/// A broken assumption is a trap: the block is not indexed.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
