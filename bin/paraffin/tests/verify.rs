//! Verification of contracts through the built program: our own contracts end to end, and builds of the worst kind.
#![allow(unreachable_pub, clippy::unwrap_used, clippy::needless_pass_by_value)]

#[path = "verify_parts/contracts.rs"]
mod contracts;
#[path = "verify_parts/hostile.rs"]
mod hostile;
#[path = "verify_parts/source.rs"]
mod source;
mod support;
#[path = "verify_parts/surface.rs"]
mod surface;
#[path = "verify_parts/ways_around.rs"]
mod ways_around;
