//! The tests of `alkanes`, one story a file.

mod hostile;
mod market;
pub mod reorganised;
mod routes;
mod views;
