//! The BRC-20 index as OPI's API renders it.

mod hostile;
mod reorg;
mod routes;
mod scene;

pub(crate) use hostile::wrong;
pub(crate) use scene::{paths, with_tokens};
