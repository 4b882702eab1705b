//! Running other programs, and the one kind of error of the tasks: a sentence that says what to do.

use std::ffi::OsStr;
use std::fmt;
use std::process::{Command, Stdio};

/// Why a task stopped, in words for the person at the terminal.
#[derive(Debug)]
pub struct Failure(String);

/// Result of a task.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    /// With the sentence that the person at the terminal reads.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The command as one would type it.
pub fn typed(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// Runs a command with its output on the terminal.
///
/// # Errors
/// It does not start, or ends with another status than success.
pub fn run(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| not_started(command, &error))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`{}` ended with {status}", typed(command)))) }
}

/// Runs a command and returns what it printed; what it wrote to standard error is shown only when it fails.
///
/// # Errors
/// As [`run`], with what it wrote to standard error.
pub fn capture(command: &mut Command) -> Outcome<String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| not_started(command, &error))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!(
            "`{}` ended with {}\n{}",
            typed(command),
            output.status,
            complaint.trim_end()
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// True when the program starts and reports success; its output is dropped.
pub fn answers(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn not_started(command: &Command, error: &std::io::Error) -> Failure {
    Failure::new(format!("`{}` does not start: {error}", typed(command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_names_itself_and_its_complaint() {
        let error = capture(Command::new("sh").args(["-c", "echo broken pipe fitting >&2; exit 3"])).unwrap_err();
        assert!(error.to_string().contains("broken pipe fitting"), "{error}");
        assert!(error.to_string().contains("exit status: 3"), "{error}");
    }

    #[test]
    fn a_missing_program_is_an_answer_of_no() {
        assert!(!answers("paraffin-no-such-program", &[]));
        assert!(run(&mut Command::new("paraffin-no-such-program")).unwrap_err().to_string().contains("does not start"));
    }
}
