use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest that a process takes to stand still.
const STANDSTILL: Duration = Duration::from_secs(5);

/// Sends a signal such as `KILL`, `STOP` or `CONT` to a process; whether it was there. After `STOP` it does stand still: the signal
/// reaches a thread that runs on another processor a moment later.
pub(crate) fn signal(name: &str, id: u32) -> bool {
    let mut kill = Command::new("kill");
    kill.args([&format!("-{name}"), &id.to_string()]).stderr(Stdio::null());
    if !kill.status().is_ok_and(|status| status.success()) {
        return false;
    }
    let begin = Instant::now();
    while name == "STOP" && !stands_still(id) && begin.elapsed() < STANDSTILL {
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Whether every thread of a process is stopped. A process that is gone, or that `/proc` does not list, counts as stopped.
fn stands_still(id: u32) -> bool {
    let Ok(tasks) = fs::read_dir(format!("/proc/{id}/task")) else { return true };
    tasks.flatten().all(|task| state(&task.path()).is_none_or(|state| state == 'T'))
}

/// Whether a process is there and has not ended; one that has ended is a zombie until its parent reaps it.
pub(crate) fn runs(id: u32) -> bool {
    state(Path::new(&format!("/proc/{id}"))).is_some_and(|state| !['Z', 'X'].contains(&state))
}

/// The state of a process or a thread by its folder in `/proc`, such as `T` for stopped.
fn state(folder: &Path) -> Option<char> {
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    // The state follows the name, which may hold anything but ends with the last parenthesis.
    stat.rsplit_once(") ")?.1.chars().next()
}
