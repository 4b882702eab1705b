//! What packages install beside the program: the completions of shells and the manual pages, both made from the command line.

use std::io::{self, Write as _};
use std::path::Path;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::command_line::described;

/// Prints the completions of a shell.
///
/// # Errors
/// Standard output is closed.
pub(crate) fn completions(shell: Shell, version: &'static str) -> io::Result<()> {
    let all = described(version);
    // The generator also lists the hidden commands, by which the program starts itself.
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let mut command = Command::new("paraffin").version(version).subcommands(shown);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "paraffin", &mut script);
    io::stdout().write_all(&script)
}

/// Writes one page for the program and one for each command to `folder`; without a folder prints that of the program.
///
/// # Errors
/// The folder cannot be written, or standard output is closed.
pub(crate) fn pages(folder: Option<&Path>, version: &'static str) -> io::Result<()> {
    let command = described(version);
    match folder {
        Some(folder) => clap_mangen::generate_to(command, folder),
        None => {
            let mut page = Vec::new();
            Man::new(command).render(&mut page)?;
            io::stdout().write_all(&page)
        }
    }
}
