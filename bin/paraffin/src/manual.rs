//! What packages install beside the program: the completions of shells and the manual pages, both made from the command line.

use std::io::{self, Write as _};
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::command_line::{CommandLine, VERSION};

/// Prints the completions of a shell.
///
/// # Errors
/// Standard output is closed.
pub(crate) fn completions(shell: Shell) -> io::Result<()> {
    let all = CommandLine::command();
    // The generator also lists the hidden commands, by which the program starts itself.
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let mut command = Command::new("paraffin").version(VERSION).subcommands(shown);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "paraffin", &mut script);
    io::stdout().write_all(&script)
}

/// Writes one page for the program and one for each command to `folder`; without a folder prints that of the program.
///
/// # Errors
/// The folder cannot be written, or standard output is closed.
pub(crate) fn pages(folder: Option<&Path>) -> io::Result<()> {
    let command = CommandLine::command();
    match folder {
        Some(folder) => clap_mangen::generate_to(command, folder),
        None => {
            let mut page = Vec::new();
            Man::new(command).render(&mut page)?;
            io::stdout().write_all(&page)
        }
    }
}
