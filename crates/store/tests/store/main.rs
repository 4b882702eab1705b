//! Tests of the store through its public interface.
#![allow(clippy::unwrap_used)] // all of this is tests

mod ahead;
mod crash;
mod earlier;
mod full_disk;
mod model;
mod opening;
mod power;
mod property;
mod reads;
mod rerun;
mod snapshot_file;
mod window;
