//! Isolation of scripts and builds, and files that other users of the machine can read.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use paraffin_verify::Isolation;

use super::{Report, Verdict};
use crate::config::Config;
use crate::{instance, scripts, verify};

/// Rights of users that are neither the owner nor in the group.
const OTHERS: u32 = 0o007;

/// Starts a process as for a script, and says what isolates it.
pub(super) async fn check_scripts(report: &mut Report, config: &Config) {
    if !config.lua.enabled {
        return;
    }
    match scripts::workers(&config.lua) {
        Err(error) => report.say(Verdict::Bad, "scripts", error),
        Ok(workers) => match workers.check_isolation().await {
            Err(error) => report.say(
                Verdict::Bad,
                "scripts",
                format_args!("{error}: `paraffin lua-worker </dev/null` says why; [lua] enabled = false goes without"),
            ),
            Ok(isolation) if isolation.is_complete() => {
                report.say(Verdict::Good, "scripts", format_args!("run in processes {isolation}"));
            }
            Ok(isolation) => report.say(Verdict::Warning, "scripts", format_args!("run in processes {isolation}")),
        },
    }
}

/// Whether builds for verification can be isolated.
pub(super) fn check_builds(report: &mut Report, config: &Config) {
    let settings = &config.verify.0;
    if !settings.enabled || !config.indexes_alkanes() {
        return;
    }
    if settings.isolation == Isolation::Limits {
        let what = "[verify] isolation = \"limits\": anyone who submits a source gets access to the files and the network of this machine";
        report.say(Verdict::Warning, "builds", what);
        return;
    }
    let checked = std::env::current_exe().and_then(|program| Ok((program, tempfile::tempdir()?)));
    match checked.map(|(program, folder)| paraffin_verify::check_isolation(settings, &program, folder.path())) {
        Ok(Ok(())) => report.say(Verdict::Good, "builds", "can be isolated"),
        Ok(Err(error)) => report.say(Verdict::Warning, "builds", error),
        Err(error) => report.say(Verdict::Warning, "builds", error),
    }
}

/// Warns of what other users of the machine can read.
pub(super) fn check_modes(report: &mut Report, config: &Config, file: &Path) {
    let folder = config.data_dir();
    let accounts = instance::accounts_file(&folder);
    let beside = |suffix: &str| {
        let mut path = accounts.clone().into_os_string();
        path.push(suffix);
        PathBuf::from(path)
    };
    let records = folder.join(verify::FOLDER).join("verify.sqlite");
    let is_open = |path: &PathBuf| path.metadata().is_ok_and(|found| found.permissions().mode() & OTHERS != 0);
    let mut looked_at = vec![file.to_owned()];
    if is_open(&folder) {
        // Otherwise nothing in it can be reached.
        looked_at.extend([folder, beside(""), beside("-wal"), records]);
    }
    let open: Vec<String> =
        looked_at.iter().filter(|path| is_open(path)).map(|path| path.display().to_string()).collect();
    if open.is_empty() {
        report.say(Verdict::Good, "modes", "configuration and data are closed to other users of this machine");
    } else {
        let what = format_args!(
            "other users of this machine can get at {}: take their rights away with `chmod o=`",
            open.join(", ")
        );
        report.say(Verdict::Warning, "modes", what);
    }
}
