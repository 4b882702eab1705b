//! What an instance answers about contracts: views by message (`alkanes_*`, `metashrew_*`), the analytics of `espo`, and
//! verification of sources.
//!
//! Invariant: a surface holds no rule of the data that it serves.
#![forbid(unsafe_code)]

mod alkanes;
mod espo;
pub mod handlers;
mod metashrew;
mod outputs;
mod verify;

pub use alkanes::ALKANES;
pub use espo::SURFACE as ESPO;
pub use metashrew::METASHREW;
pub use verify::{DOCUMENT as VERIFY_DOCUMENT, SURFACE as VERIFY};
