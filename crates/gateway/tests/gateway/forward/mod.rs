//! A gateway without a store, before instances that are real and others that are not.

mod away;
mod edge;
mod hostile;
mod surfaces;
