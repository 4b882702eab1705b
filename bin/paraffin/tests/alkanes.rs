//! Alkanes as clients see them: every view, method and route over the development chain, traces and balances of the market,
//! hostile callers, and instances that saw a reorganisation beside one that did not.

#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)] // a failed `unwrap` fails the test

mod alkanes_parts;
mod support;
