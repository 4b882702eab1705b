//! Between JSON and Lua.

mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write_values;
