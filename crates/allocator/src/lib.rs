//! The allocator of the program: jemalloc, except for large allocations, which are mappings of their own.
//!
//! jemalloc serves many threads from few locks and gives what was not used for ten seconds back to the system
//! (`docs/decisions/0081-jemalloc.md`). It also serves the C libraries in the program.
//!
//! A new mapping is zero and takes no memory until it is touched, so that the memory of a contract (32 MiB, of which most touch a
//! few pages) costs some microseconds. From memory that was used before it takes writing 32 MiB of zeros, some milliseconds
//! (`docs/decisions/0050-large-allocations.md`).

#[cfg(target_os = "linux")]
mod mapped;
#[cfg(target_os = "linux")]
mod memories;

#[cfg(target_os = "linux")]
pub use {
    mapped::{Allocator, give_back_when_idle},
    memories::use_memories_again,
};

/// On other targets the system allocator, so that `#[global_allocator]` needs no condition.
#[cfg(not(target_os = "linux"))]
pub use std::alloc::System as Allocator;

/// Nothing: the system's allocator decides.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn give_back_when_idle() -> Result<(), i32> {
    Ok(())
}

/// Nothing, as [`give_back_when_idle`].
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn use_memories_again() -> Result<(), i32> {
    Ok(())
}
