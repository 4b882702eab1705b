//! The program: its version, its allocator, and the surfaces that it answers with. Its commands are in `paraffin-program`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use paraffin_program::Program;
use paraffin_surfaces::{SURFACES, handlers};

/// Large allocations are mappings of their own (docs/decisions/0050).
#[global_allocator]
static ALLOCATOR: paraffin_allocator::Allocator = paraffin_allocator::Allocator;

/// The build script finds the commit.
static PROGRAM: Program = Program {
    version: concat!(env!("CARGO_PKG_VERSION"), " (commit ", env!("PARAFFIN_COMMIT"), ")"),
    surfaces: &SURFACES,
    keyed: handlers::keyed,
    electrum: handlers::electrum_listener,
};

fn main() -> ExitCode {
    paraffin_program::run(&PROGRAM)
}
