//! The tests of `alkanes`, one story a file.

mod hostile;
mod market;
mod reorganised;
mod routes;
mod views;
