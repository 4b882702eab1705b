//! JSON-RPC: the envelope (pure), parameters, and the running of single calls and batches.

mod batch;
mod envelope;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod params;
mod scan;

pub(crate) use batch::{Panicked, answer, catch_panic};
pub use envelope::Flavour;
pub use params::Params;
pub(crate) use params::parse_unsigned;
pub(crate) use scan::{nests_deeper_than, top_level_method};
