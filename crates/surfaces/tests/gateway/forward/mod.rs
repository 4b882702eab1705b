//! A gateway without a store, in front of real and of simulated instances.

mod away;
mod edge;
mod hostile;
mod surfaces;
