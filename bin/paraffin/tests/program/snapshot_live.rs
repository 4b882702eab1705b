//! `paraffin snapshot export` while the instance runs: over the control socket of its data folder.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::dev::Dev;
use crate::support::instance::Instance;
use crate::support::process::{Running, paraffin, write_config};
use crate::support::wait_for;
use paraffin_devnet::{Devnet, DevnetOptions};
use rustix::process::Signal;
use serde_json::{Value, json};

const BLOCKS: u32 = 130;
const LIMIT: Duration = Duration::from_secs(120);

struct Chain {
    runtime: tokio::runtime::Runtime,
    devnet: Devnet,
}

impl Chain {
    fn start() -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let options = DevnetOptions { blocks: BLOCKS, ..DevnetOptions::default() };
        let devnet = runtime.block_on(Devnet::start(options)).unwrap();
        Self { runtime, devnet }
    }

    fn config(&self) -> String {
        let devnet = &self.devnet;
        let (url, user, password) = (devnet.rpc_url(), devnet.user(), devnet.password());
        format!("[node]\nurl = \"{url}\"\nuser = \"{user}\"\npassword = \"{password}\"\n")
    }

    fn tip(&self) -> String {
        self.devnet.tip().hash.to_string()
    }

    fn mine(&self, count: u32) {
        for _ in 0..count {
            self.devnet.node().mine_block(&bitcoin::ScriptBuf::from_bytes(vec![0x51])).unwrap();
        }
    }

    /// The newest `depth` blocks leave, one more comes.
    fn reorganise(&self, depth: u32) {
        let node = self.devnet.node();
        node.invalidate(&node.block_hash(node.tip().height + 1 - depth).unwrap()).unwrap();
        self.mine(depth + 1);
    }

    fn end(self) {
        self.runtime.block_on(self.devnet.shutdown());
    }
}

/// Runs to the end; the printed line of JSON, or what was said instead.
fn finish(mut process: Running) -> Result<Value, String> {
    let status = process.wait(LIMIT);
    // The pipes are read by threads of their own.
    std::thread::sleep(Duration::from_millis(100));
    if status.success() { Ok(serde_json::from_str(process.output().trim()).unwrap()) } else { Err(process.errors()) }
}

fn export(instance: &Instance, file: &Path, kib_per_second: Option<u64>) -> Running {
    let mut command = instance.command(&["snapshot", "export"]);
    command.arg(file);
    if let Some(rate) = kib_per_second {
        command.args(["--rate", &rate.to_string()]);
    }
    Running::start(&mut command)
}

/// The name that a file has until it is whole.
fn part(file: &Path) -> PathBuf {
    file.with_extension("part")
}

/// Waits until the export is under way.
fn begun(file: &Path) {
    wait_for("the export to begin", LIMIT, || part(file).exists().then_some(()));
}

fn gone(file: &Path) {
    wait_for("the partial file to be removed", LIMIT, || (!part(file).exists()).then_some(()));
    assert!(!file.exists());
}

fn equal(left: &Value, right: &Value) {
    for name in ["height", "hash", "digest", "cumulative", "content"] {
        assert!(!left[name].is_null());
        assert_eq!(left[name], right[name], "{name}");
    }
}

fn index_once(instance: &Instance) -> Value {
    finish(Running::start(&mut instance.command(&["index", "--once"]))).unwrap()
}

#[test]
fn a_running_instance_writes_a_snapshot_while_blocks_come_and_go_and_answers_go_on() {
    let chain = Chain::start();
    let folder = tempfile::tempdir().unwrap();
    let mut source = Instance::prepare(&folder.path().join("source"), &chain.config(), "");
    source.start();
    source.wait_for_block(&chain.tip());
    let mode = std::fs::metadata(source.data().join("control.sock")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");

    let doctor = source.command(&["doctor"]).output().unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.contains("ok       store      a running instance has it"), "{doctor}");

    // As quickly as it goes: how large it is.
    let quick = finish(export(&source, &folder.path().join("quick"), None)).unwrap();
    assert_eq!(quick["hash"], chain.tip());
    let bytes = quick["bytes"].as_u64().unwrap();
    assert_eq!(bytes, std::fs::metadata(folder.path().join("quick")).unwrap().len());

    // Slowly: blocks and a reorganisation arrive meanwhile, and are answered from.
    let file = folder.path().join("file");
    let exporting = export(&source, &file, Some(bytes / 1024 / 8));
    begun(&file);
    let another = finish(export(&source, &folder.path().join("another"), None)).unwrap_err();
    assert!(another.contains("another snapshot is being written"), "{another}");
    let mut meanwhile = 0;
    for round in 0..3 {
        chain.mine(2);
        source.wait_for_block(&chain.tip());
        chain.reorganise(3 + round);
        source.wait_for_block(&chain.tip());
        let height = chain.devnet.tip().height;
        assert_eq!(source.result("btc_getblockcount", json!([])), height);
        meanwhile += u32::from(part(&file).exists());
    }
    assert!(meanwhile > 0, "the export was over before the blocks had come");
    let exported = finish(exporting).unwrap();
    equal(&exported, &quick);
    assert!(!part(&file).exists());
    let twice = finish(export(&source, &file, None)).unwrap_err();
    assert!(twice.contains("exists already"), "{twice}");

    // From there another instance follows the chain that has become another one, to the same digests.
    let target = Instance::prepare(&folder.path().join("target"), &chain.config(), "");
    let mut import = target.command(&["snapshot", "import"]);
    equal(&finish(Running::start(import.arg(&file))).unwrap(), &exported);
    source.stop();
    let followed = index_once(&target);
    assert_eq!(followed["hash"], chain.tip());
    equal(&followed, &index_once(&source));
    equal(&followed, &index_once(&Instance::prepare(&folder.path().join("fresh"), &chain.config(), "")));
    chain.end();
}

#[test]
fn an_export_that_is_given_up_leaves_nothing_and_the_instance_goes_on() {
    let chain = Chain::start();
    let folder = tempfile::tempdir().unwrap();
    let mut source = Instance::prepare(&folder.path().join("source"), &chain.config(), "");
    source.start();
    source.wait_for_block(&chain.tip());

    let file = folder.path().join("interrupted");
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let exporting = export(&source, &file, Some(1));
        begun(&file);
        exporting.signal(signal);
        let said = finish(exporting).unwrap_err();
        assert!(signal == Signal::KILL || said.contains("the export was given up"), "{said}");
        gone(&file);
    }
    finish(export(&source, &file, None)).unwrap();

    // An instance that stops gives the export up as well, and says so.
    let file = folder.path().join("stopped");
    let exporting = export(&source, &file, Some(1));
    begun(&file);
    source.stop();
    let said = finish(exporting).unwrap_err();
    assert!(said.contains("the instance is being stopped"), "{said}");
    gone(&file);
    assert!(!source.data().join("control.sock").exists());

    // Without an instance the command does it itself, in the same way.
    let exporting = export(&source, &file, Some(1));
    begun(&file);
    exporting.signal(Signal::INT);
    assert!(finish(exporting).unwrap_err().contains("the export was given up"));
    gone(&file);
    finish(export(&source, &file, None)).unwrap();
    chain.end();
}

/// Sends bytes, hangs up or not, and reads what comes back.
fn say(socket: &Path, bytes: &[u8]) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    // A server that has heard enough may have hung up.
    let _ = stream.write_all(bytes);
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    text
}

#[test]
fn the_socket_survives_nonsense_silence_and_a_kill() {
    let chain = Chain::start();
    let folder = tempfile::tempdir().unwrap();
    let mut source = Instance::prepare(&folder.path().join("source"), &chain.config(), "");
    source.start();
    source.wait_for_block(&chain.tip());
    let socket = source.data().join("control.sock");

    // Silent clients take places for five seconds and no longer.
    let silent: Vec<UnixStream> = (0..20).map(|_| UnixStream::connect(&socket).unwrap()).collect();
    for (bytes, said) in [
        (&b"nonsense\n"[..], "this is no request"),
        (b"\n", "this is no request"),
        (b"{\"do\":\"stop\"}\n", "this is no request"),
        (b"\xff\xfe\n", "this is no request"),
        (b"{\"do\":\"snapshot-export\",\"file\":\"relative\"}\n", "must be an absolute path"),
        (b"{\"do\":\"snapshot-export\",\"file\":\"/nowhere/at/all\"}\n", "/nowhere/at/all"),
    ] {
        let answer = say(&socket, bytes);
        assert!(answer.contains("refused") && answer.contains(said), "{answer}");
    }
    let long = vec![b'a'; 1 << 20];
    assert!(!say(&socket, &long).contains("done"));
    drop(silent);
    // A client that hangs up in the middle of an export ends it.
    let file = folder.path().join("hung-up");
    let mut stream = UnixStream::connect(&socket).unwrap();
    let request = json!({"do": "snapshot-export", "file": file, "bytes_per_second": 100});
    writeln!(stream, "{request}").unwrap();
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).unwrap();
    assert!(line.contains("progress") && part(&file).exists(), "{line}");
    drop(stream);
    gone(&file);
    assert_eq!(source.result("btc_getblockcount", json!([])), BLOCKS);

    // A kill leaves the socket. Nothing answers there, so the command works on the store itself, and a start takes its place.
    source.kill();
    assert!(socket.exists());
    finish(export(&source, &folder.path().join("after-kill"), None)).unwrap();
    source.start();
    source.wait_for_block(&chain.tip());
    finish(export(&source, &folder.path().join("after-start"), None)).unwrap();
    let log = source.process.as_ref().unwrap().errors();
    assert!(log.contains("the snapshot is written"), "{log}");
    chain.end();
}

#[test]
fn a_second_process_on_a_store_is_refused_and_index_takes_requests_in_a_folder_of_any_depth() {
    let chain = Chain::start();
    let folder = tempfile::tempdir().unwrap();
    let mut deep = folder.path().to_owned();
    while deep.as_os_str().len() < 200 {
        deep.push("a-folder-with-a-long-name");
    }
    let instance = Instance::prepare(&deep, &chain.config(), "");
    let mut indexing = Running::start(&mut instance.command(&["index"]));
    wait_for("the control socket", LIMIT, || {
        assert!(indexing.is_running(), "{}", indexing.errors());
        instance.data().join("control.sock").exists().then_some(())
    });
    for words in [&["serve"][..], &["index"], &["index", "--once"], &["reindex", "bitcoin"], &["reindex", "all"]] {
        let mut second = Running::start(&mut instance.command(words));
        let status = second.wait(LIMIT);
        std::thread::sleep(Duration::from_millis(50));
        assert!(!status.success(), "{words:?}");
        let said = second.errors();
        assert!(said.contains("another process is using this store"), "{words:?}: {said}");
    }
    assert!(indexing.is_running(), "{}", indexing.errors());
    let exported = wait_for("the index to reach the tip", LIMIT, || {
        let file = folder.path().join("file");
        let _ = std::fs::remove_file(&file);
        let exported = finish(export(&instance, &file, None)).ok()?;
        (exported["hash"] == chain.tip()).then_some(exported)
    });
    assert_eq!(exported["height"], BLOCKS);
    assert!(indexing.terminate(LIMIT).success());
    // A process that has the store and no socket is named as what it is.
    let file = folder.path().join("locked");
    let lock = std::fs::File::options().write(true).open(instance.data().join("store/lock")).unwrap();
    lock.lock().unwrap();
    let said = finish(export(&instance, &file, None)).unwrap_err();
    assert!(said.contains("another process is using this store") && said.contains("takes no requests"), "{said}");
    chain.end();
}

#[test]
fn dev_writes_snapshots_as_well() {
    let data = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(
        folder.path(),
        &format!(
            "network = \"regtest\"\ndata_dir = \"{}\"\n[node]\nurl = \"http://127.0.0.1:1\"\n",
            data.path().display()
        ),
    );
    let dev = Dev::start_in(data, &[]);
    let mut command = paraffin();
    command.args(["snapshot", "export", "--config"]).arg(config).arg(folder.path().join("file"));
    let exported = finish(Running::start(&mut command)).unwrap();
    assert_eq!((&exported["height"], &exported["hash"]), (&dev.described["height"], &dev.described["tip_hash"]));
}
