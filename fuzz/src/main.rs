//! The program that libFuzzer drives: `PARAFFIN_FUZZ_TARGET` names the target. One program for all of them, because each would be
//! linked with the whole gateway.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use paraffin_fuzz::{TARGETS, Target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("PARAFFIN_FUZZ_TARGET").unwrap_or_default();
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| panic!("there is no target `{name}`"))
});

fuzz_target!(|input: &[u8]| (TARGET.run)(input));
