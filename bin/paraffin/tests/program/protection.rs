//! What other users of the machine get of an instance: nothing.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use crate::support::free_port;
use crate::support::process::{Running, paraffin, write_config};

/// Everything in a folder, the folder itself included, with its rights.
fn rights(folder: &Path) -> Vec<(String, u32)> {
    let mut ahead = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(path) = ahead.pop() {
        let Ok(here) = path.symlink_metadata() else { continue };
        if here.is_dir() {
            ahead.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.push((path.display().to_string(), here.permissions().mode() & 0o777));
    }
    found
}

#[test]
fn files_of_an_instance_are_for_its_own_user_alone() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("made/by/us");
    let mut dev = paraffin();
    let listen = format!("127.0.0.1:{}", free_port());
    dev.args(["dev", "--blocks", "110", "--listen", &listen, "--data-dir"]).arg(&folder);
    let mut process = Running::start(&mut dev);
    process.wait_for_output("ready", Duration::from_secs(120));
    let found = rights(&above.path().join("made"));
    assert!(found.iter().any(|(path, _)| path.ends_with("accounts.sqlite")), "{found:?}");
    for (path, mode) in found {
        assert_eq!(mode & 0o077, 0, "{path} has {mode:o}");
    }
    // Where the memory of a process is closed, what shows of it is root's, under any user that runs it.
    assert_eq!(std::fs::metadata(format!("/proc/{}/environ", process.id())).unwrap().uid(), 0);
    process.terminate(Duration::from_secs(10));
}

#[test]
fn doctor_names_what_isolates_scripts_and_what_others_can_read() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let config = write_config(
        folder.path(),
        &format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n[node]\nurl = \"http://127.0.0.1:{}\"\n",
            data.display(),
            free_port()
        ),
    );
    let mode = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let doctor = || {
        let output = paraffin().args(["doctor", "--config"]).arg(&config).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    std::fs::create_dir(&data).unwrap();
    let accounts = data.join("accounts.sqlite");
    std::fs::write(&accounts, "").unwrap();
    mode(&data, 0o755);
    mode(&accounts, 0o644);
    mode(&config, 0o644);
    let open = doctor();
    let line = open.lines().find(|line| line.starts_with("warning  modes")).unwrap_or_else(|| panic!("{open}"));
    for path in [&config, &data, &accounts] {
        assert!(line.contains(&path.display().to_string()), "{line}");
    }
    assert!(
        open.lines().any(|line| line.contains("  scripts ") && line.contains("a filter of system calls")),
        "{open}"
    );
    mode(&data, 0o750);
    mode(&config, 0o640);
    let closed = doctor();
    assert!(closed.contains("ok       modes"), "{closed}");
}
