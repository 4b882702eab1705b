//! The BRC-20 index as OPI's API tells it.

mod hostile;
mod reorg;
mod routes;
mod scene;
