use std::alloc::{GlobalAlloc, Layout};
use std::ptr::{self, NonNull};

use rustix::mm::{Advice, MapFlags, MremapFlags, ProtFlags, madvise, mmap_anonymous, mremap, munmap};
use tikv_jemallocator::Jemalloc;

use crate::memories;

/// Has a thread of jemalloc's give back what was not used for ten seconds, also while the program allocates nothing. Without it that happens
/// when a thread allocates. Not for processes that must have one thread, as those that confine themselves.
///
/// # Errors
/// The number of the system's error.
pub fn give_back_when_idle() -> Result<(), i32> {
    let mut is_on = true;
    // SAFETY: the name ends with a zero; the new value is a `bool`, as this setting is, and is read before the call returns. The old value
    // is not asked for.
    let error = unsafe {
        tikv_jemalloc_sys::mallctl(
            c"background_thread".as_ptr(),
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::from_mut(&mut is_on).cast(),
            size_of::<bool>(),
        )
    };
    if error == 0 { Ok(()) } else { Err(error) }
}

/// From how many bytes on an allocation is a mapping of its own: the least memory of a contract.
pub(crate) const LARGE_BYTES: usize = 32 << 20;

/// Alignment that every mapping has: the smallest page of any processor.
pub(crate) const PAGE_BYTES: usize = 4096;

/// Allocates up to 32 MiB with [`Jemalloc`] and maps what is larger.
#[derive(Debug, Clone, Copy)]
pub struct Allocator;

/// Whether an allocation is a mapping: depends on nothing but the layout, which `dealloc` is given again.
const fn is_mapped(size: usize, align: usize) -> bool {
    size >= LARGE_BYTES && align <= PAGE_BYTES
}

/// A new mapping, all zeros; null where the system has none.
fn map(size: usize) -> *mut u8 {
    // SAFETY: the system chooses the address, so no mapping that is in use is replaced.
    let mapped =
        unsafe { mmap_anonymous(ptr::null_mut(), size, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE) };
    mapped.map_or(ptr::null_mut(), <*mut _>::cast)
}

/// A memory of zeros for a contract: one that was used before and cleared, or a new mapping.
fn memory() -> *mut u8 {
    memories::take().unwrap_or_else(|| {
        let memory = map(LARGE_BYTES);
        if !memory.is_null() {
            // A page is asked for in pieces of 4 KiB where contracts touch few. Without the advice it only takes longer.
            // SAFETY: the mapping is new, and the advice does not change what it holds.
            let _ = unsafe { madvise(memory.cast(), LARGE_BYTES, Advice::LinuxNoHugepage) };
        }
        memory
    })
}

// SAFETY: an allocation is either one of `Jemalloc`'s or a mapping of at least its size, aligned to a page, which stays until
// `dealloc` or a `realloc` that succeeds; `is_mapped` of its layout decides which. Nothing here panics or allocates.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout.size(), layout.align()) {
            return map(layout.size());
        }
        // SAFETY: the caller's promises about the layout are those that `Jemalloc` asks for.
        unsafe { Jemalloc.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout.size(), layout.align()) {
            return if layout.size() == LARGE_BYTES { memory() } else { map(layout.size()) };
        }
        // SAFETY: as in `alloc`.
        unsafe { Jemalloc.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, allocated: *mut u8, layout: Layout) {
        if is_mapped(layout.size(), layout.align()) {
            // SAFETY: the caller gives back a whole allocation, which is a mapping of this size and not used any more.
            if layout.size() == LARGE_BYTES && unsafe { memories::hold(allocated) } {
                return;
            }
            // SAFETY: the caller gives back a whole allocation of this layout, which is a mapping of this size. Unmapping one
            // that is there cannot fail but for want of memory in the kernel, and then it stays mapped, which has no effect.
            let _ = unsafe { munmap(allocated.cast(), layout.size()) };
            return;
        }
        // SAFETY: the layout is that of the allocation, which is one of `Jemalloc`'s.
        unsafe { Jemalloc.dealloc(allocated, layout) }
    }

    unsafe fn realloc(&self, allocated: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        match (is_mapped(layout.size(), layout.align()), is_mapped(new_size, layout.align())) {
            // SAFETY: the allocation is one of `Jemalloc`'s and stays one; the rest the caller promises.
            (false, false) => unsafe { Jemalloc.realloc(allocated, layout, new_size) },
            (true, true) => {
                // SAFETY: the allocation is a whole mapping of its size; one that has moved is not used at its old address.
                let moved = unsafe { mremap(allocated.cast(), layout.size(), new_size, MremapFlags::MAYMOVE) };
                moved.map_or(ptr::null_mut(), <*mut _>::cast)
            }
            _ => {
                // SAFETY: the caller promises that the new size is not zero and does not overflow when rounded up.
                let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
                // SAFETY: the same; the two allocations are apart, and each has at least the bytes that are copied.
                unsafe {
                    let new = self.alloc(new_layout);
                    if let Some(new) = NonNull::new(new) {
                        ptr::copy_nonoverlapping(allocated, new.as_ptr(), layout.size().min(new_size));
                        self.dealloc(allocated, layout);
                    }
                    new
                }
            }
        }
    }
}
