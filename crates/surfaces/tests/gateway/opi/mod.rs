//! The BRC-20 index as OPI's API renders it.

mod hostile;
mod reorg;
mod routes;
mod scene;

pub(crate) use hostile::wrong;
pub(crate) use scene::{long_scripts_inscription, paths, with_long_scripts, with_tokens};
