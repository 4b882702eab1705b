//! Verification of contracts through the built program: our own contracts end to end, and builds of the worst kind.
mod contracts;
mod hostile;
mod source;
mod surface;
mod ways_around;
