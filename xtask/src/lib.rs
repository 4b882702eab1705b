//! What the tasks share with the program of the bars and with tests: figures, commands, pinned versions, programs of others, packages and the program in them, licence notices.
#![forbid(unsafe_code)]

pub mod bar;
pub mod debian;
pub mod notices;
pub mod package;
pub mod peers;
pub mod process;
pub mod profiled;
pub mod repository;
pub mod versions;
