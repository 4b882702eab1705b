//! Everything about alkanes, over a short chain with our own contracts.

mod methods;
mod multicall;
mod names;
mod rest;
mod scenario;
mod views;
