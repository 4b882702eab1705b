//! Ways around the limits of a build and out of its place, in real workers of the built program.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::time::{Duration, Instant};

use paraffin_verify::{FailureCode, Isolation, Outcome, Run, Settings, Submission};

use super::hostile::{ended, failure, processes, source, submission, tried, verifier};
use super::source::Source;

/// Functions of the C library that every program has.
const C: &str = r#"extern "C" {
    fn socket(domain: i32, kind: i32, protocol: i32) -> i32;
    fn unshare(flags: i32) -> i32;
    fn memfd_create(name: *const u8, flags: u32) -> i32;
    fn shmget(key: i32, size: usize, flags: i32) -> i32;
    fn ptrace(request: i32, id: i32, address: usize, data: usize) -> i64;
    fn syscall(number: i64, ...) -> i64;
    fn mmap(place: usize, size: usize, access: i32, flags: i32, file: i32, offset: i64) -> *mut u8;
    fn madvise(place: *mut u8, size: usize, advice: i32) -> i32;
}
"#;

#[tokio::test]
async fn a_build_has_neither_other_sockets_nor_namespaces_nor_anonymous_memory_files() {
    let name = format!("paraffin-test-{}", std::process::id());
    let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    listener.set_nonblocking(true).unwrap();
    let script = format!(
        r#"{C}
        use std::os::linux::net::SocketAddrExt;
        let mut told = String::new();
        let mut tell = |what: &str, worked: bool| told += &format!("[{{what}} {{}}]", if worked {{ "WORKED" }} else {{ "absent" }});
        let address = std::os::unix::net::SocketAddr::from_abstract_name("{name}").unwrap();
        tell("abstract socket", std::os::unix::net::UnixStream::connect_addr(&address).is_ok());
        unsafe {{
            for (kind, number) in [("netlink", 16), ("packet", 17), ("crypto", 38), ("machine and host", 40), ("express", 44)] {{
                tell(kind, socket(number, 1, 0) >= 0 || socket(number, 3, 0) >= 0 || socket(number, 5, 0) >= 0);
            }}
            tell("user namespace", unshare(0x1000_0000) == 0);
            tell("network namespace", unshare(0x4000_0000) == 0);
            tell("nameless memory", memfd_create(b"x\0".as_ptr(), 0) >= 0);
            tell("segment", shmget(0, 4096, 0o1600) >= 0);
            tell("trace", ptrace(0, 0, 0, 0) == 0);
            #[cfg(target_arch = "x86_64")]
            {{
                tell("nameless memory by short pointers", syscall(0x4000_0000 | 319, b"x\0".as_ptr(), 0) >= 0);
                tell("user namespace by short pointers", syscall(0x4000_0000 | 272, 0x1000_0000) == 0);
                // A new process in a user namespace; where it comes to be, it ends at once.
                let id = syscall(56, 0x1000_0000 | 17, 0, 0, 0, 0);
                if id == 0 {{ std::process::abort(); }}
                tell("process in a user namespace", id > 0);
            }}
            // What programs need is there.
            for needed in [1, 2, 10] {{ assert!(socket(needed, 1, 0) >= 0); }}
        }}
        for file in fs::read_dir("/proc/self/fd").unwrap().flatten() {{
            let Ok(file) = fs::read_link(file.path()) else {{ continue }};
            let file = file.display().to_string();
            let own = ["pipe:", "socket:", "/proc/", "/dev/null", "/build/"];
            tell(&format!("file {{file}}"), !own.iter().any(|own| file.starts_with(own)));
        }}
        let place = fs::read_to_string("/proc/self/oom_score_adj").unwrap();
        let stat = fs::read_to_string("/proc/self/stat").unwrap();
        let nice: i32 = stat.rsplit_once(") ").unwrap().1.split(' ').nth(16).unwrap().parse().unwrap();
        panic!("TOLD {{told}} oom={{}} nice={{}}", place.trim(), nice >= 5);"#
    );
    let Some((code, log)) = tried(&script, |_| {}).await else { return };
    assert_eq!(code, FailureCode::BuildFailed, "{log}");
    assert!(log.contains("TOLD") && log.contains("oom=1000 nice=true"), "{log}");
    assert!(!log.contains(" WORKED]"), "{log}");
    assert!(listener.accept().is_err(), "the build reached a socket of this machine");
}

/// A chain of folders that no path reaches the end of, and folders that their owner has closed: who removes them must neither
/// end nor refuse to start.
#[tokio::test]
async fn folders_that_are_too_deep_or_closed_end_the_build_and_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let Some(first) = verifier(folder.path(), |_| {}).await else { return };
    let script = r#"use std::os::unix::fs::PermissionsExt;
        let place = std::path::PathBuf::from(std::env::var("OUT_DIR").unwrap());
        fs::create_dir_all(place.join("closed/inside")).unwrap();
        fs::set_permissions(place.join("closed"), fs::Permissions::from_mode(0)).unwrap();
        let (above, below) = (place.join("above"), place.join("below"));
        fs::create_dir(&below).unwrap();
        for _ in 0..30_000 {
            fs::create_dir(&above).unwrap();
            fs::rename(&below, above.join("folder")).unwrap();
            fs::rename(&above, &below).unwrap();
        }
        std::thread::sleep(std::time::Duration::from_secs(60));"#;
    let run = ended(&first, submission(Some(&source(script)))).await;
    let (code, reason, _) = failure(&run);
    assert_eq!(
        (code, reason.ends_with("or into folders that cannot be read")),
        (FailureCode::DiskLimit, true),
        "{reason}"
    );
    let runs = folder.path().join("runs");
    let empty = || std::fs::read_dir(&runs).unwrap().count() == 0;
    let started = Instant::now();
    while !empty() {
        assert!(started.elapsed() < Duration::from_secs(60), "the folder of the run is still there");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    first.close().await;
    // What an earlier process left is no reason not to start.
    let mut left = runs.join("left");
    std::fs::create_dir(&left).unwrap();
    for _ in 0..10_000 {
        let above = runs.join("above");
        std::fs::create_dir(&above).unwrap();
        std::fs::rename(&left, above.join("folder")).unwrap();
        left = runs.join("left");
        std::fs::rename(&above, &left).unwrap();
    }
    let second = verifier(folder.path(), |_| {}).await.unwrap();
    assert!(empty());
    second.close().await;
}

#[tokio::test]
async fn files_without_a_name_and_memory_that_no_process_shows_count() {
    let nameless = r#"use std::io::Write;
        let mut open = Vec::new();
        for number in 0..3 {
            let path = std::path::Path::new(&std::env::var("OUT_DIR").unwrap()).join(format!("f{number}"));
            let mut file = fs::File::create(&path).unwrap();
            fs::remove_file(&path).unwrap();
            for _ in 0..128 { file.write_all(&[1; 1 << 20]).unwrap(); }
            open.push(file);
        }
        std::thread::sleep(std::time::Duration::from_secs(60));"#;
    let Some((code, log)) = tried(nameless, |settings| settings.disk_mib = 256).await else { return };
    assert_eq!(code, FailureCode::DiskLimit, "{log}");
    // Shared pages that each of four processes has let go and that stay all the same.
    let shared = format!(
        r#"{C}
        if std::env::args().nth(1).is_none() {{
            let own = std::env::current_exe().unwrap();
            let all: Vec<_> = (0..4).map(|_| Command::new(&own).arg("share").spawn().unwrap()).collect();
            for mut one in all {{ one.wait().unwrap(); }}
            panic!("SHARED");
        }}
        const SIZE: usize = 400 << 20;
        unsafe {{
            let place = mmap(0, SIZE, 3, 0x21, -1, 0);
            assert!(place as isize != -1);
            for piece in (0..SIZE).step_by(16 << 20) {{
                for page in (0..16 << 20).step_by(4096) {{ *place.add(piece + page) = 1; }}
                assert_eq!(madvise(place.add(piece), 16 << 20, 4), 0);
            }}
        }}
        std::thread::sleep(std::time::Duration::from_secs(60));"#
    );
    let (code, log) = tried(&shared, |settings| settings.memory_mib = 1_024).await.unwrap();
    assert_eq!(code, FailureCode::MemoryLimit, "{log}");
    // Processes whose first thread has ended, and with it the figures of their memory.
    let headless = format!(
        r#"{C}
        if std::env::args().nth(1).is_none() {{
            let own = std::env::current_exe().unwrap();
            let all: Vec<_> = (0..2).map(|_| Command::new(&own).arg("hold").spawn().unwrap()).collect();
            for mut one in all {{ one.wait().unwrap(); }}
            panic!("HELD");
        }}
        std::thread::spawn(|| {{
            let held = vec![1_u8; 700 << 20];
            std::thread::sleep(std::time::Duration::from_secs(60));
            drop(std::hint::black_box(held));
        }});
        unsafe {{ syscall(if cfg!(target_arch = "x86_64") {{ 60 }} else {{ 93 }}, 0); }}"#
    );
    let (code, log) = tried(&headless, |settings| settings.memory_mib = 1_024).await.unwrap();
    assert_eq!(code, FailureCode::MemoryLimit, "{log}");
    // The folder in memory has an end of its own.
    let tmp = r#"for number in 0.. {
            if let Err(error) = fs::write(format!("/tmp/f{number}"), vec![1_u8; 16 << 20]) { panic!("TMP ENDS AT {number}: {error}"); }
        }"#;
    let (_, log) = tried(tmp, |_| {}).await.unwrap();
    assert!(log.contains("TMP ENDS AT 32") || log.contains("TMP ENDS AT 31"), "{log}");
}

/// Builds beside everything else on this machine.
fn beside(settings: &mut Settings) {
    settings.isolation = Isolation::Limits;
    // Where root runs the test, the compiler may be where no other user can read.
    (settings.user_id, settings.group_id) = (Some(0), Some(0));
    settings.processes_max = 4_096;
    settings.build_seconds = 120;
}

/// Without namespaces nothing but the worker's own care ends a process that has left its parents.
#[tokio::test]
async fn without_isolation_too_nothing_outlives_the_build() {
    // One that ends by itself, and one that the time limit ends once the script has surely run.
    for (script, limit) in [("panic!(\"ENDED\")", 120), ("std::thread::sleep(std::time::Duration::from_secs(600))", 40)]
    {
        let marker = format!("5{}{}", std::process::id(), script.len());
        let leave = format!(
            r#"Command::new("sh").args(["-c", "(setsid nohup sleep {marker} >/dev/null 2>&1 &) & sleep 1"]).status().unwrap(); {script}"#
        );
        let folder = tempfile::tempdir().unwrap();
        let settings = |settings: &mut Settings| {
            beside(settings);
            settings.build_seconds = limit;
        };
        let Some(verifier) = verifier(folder.path(), settings).await else { return };
        let run = ended(&verifier, submission(Some(&source(&leave)))).await;
        let (code, _, log) = failure(&run);
        assert!(matches!(code, FailureCode::BuildFailed | FailureCode::TimeLimit), "{code:?} {log}");
        assert_eq!(code == FailureCode::BuildFailed, log.contains("ENDED"), "{log}");
        assert_eq!(processes(&marker), 0, "{script}");
        verifier.close().await;
    }
}

/// A build in which the worker is killed.
async fn killed_midway(change: impl FnOnce(&mut Settings), marker: &str) {
    let folder = tempfile::tempdir().unwrap();
    let Some(verifier) = verifier(folder.path(), change).await else { return };
    let script = format!("Command::new(\"setsid\").args([\"sleep\", \"{marker}\"]).status().unwrap();");
    let running = {
        let verifier = std::sync::Arc::clone(&verifier);
        tokio::spawn(async move { ended(&verifier, submission(Some(&source(&script)))).await })
    };
    let ids = || {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
    };
    let line = format!("sleep\0{marker}\0");
    let is_it = |id: &u32| std::fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|command| command == line.as_bytes());
    let started = Instant::now();
    let sleeping = loop {
        if let Some(id) = ids().find(is_it) {
            break id;
        }
        assert!(started.elapsed() < Duration::from_secs(240) && !running.is_finished(), "the build script never ran");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let parent = |id: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
    };
    // From the build's own process up to the one that this test's process has started.
    let above = std::iter::successors(Some(sleeping), |id| parent(*id));
    let worker = above.take_while(|id| *id != std::process::id() && *id > 1).last().unwrap();
    assert_eq!(parent(worker), Some(std::process::id()));
    let worker = rustix::process::Pid::from_raw(worker.cast_signed()).unwrap();
    rustix::process::kill_process(worker, rustix::process::Signal::KILL).unwrap();
    let run = running.await.unwrap();
    assert_eq!((failure(&run).0, failure(&run).1), (FailureCode::Internal, "the build worker ended without a result"));
    let started = Instant::now();
    while processes(marker) > 0 || std::fs::read_dir(folder.path().join("runs")).unwrap().count() > 0 {
        assert!(started.elapsed() < Duration::from_secs(30), "something is left");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    verifier.close().await;
}

#[tokio::test]
async fn a_worker_that_is_killed_leaves_neither_processes_nor_files() {
    killed_midway(|_| {}, &format!("4{}", std::process::id())).await;
    killed_midway(beside, &format!("3{}", std::process::id())).await;
}

#[tokio::test]
async fn names_and_settings_of_the_source_lead_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let Some(verifier) = verifier(folder.path(), |settings| settings.disk_mib = 64).await else { return };
    for name in ["../../../x", "/etc/x"] {
        let manifest = format!(
            "[package]\nname = \"guest\"\nversion = \"1.0.0\"\nedition = \"2021\"\n[lib]\nname = \"{name}\"\npath = \"src/lib.rs\"\n[workspace]\n"
        );
        let run = ended(&verifier, submission(Some(&source("").with("Cargo.toml", manifest)))).await;
        assert!(matches!(failure(&run).0, FailureCode::PackageNotFound | FailureCode::BuildFailed), "{run:?}");
    }
    // A program in the place of the compiler, and one before it.
    let lies = "#!/bin/sh\necho LIED >&2\nexit 9\n";
    let settings = "[build]\nrustc = \"/build/source/lie.sh\"\nrustc-wrapper = \"/build/source/lie.sh\"\nrustc-workspace-wrapper = \"/build/source/lie.sh\"\n";
    let tree = source("panic!(\"BUILT\")").with(".cargo/config.toml", settings).with("lie.sh", lies);
    let run = ended(&verifier, submission(Some(&tree))).await;
    assert!(failure(&run).2.contains("BUILT") && !failure(&run).2.contains("LIED"), "{run:?}");
    // Homes that would hide the build's own folders or its compiler.
    let compiler = verifier.toolchains()[0].clone();
    let mut homes = vec!["/build".to_owned(), "/build/target".to_owned()];
    homes.extend(compiler.folders().iter().map(|folder| folder.display().to_string()));
    for home in homes.into_iter().filter(|home| !home.starts_with("/usr") && !home.contains("/.")) {
        let refused = verifier.submit(Submission { home_dir: Some(home.clone()), ..submission(Some(&tree)) }, 1).await;
        assert!(refused.is_err(), "{home}");
    }
    // A repository that is more than a run may take.
    let repository = tempfile::tempdir().unwrap();
    let mut noise = vec![0_u8; 128 << 20];
    let mut state = 1_u64;
    for byte in &mut noise {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        *byte = (state >> 56) as u8;
    }
    let (url, _) = Source::default().with("noise", noise).repository(repository.path());
    let run = ended(&verifier, Submission { repo_url: url, ..submission(None) }).await;
    assert_eq!((failure(&run).0, failure(&run).1.contains("too large")), (FailureCode::FetchFailed, true), "{run:?}");
    verifier.close().await;
}

/// A library that is a whole module by itself.
fn module() -> Source {
    source("").with(
        "src/lib.rs",
        "#![no_std]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! { loop {} }\n#[no_mangle]\npub extern \"C\" fn seven() -> u32 { 7 }\n",
    )
}

#[tokio::test]
async fn two_runs_of_one_contract_at_once_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let change = |settings: &mut Settings| {
        settings.runs_max = 2;
        settings.build_seconds = 800;
    };
    let Some(verifier) = verifier(folder.path(), change).await else { return };
    // The library is built along where the compiler lacks it, and quickly rather than well.
    let library: &[&str] =
        if verifier.toolchains()[0].has_target { &[] } else { &["RUSTC_BOOTSTRAP=1", "CARGO_UNSTABLE_BUILD_STD=core"] };
    let environment = library.iter().chain(&["CARGO_PROFILE_RELEASE_OPT_LEVEL=0"]).map(|line| (*line).to_owned());
    let environment: Vec<String> = environment.collect();
    let tree = module();
    let one = || Submission { build_env: environment.clone(), ..submission(Some(&tree)) };
    let (first, second) = tokio::join!(ended(&verifier, one()), ended(&verifier, one()));
    let built = |run: &Run| match &run.outcome {
        Some(Outcome::Built(built)) => built.clone(),
        other => panic!("{other:?}"),
    };
    let (first, second) = (built(&first), built(&second));
    assert_eq!(first.comparison, second.comparison);
    assert_eq!(first.sources, second.sources);
    let list = verifier.list(first.sources.as_deref().unwrap()).await.unwrap();
    assert_eq!(list.files.len(), tree.0.len());
    for file in &list.files {
        assert_eq!(verifier.blob(&file.sha256).await.unwrap(), tree.0[&file.path]);
    }
    verifier.close().await;
}
