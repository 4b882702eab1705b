//! The allocator of the program: that of the C library, except for large allocations, which are mappings of their own.
//!
//! A new mapping is zero and takes no memory until it is touched, so that the memory of a contract (32 MiB, of which most touch a
//! few pages) costs some microseconds. From a free piece of the heap it takes writing 32 MiB of zeros, some milliseconds,
//! and the C library takes such a piece before it asks the system (`docs/decisions/0050-large-allocations.md`).

#[cfg(target_os = "linux")]
mod mapped;

#[cfg(target_os = "linux")]
pub use mapped::Allocator;

/// On other targets the system allocator, so that `#[global_allocator]` needs no condition.
#[cfg(not(target_os = "linux"))]
pub use std::alloc::System as Allocator;
