//! What an instance does for its callers beside data: keys, scripts and many calls in one, streams of events, webhooks.
//!
//! Invariant: a surface holds no rule of the data that it serves.
#![forbid(unsafe_code)]

mod admin;
mod events;
pub mod handlers;
mod lua;
mod sandshrew;
mod webhooks;

pub use admin::ADMIN;
pub use events::SURFACE as EVENTS;
pub use lua::{LUA, callable};
pub use sandshrew::SANDSHREW;
pub use webhooks::SURFACE as WEBHOOKS;
