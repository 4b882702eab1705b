//! What keeps other users and other programs of this machine out of the process and its files.

use rustix::fs::Mode;
use rustix::process::{DumpableBehavior, set_dumpable_behavior, umask};

use crate::command_line::Command;

/// Makes the memory of this process unreadable for other processes of its user, which also disables core dumps, and its
/// files and folders accessible to its user alone. Programs that it starts have their memory to themselves anew; the mask of files
/// stays with them.
pub(crate) fn protect(command: &Command) {
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        eprintln!("paraffin: other programs of this user can read the memory of this process: {error}");
    }
    // Manual pages are for everyone.
    if !matches!(command, Command::Man { .. } | Command::Completions { .. }) {
        umask(Mode::RWXG | Mode::RWXO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_files_are_for_the_own_user_alone() {
        let manual = Command::Man { folder: None };
        let before = umask(Mode::RWXG);
        protect(&manual);
        assert_eq!(rustix::process::dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        assert_eq!(umask(Mode::RWXG), Mode::RWXG);
        protect(&Command::VerifyWorker);
        assert_eq!(umask(before), Mode::RWXG | Mode::RWXO);
    }
}
