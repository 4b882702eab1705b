//! JSON-RPC: the envelope (pure), parameters, and the running of single calls and batches.

mod batch;
mod envelope;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod params;
mod scan;

pub use batch::{Panicked, answer, catch_panic};
pub use envelope::Flavour;
pub use params::Params;
pub use params::parse_unsigned;
pub use scan::{nests_deeper_than, top_level_method};
