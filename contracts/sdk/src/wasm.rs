//! The boundary to the host: the one module with `unsafe` in it.
//!
//! Every pointer that crosses the boundary is an offset in this module's memory in ArrayBuffer layout: the length as a
//! little-endian u32 in the four bytes before it. [`Buffer`] is such a place. The host reads and writes only inside the buffer
//! that it was given, and only during the call that names it; one contract is one thread.
#![allow(unsafe_code)]

use alloc::vec::Vec;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;

use crate::call::Response;
use crate::contract::Contract;
use crate::environment::Environment;
use crate::host::{CallKind, Host};
use crate::id::AlkaneId;
use crate::revert::Revert;
use crate::storage::StorageMap;

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    fn abort(message: i32, file: i32, line: i32, column: i32);
    fn __request_storage(key: i32) -> i32;
    fn __load_storage(key: i32, value: i32) -> i32;
    fn __request_context() -> i32;
    fn __load_context(value: i32) -> i32;
    fn __request_transaction() -> i32;
    fn __load_transaction(value: i32);
    fn __request_block() -> i32;
    fn __load_block(value: i32);
    fn __sequence(value: i32);
    fn __fuel(value: i32);
    fn __height(value: i32);
    fn __balance(who: i32, what: i32, value: i32);
    fn __returndatacopy(value: i32);
    fn __log(text: i32);
    fn __call(cellpack: i32, parcel: i32, storage: i32, fuel: i64) -> i32;
    fn __delegatecall(cellpack: i32, parcel: i32, storage: i32, fuel: i64) -> i32;
    fn __staticcall(cellpack: i32, parcel: i32, storage: i32, fuel: i64) -> i32;
}

/// Bytes behind their length, as the host reads and writes them.
struct Buffer(Vec<u8>);

impl Buffer {
    const PREFIX: usize = 4;

    /// A place for `length` bytes to come.
    fn empty(length: usize) -> Self {
        let mut bytes = Vec::with_capacity(Self::PREFIX + length);
        bytes.extend_from_slice(&prefix(length));
        bytes.resize(Self::PREFIX + length, 0);
        Self(bytes)
    }

    fn of(content: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(Self::PREFIX + content.len());
        bytes.extend_from_slice(&prefix(content.len()));
        bytes.extend_from_slice(content);
        Self(bytes)
    }

    /// Offset of the first byte behind the length. Valid as long as the buffer lives and is not moved out of.
    fn pointer(&mut self) -> i32 {
        offset(self.0.as_mut_ptr()) + Self::PREFIX as i32
    }

    fn content(&self) -> &[u8] {
        &self.0[Self::PREFIX..]
    }

    fn into_content(mut self) -> Vec<u8> {
        self.0.drain(..Self::PREFIX);
        self.0
    }
}

#[expect(clippy::cast_possible_truncation, reason = "memory is far below 4 GiB")]
const fn prefix(length: usize) -> [u8; 4] {
    (length as u32).to_le_bytes()
}

/// An address as the host counts it. The address is exposed: the host will read and write through it.
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "addresses have 32 bits here")]
fn offset(pointer: *mut u8) -> i32 {
    pointer.expose_provenance() as i32
}

/// A length that the host answered; negative means that it failed, and then there is nothing to read.
fn length(answer: i32) -> usize {
    usize::try_from(answer).unwrap_or(0)
}

/// The host functions as imports.
pub struct Imports;

impl Imports {
    fn integer<const LENGTH: usize>(read: unsafe extern "C" fn(i32)) -> [u8; LENGTH] {
        let mut value = Buffer::empty(LENGTH);
        // SAFETY: the three functions used here write `LENGTH` bytes at the pointer and a length before it; the buffer has both.
        unsafe { read(value.pointer()) };
        value.content().try_into().unwrap_or([0; LENGTH])
    }
}

impl Host for Imports {
    fn context(&self) -> Vec<u8> {
        // SAFETY: takes no pointer.
        let mut value = Buffer::empty(length(unsafe { __request_context() }));
        // SAFETY: the host writes as many bytes as it announced.
        unsafe { __load_context(value.pointer()) };
        value.into_content()
    }

    fn storage(&self, key: &[u8]) -> Vec<u8> {
        let mut key = Buffer::of(key);
        // SAFETY: the key is in ArrayBuffer layout and only read.
        let announced = length(unsafe { __request_storage(key.pointer()) });
        if announced == 0 {
            return Vec::new();
        }
        let mut value = Buffer::empty(announced);
        // SAFETY: nothing is written to storage between the two calls, so the value has the announced length.
        unsafe { __load_storage(key.pointer(), value.pointer()) };
        value.into_content()
    }

    fn transaction(&self) -> Vec<u8> {
        // SAFETY: takes no pointer.
        let mut value = Buffer::empty(length(unsafe { __request_transaction() }));
        // SAFETY: the host writes as many bytes as it announced.
        unsafe { __load_transaction(value.pointer()) };
        value.into_content()
    }

    fn block(&self) -> Vec<u8> {
        // SAFETY: takes no pointer.
        let mut value = Buffer::empty(length(unsafe { __request_block() }));
        // SAFETY: the host writes as many bytes as it announced.
        unsafe { __load_block(value.pointer()) };
        value.into_content()
    }

    fn sequence(&self) -> u128 {
        u128::from_le_bytes(Self::integer(__sequence))
    }

    fn fuel(&self) -> u64 {
        u64::from_le_bytes(Self::integer(__fuel))
    }

    fn height(&self) -> u64 {
        u64::from_le_bytes(Self::integer(__height))
    }

    fn balance(&self, who: AlkaneId, what: AlkaneId) -> u128 {
        let (mut who, mut what) = (Buffer::of(&who.to_bytes()), Buffer::of(&what.to_bytes()));
        let mut value = Buffer::empty(16);
        // SAFETY: both ids are in ArrayBuffer layout and only read; the host writes 16 bytes, or none for a balance never set,
        // which leaves the zeros in place.
        unsafe { __balance(who.pointer(), what.pointer(), value.pointer()) };
        value.content().try_into().map_or(0, u128::from_le_bytes)
    }

    fn call(&self, kind: CallKind, cellpack: &[u8], parcel: &[u8], storage: &[u8], fuel: u64) -> Option<Vec<u8>> {
        let (mut cellpack, mut parcel, mut storage) = (Buffer::of(cellpack), Buffer::of(parcel), Buffer::of(storage));
        let (cellpack, parcel, storage) = (cellpack.pointer(), parcel.pointer(), storage.pointer());
        let fuel = fuel.cast_signed();
        // SAFETY: the three buffers are in ArrayBuffer layout, live until the call returns, and are only read.
        let answer = unsafe {
            match kind {
                CallKind::Call => __call(cellpack, parcel, storage, fuel),
                CallKind::Delegate => __delegatecall(cellpack, parcel, storage, fuel),
                CallKind::Static => __staticcall(cellpack, parcel, storage, fuel),
            }
        };
        let announced = usize::try_from(answer).ok()?;
        Some(self.return_data(announced))
    }

    fn return_data(&self, length: usize) -> Vec<u8> {
        let mut value = Buffer::empty(length);
        // SAFETY: the host copies what the last call returned, whose length the call answered.
        unsafe { __returndatacopy(value.pointer()) };
        value.into_content()
    }

    fn log(&self, text: &[u8]) {
        let mut text = Buffer::of(text);
        // SAFETY: the text is in ArrayBuffer layout and only read.
        unsafe { __log(text.pointer()) };
    }

    fn abort(&self) {
        // SAFETY: the host ignores the four arguments.
        unsafe { abort(0, 0, 0, 0) };
    }
}

/// Leaves the bytes where they are and answers their pointer: the end of an export.
fn hand_over(bytes: &[u8]) -> i32 {
    let mut buffer = Buffer::of(bytes);
    let pointer = buffer.pointer();
    // The host reads the bytes after this returns, so they must never be freed.
    core::mem::forget(buffer);
    pointer
}

/// The body of `__execute`.
pub fn execute<C: Contract>() -> i32 {
    let Some(mut env) = Environment::enter(Imports) else {
        return fail(&Revert::from("the context cannot be read"));
    };
    match C::dispatch(&mut env) {
        Ok(response) => hand_over(&env.leave(&response)),
        Err(revert) => fail(&revert),
    }
}

/// Marks the call as failed and answers the reason in a response that moves and stores nothing.
fn fail(revert: &Revert) -> i32 {
    Imports.abort();
    hand_over(&Response::new().with_data(revert.to_data()).to_bytes(&StorageMap::default()))
}

/// The body of `__meta`.
pub fn describe<C: Contract>() -> i32 {
    hand_over(C::description().as_bytes())
}

/// Hands out memory from the end of the module's data upwards and takes back only what was handed out last. A call is short and
/// has 41 MiB, so this is both the smallest and the fastest way.
struct Upwards {
    /// First free address; 0 before the first use.
    next: Cell<usize>,
}

// SAFETY: a contract is a single thread.
unsafe impl Sync for Upwards {}

#[global_allocator]
static ALLOCATOR: Upwards = Upwards { next: Cell::new(0) };

unsafe extern "C" {
    /// Set by the linker to the first address behind data and stack.
    static __heap_base: u8;
}

const PAGE: usize = 65_536;

impl Upwards {
    fn free(&self) -> usize {
        match self.next.get() {
            0 => (&raw const __heap_base).addr(),
            next => next,
        }
    }

    /// Makes the memory reach up to `end`.
    fn reach(end: usize) -> bool {
        let have = core::arch::wasm32::memory_size::<0>() * PAGE;
        end <= have || core::arch::wasm32::memory_grow::<0>((end - have).div_ceil(PAGE)) != usize::MAX
    }
}

// SAFETY: addresses only go up past what is in use, are aligned as asked and lie inside the memory; the last piece may shrink,
// grow or vanish, and then the first free address follows it.
unsafe impl GlobalAlloc for Upwards {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(start) = self.free().checked_next_multiple_of(layout.align()) else { return core::ptr::null_mut() };
        match start.checked_add(layout.size()) {
            Some(end) if Self::reach(end) => {
                self.next.set(end);
                core::ptr::with_exposed_provenance_mut(start)
            }
            _ => core::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if pointer.addr() + layout.size() == self.free() {
            self.next.set(pointer.addr());
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if pointer.addr() + layout.size() == self.free() {
            return match pointer.addr().checked_add(new_size) {
                Some(end) if Self::reach(end) => {
                    self.next.set(end);
                    pointer
                }
                _ => core::ptr::null_mut(),
            };
        }
        if new_size <= layout.size() {
            return pointer;
        }
        // SAFETY: the caller guarantees that the new layout is valid; the old piece is alive and shorter than the new one, and the
        // two do not overlap.
        unsafe {
            let moved = self.alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
            if !moved.is_null() {
                core::ptr::copy_nonoverlapping(pointer, moved, layout.size());
            }
            moved
        }
    }
}

/// A broken assumption is a trap: the call reverts.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
