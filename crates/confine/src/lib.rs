//! Isolation of code that is not trusted, with what the kernel gives an ordinary user: namespaces, an empty root, resource
//! limits and filters of system calls.
//!
//! Two ways: [`run`] starts another program (a compiler, `git`) in a root that shows only the folders it needs, and [`own`]
//! isolates the calling process (an interpreter), which then keeps nothing but its open pipes.
//!
//! Invariant: each requested barrier is in force or an error is returned.
#![forbid(unsafe_code)]

use std::io;

mod absent;
pub mod own;
mod processes;
mod program;
mod root;

pub use processes::{Process, Processes, end_all_below, kill};
pub use program::{
    COMPLAINT, Confinement, Isolation, NOT_CONFINED, ProcessLimits, SUBCOMMAND, Shown, is_root, run, seen,
    system_folders,
};

/// Adds the name of the failed step to an error.
fn at<T>(what: &str, outcome: Result<T, impl std::fmt::Display>) -> io::Result<T> {
    outcome.map_err(|error| io::Error::other(format!("{what}: {error}")))
}
