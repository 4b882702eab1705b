//! The browser of one test (`access_browser`): Debian's Chromium and its driver.

use std::process::Command;

use crate::process::{Failure, Outcome, run};

const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];
const PROGRAMS: [&str; 2] = ["chromium", "chromedriver"];

/// What to do about a missing browser, for the list of what a run left out.
pub(crate) const HOW: &str = "`apt-get install chromium chromium-driver`";

/// Whether both programs are there.
pub(crate) fn is_found() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = |name: &&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    PROGRAMS.iter().all(found)
}

/// Installs what is missing; on a build machine, as root.
pub(crate) fn install() -> Outcome {
    if is_found() {
        return Ok(());
    }
    let mut update = Command::new("apt-get");
    run(update.args(["update", "-q"]).env("DEBIAN_FRONTEND", "noninteractive"))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-q", "--no-install-recommends"]).args(PACKAGES);
    run(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
    if is_found() { Ok(()) } else { Err(Failure::new("chromium was installed, yet it is not found")) }
}
