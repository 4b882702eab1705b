//! The Debian package on a Debian system: this machine's own files with an overlay above them, which takes every change.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use paraffin_devnet::{Devnet, DevnetOptions};
use paraffin_testkit::{installed, skipped};
use serde_json::json;
use xtask::package::{Compression, pack};

use crate::support::process::{Running, paraffin};
use crate::support::{free_port, http, wait_for};

const CONFIG: &str = "/etc/paraffin/paraffin.toml";
const STATE: &str = "/var/lib/paraffin";

/// Mounts the overlay for one command and becomes that command. The folders of the overlay keep what it changed for the next one.
const ENTER: &str = r#"set -e
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/merged"
mount --rbind /proc "$1/merged/proc"
mount --rbind /dev "$1/merged/dev"
mount --bind "$2" "$1/merged/mnt"
root="$1/merged"
shift 2
exec chroot "$root" "$@""#;
/// Stands for systemd's program, and writes down what it is asked.
const SYSTEMCTL: &str = "#!/bin/sh\necho \"$*\" >> /var/log/systemctl\n";

/// A copy of this machine's system. Commands run in it one at a time.
struct System {
    folder: tempfile::TempDir,
    /// Seen as `/mnt`.
    packages: PathBuf,
}

impl System {
    /// `None` after counting the test as skipped, where this user or this kernel cannot have one.
    fn new(packages: &Path) -> Option<Self> {
        let system = Self { folder: tempfile::tempdir().unwrap(), packages: packages.to_owned() };
        for name in ["upper", "work", "merged"] {
            fs::create_dir(system.folder.path().join(name)).unwrap();
        }
        let output = system.command(&["true"]).output().unwrap();
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            skipped(&format!(
                "no overlay over the system's files, which takes root and a kernel that has it: {complaint}"
            ));
            return None;
        }
        Some(system)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", ENTER, "sh"]).arg(self.folder.path()).arg(&self.packages).args(words);
        command.env_clear().env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("DEBIAN_FRONTEND", "noninteractive").current_dir("/");
        command
    }

    fn try_run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// What a command prints.
    fn run(&self, words: &[&str]) -> String {
        let output = self.try_run(words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn dpkg(&self, words: &[&str]) {
        self.run(&[&["dpkg", "--force-unsafe-io"], words].concat());
    }

    /// Owner, group and rights of a file.
    fn rights(&self, path: &str) -> String {
        self.run(&["stat", "--format=%U:%G %a", path]).trim().to_owned()
    }

    fn has(&self, path: &str) -> bool {
        self.try_run(&["test", "-e", path]).status.success()
    }

    /// What systemd was asked since the last question.
    fn systemctl(&self) -> Vec<String> {
        let lines = self.run(&["sh", "-c", "cat /var/log/systemctl; : > /var/log/systemctl"]);
        lines.lines().map(str::to_owned).collect()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The built program without symbols, which would be most of the work here.
fn stripped(folder: &Path) -> PathBuf {
    let program = PathBuf::from(paraffin().get_program());
    let place = folder.join("program");
    let done = Command::new("strip").arg("-o").arg(&place).arg(&program).status();
    if done.is_ok_and(|status| status.success()) { place } else { program }
}

/// Paths of files in an archive that `tar` lists, below the folder that all of them are in.
fn listed(tar: &mut Command, below: &str) -> BTreeSet<String> {
    let output = tar.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let files = text.lines().filter(|line| !line.ends_with('/'));
    files
        .map(|line| line.strip_prefix(below).unwrap_or_else(|| panic!("{line} is not below {below}")).to_owned())
        .collect()
}

#[test]
fn the_debian_package_is_installed_serves_is_upgraded_and_purged() {
    if installed(["dpkg-deb", "dpkg", "unshare", "setpriv", "adduser"], "dpkg util-linux adduser").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("packages");
    let packages = pack(&root(), &stripped(folder.path()), &out, Compression::Fast).unwrap();

    // The sums are right, and both kinds of package hold the same files.
    let checked =
        Command::new("sha256sum").args(["--check", "--strict", "SHA256SUMS"]).current_dir(&out).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let checked = String::from_utf8(checked.stdout).unwrap();
    assert_eq!(checked.lines().count(), packages.files.len(), "{checked}");
    let name = packages.archive.file_name().unwrap().to_str().unwrap().strip_suffix(".tar.gz").unwrap().to_owned();
    let of_archive = listed(Command::new("tar").arg("-tzf").arg(&packages.archive), &format!("{name}/"));
    let unpacked = "dpkg-deb --fsys-tarfile \"$1\" | tar -t";
    let of_deb = listed(Command::new("sh").args(["-c", unpacked, "sh"]).arg(&packages.deb), "./");
    assert_eq!(of_archive, of_deb);
    assert!(of_deb.contains("usr/share/doc/paraffin/THIRD-PARTY-NOTICES.gz"), "{of_deb:?}");

    let Some(system) = System::new(&out) else { return };
    system.run(&["mkdir", "-p", "/run/systemd/system"]);
    let stub = format!("printf '{}' > /usr/local/bin/systemctl", SYSTEMCTL.replace('\n', "\\n"));
    system.run(&["sh", "-c", &format!("{stub} && chmod 755 /usr/local/bin/systemctl")]);
    let deb = format!("/mnt/{}", packages.deb.file_name().unwrap().to_str().unwrap());

    // Installed: everything in its place, and nothing started.
    system.dpkg(&["--install", &deb]);
    assert_eq!(system.run(&["dpkg", "--verify", "paraffin"]), "");
    assert!(system.run(&["dpkg-query", "--show", "--showformat=${Conffiles}", "paraffin"]).contains(CONFIG));
    assert!(system.run(&["getent", "passwd", "paraffin"]).contains(&format!(":{STATE}:/usr/sbin/nologin")));
    assert_eq!(system.rights(STATE), "paraffin:paraffin 750");
    assert_eq!(system.rights(CONFIG), "root:paraffin 640");
    assert_eq!(system.rights("/usr/bin/paraffin"), "root:root 755");
    assert_eq!(system.systemctl(), ["daemon-reload", "try-restart paraffin.service"]);
    system.run(&["bash", "-n", "/usr/share/bash-completion/completions/paraffin"]);
    assert!(system.run(&["head", "-1", "/usr/share/zsh/vendor-completions/_paraffin"]).contains("#compdef paraffin"));
    assert!(
        system.run(&["cat", "/usr/share/fish/vendor_completions.d/paraffin.fish"]).contains("complete -c paraffin")
    );
    for page in ["paraffin", "paraffin-serve", "paraffin-keys-create"] {
        assert!(system.run(&["zcat", &format!("/usr/share/man/man1/{page}.1.gz")]).contains(".SH NAME"), "{page}");
    }

    serves(&system);

    // Configured once more, as after an interrupted run; then upgraded. What was changed and written meanwhile stays.
    system.run(&["/var/lib/dpkg/info/paraffin.postinst", "configure", ""]);
    system.run(&["sh", "-c", &format!("echo '# ours' >> {CONFIG} && chmod 600 {CONFIG}")]);
    system.run(&["touch", "/etc/paraffin/paraffin.env"]);
    system.systemctl();
    system.dpkg(&["--install", &deb]);
    assert_eq!(system.systemctl(), ["daemon-reload", "try-restart paraffin.service"]);
    assert!(system.run(&["cat", CONFIG]).ends_with("# ours\n"));
    assert_eq!(system.rights(CONFIG), "root:paraffin 600");
    assert!(system.has(&format!("{STATE}/store")));

    // Removed: stopped first, and nothing that the user has is lost. Installed again, removed again, purged: nothing is left.
    system.dpkg(&["--remove", "paraffin"]);
    assert_eq!(system.systemctl(), ["disable --now paraffin.service", "daemon-reload"]);
    assert!(!system.has("/usr/bin/paraffin") && !system.has("/usr/lib/systemd/system/paraffin.service"));
    assert!(system.has(CONFIG) && system.has(&format!("{STATE}/store")));
    system.dpkg(&["--purge", "paraffin"]);
    assert!(!system.has("/etc/paraffin") && !system.has(STATE));
    system.dpkg(&["--install", &deb]);
    system.dpkg(&["--purge", "paraffin"]);
    assert!(!system.has("/etc/paraffin") && !system.has(STATE));
}

/// Starts what the unit starts, as the user that it names, with the installed configuration; only the node, the network and the
/// address are those of the test.
fn serves(system: &System) {
    let unit = system.run(&["cat", "/usr/lib/systemd/system/paraffin.service"]);
    let setting = |name: &str| unit.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).unwrap();
    let start: Vec<&str> = setting("ExecStart").split(' ').collect();
    let user = setting("User");
    assert_eq!(setting("StateDirectory"), STATE.strip_prefix("/var/lib/").unwrap());
    assert_eq!(start.last(), Some(&CONFIG));

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let options = DevnetOptions { blocks: 110, pending_transactions: 0, ..DevnetOptions::default() };
    let devnet = runtime.block_on(Devnet::start(options)).unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let as_user = |words: &[&str]| {
        let identity = ["setpriv", "--reuid", user, "--regid", user, "--init-groups", "--no-new-privs"];
        let mut command = system.command(&[&identity, words].concat());
        command
            .env("PARAFFIN_NETWORK", "regtest")
            .env("PARAFFIN_NODE__URL", devnet.rpc_url())
            .env("PARAFFIN_NODE__USER", devnet.user())
            .env("PARAFFIN_NODE__PASSWORD", devnet.password())
            .env("PARAFFIN_GATEWAY__LISTEN", &address)
            .env("PARAFFIN_GATEWAY__DRAIN_SECONDS", "0");
        command
    };
    let created = as_user(&["paraffin", "keys", "create", "test", "--config", CONFIG]).output().unwrap();
    let key = String::from_utf8(created.stdout).unwrap().trim().to_owned();
    assert_eq!(key.len(), 32, "{}", String::from_utf8_lossy(&created.stderr));

    let mut process = Running::start(&mut as_user(&start));
    process.wait_for_output("listening on", Duration::from_secs(30));
    let height = json!(devnet.tip().height);
    wait_for("the installed program to reach the tip", Duration::from_secs(60), || {
        let answer = http::call(&address, &format!("/v4/{key}"), "btc_getblockcount", json!([]));
        (answer["result"] == height).then_some(())
    });
    assert!(process.terminate(Duration::from_secs(30)).success(), "{}", process.errors());
    runtime.block_on(devnet.shutdown());
    assert_eq!(system.rights(&format!("{STATE}/store")).split(' ').next(), Some("paraffin:paraffin"));
}

/// The build script of the program, compiled by itself and run in folders that are clones or not.
#[test]
fn the_version_names_the_commit_that_the_program_is_built_from() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script");
    let compiled = Command::new("rustc")
        .args(["--edition", "2024", "-o"])
        .arg(&script)
        .arg(root().join("bin/paraffin/build.rs"))
        .status();
    assert!(compiled.unwrap().success());
    let root = folder.path().join("clone");
    let manifest = root.join("bin/paraffin");
    fs::create_dir_all(&manifest).unwrap();
    let run = |manifest: &Path, commit: Option<&str>| {
        let mut command = Command::new(&script);
        command.env_remove("PARAFFIN_COMMIT").env("CARGO_MANIFEST_DIR", manifest).env("PROFILE", "release");
        let output = command.envs(commit.map(|commit| ("PARAFFIN_COMMIT", commit))).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let commit =
            text.lines().find_map(|line| line.strip_prefix("cargo::rustc-env=PARAFFIN_COMMIT=")).map(str::to_owned);
        assert_eq!(output.status.success(), commit.is_some(), "{text}");
        (commit, text)
    };
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "init.defaultBranch=main"];
        let output = Command::new("git").current_dir(&root).args(identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };

    // An unpacked archive.
    assert_eq!(run(&manifest, None).0.as_deref(), Some("unknown"));
    assert_eq!(run(&manifest, Some("0123abc")).0.as_deref(), Some("0123abc"));
    assert_eq!(run(&manifest, Some("two\nlines")).0, None);

    // A clone, changed and not.
    let file = root.join("bin/paraffin/Cargo.toml");
    fs::write(&file, "[package]").unwrap();
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "first"]);
    let commit = git(&["rev-parse", "HEAD"])[..12].to_owned();
    let (named, text) = run(&manifest, None);
    assert_eq!(named.as_deref(), Some(commit.as_str()));
    // Every path that is watched exists: cargo would run the script at each build for one that does not.
    let watched: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("cargo::rerun-if-changed=/")).collect();
    assert!(watched.iter().all(|path| Path::new("/").join(path).exists()), "{text}");
    for name in ["HEAD", "logs/HEAD", "refs/heads/main"] {
        assert!(watched.iter().any(|path| path.ends_with(&format!(".git/{name}"))), "{name}: {text}");
    }
    fs::write(&file, "[package]\nname = \"changed\"").unwrap();
    assert_eq!(run(&manifest, None).0, Some(format!("{commit}-dirty")));

    // An archive that was unpacked inside a clone of something else.
    let inner = root.join("downloads/paraffin/bin/paraffin");
    fs::create_dir_all(&inner).unwrap();
    assert_eq!(run(&inner, None).0.as_deref(), Some("unknown"));
}

#[test]
fn completions_and_manual_are_printed() {
    let print = |words: &[&str]| {
        let output = paraffin().args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(print(&["--version"]).starts_with(concat!("paraffin ", env!("CARGO_PKG_VERSION"), " (commit ")));
    let page = print(&["man"]);
    assert!(page.contains(".TH paraffin 1") && page.contains("paraffin\\-serve(1)"), "{page}");
    for shell in ["bash", "zsh", "fish"] {
        let script = print(&["completions", shell]);
        assert!(script.contains("snapshot") && script.contains("reindex"), "{shell}");
        assert!(!script.contains("worker") && !script.contains("confine"), "{shell}: hidden commands are listed");
    }
    assert!(!paraffin().args(["completions", "cobol"]).output().unwrap().status.success());
}
