//! Drives a price feed against an endpoint of the tests' own, correct and faulty.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]
// The endpoint of the tests computes with floating point, so that it shares nothing with the integers under test.
#![allow(clippy::cast_precision_loss, clippy::cast_sign_loss)]

mod endpoint;
mod honest;
mod hostile;
mod past;
mod rig;
