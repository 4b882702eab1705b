//! Memories of contracts that are cleared and used again.
//!
//! A call of a contract takes a mapping of 32 MiB and touches some ten pages of it. To give that back to the system interrupts every
//! processor that the program runs on, and each page has to be asked for anew at the next call. So a few mappings are held and handed out
//! again. What was touched is cleared before: the system names those pages, in memory or swapped out (`PAGEMAP_SCAN`, Linux 6.7).
//! Where it does not, or where much was touched, a mapping goes back to the system.

use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{self, Ioctl, IoctlOutput, Opcode};
use rustix::process::{Pid, getpid};

use crate::mapped::{LARGE_BYTES, PAGE_BYTES};

/// Memories that are held at most: as many as nested calls on a few threads have at the same time.
const MEMORIES_MAX: usize = 8;

/// Bytes that may have been touched of a memory that is held, 2 MiB in all. To clear them takes less than to unmap them.
const TOUCHED_MAX_BYTES: usize = 256 << 10;

/// Ranges of pages that the system names at once.
const RANGES: usize = 16;

/// Mappings of [`LARGE_BYTES`] bytes, all zeros.
static MEMORIES: [AtomicPtr<u8>; MEMORIES_MAX] = [const { AtomicPtr::new(ptr::null_mut()) }; MEMORIES_MAX];

static PAGES: OnceLock<Pages> = OnceLock::new();

/// The pages of a process, as the system reports them.
struct Pages {
    file: OwnedFd,
    /// A child without a program of its own has the same file, which does not report its own pages.
    process: Pid,
}

/// Has memories of contracts used again from now on. For processes that run contracts.
///
/// # Errors
/// The number of the system's error: it does not name the pages that were touched, so each memory goes back to it.
pub fn use_memories_again() -> Result<(), i32> {
    let open = || {
        let file = rustix::fs::open(c"/proc/self/pagemap", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let pages = Pages { file, process: getpid() };
        // Whatever lies there: the system answers or does not know the question.
        let mut ranges = [Range::default(); RANGES];
        pages.scan(ptr::from_ref(&PAGES).addr() & !(PAGE_BYTES - 1), PAGE_BYTES, &mut ranges)?;
        Ok::<_, Errno>(pages)
    };
    let pages = open().map_err(Errno::raw_os_error)?;
    // The second of two callers changes nothing.
    let _ = PAGES.set(pages);
    Ok(())
}

/// A memory that is held, all zeros.
pub(crate) fn take() -> Option<*mut u8> {
    MEMORIES.iter().map(|memory| memory.swap(ptr::null_mut(), Ordering::Acquire)).find(|memory| !memory.is_null())
}

/// Clears a memory and holds it; returns whether it did.
///
/// # Safety
/// `memory` is a mapping of [`LARGE_BYTES`] bytes that nothing uses any more. It is not the caller's if this returns true.
pub(crate) unsafe fn hold(memory: *mut u8) -> bool {
    let Some(pages) = PAGES.get().filter(|pages| pages.process == getpid()) else { return false };
    if MEMORIES.iter().all(|held| !held.load(Ordering::Relaxed).is_null()) {
        return false;
    }
    // SAFETY: the same promise.
    if !unsafe { pages.clear(memory) } {
        return false;
    }
    MEMORIES
        .iter()
        .any(|held| held.compare_exchange(ptr::null_mut(), memory, Ordering::Release, Ordering::Relaxed).is_ok())
}

impl Pages {
    /// Writes zeros to all pages of a memory that were touched; returns whether it did, which is not when there are many.
    ///
    /// # Safety
    /// As for [`hold`].
    unsafe fn clear(&self, memory: *mut u8) -> bool {
        let (begin, end) = (memory.addr(), memory.addr() + LARGE_BYTES);
        let (mut from, mut touched) = (begin, 0);
        while from < end {
            let mut ranges = [Range::default(); RANGES];
            let Ok(scanned) = self.scan(from, end - from, &mut ranges) else { return false };
            for range in &ranges[..scanned.ranges] {
                let (start, range_end) = (address(range.start), address(range.end));
                let len = range_end - start;
                touched += len;
                if touched > TOUCHED_MAX_BYTES {
                    return false;
                }
                // SAFETY: the system names ranges of what it was asked for, which is a part of the mapping.
                unsafe { memory.add(start - begin).write_bytes(0, len) };
            }
            if scanned.until <= from {
                return false;
            }
            from = scanned.until;
        }
        true
    }

    /// Names ranges of pages that were written, in memory or swapped out, up to as many as fit.
    fn scan(&self, from: usize, len: usize, ranges: &mut [Range; RANGES]) -> Result<Scanned, Errno> {
        let question = Scan {
            size: size_of::<Scan>() as u64,
            start: from as u64,
            end: (from + len) as u64,
            ranges: ptr::from_mut(ranges).addr() as u64,
            ranges_len: RANGES as u64,
            inverted: ZERO,
            all_of: ZERO,
            any_of: PRESENT | SWAPPED,
            named: PRESENT | SWAPPED,
            ..Scan::default()
        };
        // SAFETY: the structure and its number are those of `PAGEMAP_SCAN`, which writes to nothing but the structure and the ranges; they live
        // until it returns. Another kind of file, or an older system, does not know the number.
        unsafe { ioctl::ioctl(&self.file, question) }
    }
}

/// An address that the system names, which is one of this process.
fn address(named: u64) -> usize {
    usize::try_from(named).unwrap_or(usize::MAX)
}

/// A page is in memory.
const PRESENT: u64 = 1 << 3;
/// A page is swapped out.
const SWAPPED: u64 = 1 << 4;
/// A page was read and not written: it is the page of zeros that all processes share.
const ZERO: u64 = 1 << 5;

/// `struct page_region` of Linux: addresses of pages that follow one another and have the same properties.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Range {
    start: u64,
    end: u64,
    properties: u64,
}

/// `struct pm_scan_arg` of Linux.
#[repr(C)]
#[derive(Debug, Default)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    /// Where the scan ended: at `end`, unless there were more ranges than fit.
    until: u64,
    ranges: u64,
    ranges_len: u64,
    pages_max: u64,
    /// Properties of which the opposite is asked for.
    inverted: u64,
    /// Pages that have all of these.
    all_of: u64,
    /// And one of these at least.
    any_of: u64,
    /// Properties by which ranges are kept apart.
    named: u64,
}

struct Scanned {
    ranges: usize,
    /// All pages below this address were looked at.
    until: usize,
}

// SAFETY: `PAGEMAP_SCAN` reads and writes a `pm_scan_arg`, returns the number of ranges that it has written, and an error where it knows none.
unsafe impl Ioctl for Scan {
    type Output = Scanned;

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        ioctl::opcode::read_write::<Self>(b'f', 16)
    }

    fn as_ptr(&mut self) -> *mut c_void {
        ptr::from_mut(self).cast()
    }

    unsafe fn output_from_ptr(answer: IoctlOutput, scan: *mut c_void) -> rustix::io::Result<Self::Output> {
        // SAFETY: it is the pointer that `as_ptr` gave.
        let until = address(unsafe { (*scan.cast::<Self>()).until });
        let ranges = usize::try_from(answer).map_err(|_| Errno::INVAL)?;
        Ok(Scanned { ranges: ranges.min(RANGES), until })
    }
}
