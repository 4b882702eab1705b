//! Verification of contracts through the built program: our own contracts end to end, and builds of the worst kind.
mod artefacts;
mod browse;
mod contracts;
mod hostile;
mod rebuilt;
mod source;
mod substitutes;
mod surface;
mod ways_around;
