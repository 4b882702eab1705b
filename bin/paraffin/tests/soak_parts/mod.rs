//! The parts of the soak: what happens, and who looks.

pub(crate) mod checker;
pub(crate) mod faults;
pub(crate) mod services;
pub(crate) mod windows;
