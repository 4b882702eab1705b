//! What the tasks share with the program of the bars: figures, commands, pinned versions, and programs of others.
#![forbid(unsafe_code)]

pub mod bar;
pub mod debian;
pub mod peers;
pub mod process;
pub mod repository;
pub mod versions;
