//! Scripts in the processes of the built program: what stays stuck in the machine of Lua is ended from outside, and the
//! server goes on.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::dev::Dev;
use crate::support::{http, wait_for};
use paraffin_lua::{
    Budget, CallError, Host, LuaSettings, NotRun, Outcome, Runner as _, Script, ScriptError, ScriptFuture,
    WorkerIsolation, WorkerProgram, Workers,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Answers the number 7, after a while for `test_slow`.
struct Seven;

impl Host for Seven {
    fn call<'a>(&'a self, method: &'a str, _: Box<RawValue>) -> ScriptFuture<'a, Result<Box<RawValue>, CallError>> {
        Box::pin(async move {
            match method {
                "test_slow" => tokio::time::sleep(Duration::from_secs(3600)).await,
                "test_large" => return Ok(serde_json::value::to_raw_value(&"x".repeat(1 << 20)).unwrap()),
                _ => {}
            }
            Ok(serde_json::value::to_raw_value(&7).unwrap())
        })
    }
}

fn workers(settings: LuaSettings) -> Workers {
    let program =
        WorkerProgram { path: env!("CARGO_BIN_EXE_paraffin").into(), arguments: vec!["lua-worker".to_owned()] };
    Workers::new(settings, program)
}

fn short() -> LuaSettings {
    LuaSettings { time_ms_max: 1_000, ..LuaSettings::default() }
}

/// A loop still runs when the test looks, however quick the machine is: only its time ends it.
fn endless() -> LuaSettings {
    LuaSettings { instructions_max: u64::MAX, ..LuaSettings::default() }
}

async fn run_as(workers: &Workers, caller: &str, source: &str) -> Result<Outcome, NotRun> {
    let methods = ["test_seven", "test_slow", "test_large"].map(ToOwned::to_owned).to_vec();
    let script = Script { source: source.to_owned(), arguments: Vec::new(), methods };
    workers.run(caller, script, &Seven).await
}

async fn run(workers: &Workers, source: &str) -> Outcome {
    run_as(workers, "somebody", source).await.unwrap()
}

async fn result(workers: &Workers, source: &str) -> String {
    run(workers, source).await.returns.unwrap().get().to_owned()
}

/// Processes that run scripts for `server`.
fn children_of(server: u32) -> BTreeSet<i32> {
    let entries =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_worker = |id: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        let command = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        parent == Some(server) && command.ends_with(b"lua-worker\0")
    };
    entries.filter(is_worker).collect()
}

/// row MR11
#[tokio::test]
async fn scripts_run_one_after_the_other_in_a_process_that_is_kept() {
    let workers = workers(LuaSettings::default());
    assert_eq!(result(&workers, "x = 1 return {x, _RPC.test_seven()}").await, "[1,7]");
    let first = children_of(std::process::id());
    assert_eq!(first.len(), 1);
    assert_eq!(result(&workers, "return {x == nil, #_RPC.test_large()}").await, "[true,1048576]");
    assert_eq!(children_of(std::process::id()), first);
    let outcome = run(&workers, "for _ = 1, 1000 do _RPC.test_seven() end _RPC.test_seven()").await;
    assert_eq!((outcome.calls, outcome.returns.unwrap_err()), (1000, ScriptError::Exhausted(Budget::RpcCalls)));
    assert!(matches!(workers.check("somebody", "return 1").await, Ok(Ok(()))));
    assert!(matches!(workers.check("somebody", "return return").await, Ok(Err(ScriptError::Syntax(_)))));
    assert_eq!(children_of(std::process::id()), first);
}

/// What the machine of Lua does for long between two instructions, whatever the library leaves out.
#[tokio::test]
async fn what_is_stuck_in_the_machine_is_ended_from_outside() {
    let workers = workers(short());
    for (attack, source) in [
        (
            "a closing variable in the frame that a hook ends: its handler runs without hooks",
            "local x <close> = setmetatable({}, {__close = function() while true do end end}) while true do end",
        ),
        (
            "closing variables in each other, each of which loops, with an error for each that looks at the whole stack",
            "local function f() local x <close> = setmetatable({}, {__close = function() while true do end end}) f() end f()",
        ),
        (
            "weak tables in which each entry keeps the next one alive",
            "local list, last = {}, nil
            for i = 1, 200000 do
              local key = {}
              local weak = setmetatable({[key] = last}, {__mode = 'k'})
              list[i] = weak
              last = key
            end
            list.first = last
            while true do local _ = ('x'):rep(100000) .. #list end",
        ),
        (
            "a table that is emptied and asked for its first entry",
            "local t = {} for i = 1, 1000000 do t[i .. ''] = true end
            while true do local k = next(t) if not k then break end t[k] = nil end while true do next(t) end",
        ),
        (
            "memory that is full but for what is let go at once",
            "local t = {} for i = 1, 1100000 do t[i] = {} end while true do local _ = ('x'):rep(10000) .. #t end",
        ),
        (
            "long texts that are joined and compared",
            "local s = ('x'):rep(10000000) local o = s:sub(2) .. 'x' while true do local _ = s == o, s <= o, s .. 'y' end",
        ),
    ] {
        let started = Instant::now();
        let outcome = run(&workers, source).await;
        let took = started.elapsed();
        // Half a second of grace, and what a busy machine takes to end a process.
        assert!(took < Duration::from_secs(4), "{attack}: {took:?}");
        let error = outcome.returns.unwrap_err();
        assert!(matches!(error, ScriptError::Exhausted(_)), "{attack}: {error:?}");
        println!("{attack}: {error:?} after {took:?}");
        assert_eq!(result(&workers, "return 'well'").await, "\"well\"", "{attack}");
    }
}

#[tokio::test]
async fn waiting_for_an_answer_counts_as_time() {
    let workers = workers(short());
    let started = Instant::now();
    let outcome = run(&workers, "return pcall(_RPC.test_slow)").await;
    assert!(matches!(outcome.returns, Err(ScriptError::Exhausted(Budget::Time))), "{outcome:?}");
    assert!(started.elapsed() < Duration::from_secs(4) && outcome.calls == 1);
    let small = super_small();
    let outcome = run(&small, "return _RPC.test_large()").await;
    assert!(
        matches!(&outcome.returns, Err(ScriptError::Raised(words)) if words.contains("the answer is too large")),
        "{outcome:?}"
    );
}

fn super_small() -> Workers {
    workers(LuaSettings { rpc_answer_bytes_max: 1000, ..LuaSettings::default() })
}

#[tokio::test]
async fn a_script_whose_caller_has_gone_is_ended() {
    let workers = workers(endless());
    let gone = tokio::time::timeout(Duration::from_millis(500), run(&workers, "while true do end")).await;
    assert!(gone.is_err());
    wait_for("the process to end", Duration::from_secs(5), || children_of(std::process::id()).is_empty().then_some(()));
    assert_eq!(result(&workers, "return 1").await, "1");
}

#[tokio::test]
async fn a_process_that_dies_is_replaced() {
    let workers = Arc::new(workers(endless()));
    assert_eq!(result(&workers, "return 1").await, "1");
    let end_all = || {
        for id in children_of(std::process::id()) {
            kill_process(Pid::from_raw(id).unwrap(), Signal::KILL).unwrap();
        }
    };
    end_all();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(result(&workers, "return 2").await, "2");
    let running = {
        let workers = Arc::clone(&workers);
        tokio::spawn(async move { run(&workers, "while true do end").await })
    };
    tokio::time::sleep(Duration::from_millis(300)).await;
    end_all();
    assert!(matches!(running.await.unwrap().returns, Err(ScriptError::Broken)));
    assert_eq!(result(&workers, "return 3").await, "3");
}

#[tokio::test]
async fn a_process_knows_nothing_of_the_server_and_gives_way_to_it() {
    let workers = workers(LuaSettings::default());
    assert_eq!(result(&workers, "return 1").await, "1");
    for id in children_of(std::process::id()) {
        let read = |name: &str| std::fs::read(format!("/proc/{id}/{name}")).unwrap();
        assert!(read("environ").is_empty());
        assert_eq!(std::fs::read_link(format!("/proc/{id}/cwd")).unwrap().to_str(), Some("/"));
        let stat = String::from_utf8(read("stat")).unwrap();
        let nice = stat.rsplit_once(") ").unwrap().1.split(' ').nth(16).unwrap();
        assert!(nice.parse::<i32>().unwrap() >= 10, "{nice}");
        let limits = String::from_utf8(read("limits")).unwrap();
        assert!(limits.lines().any(|line| line.starts_with("Max file size") && line.contains(" 0 ")), "{limits}");
    }
}

/// Those that run scripts in namespaces of their own, below the processes of [`children_of`].
fn inside_of(server: u32) -> BTreeSet<i32> {
    let entries =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let above = children_of(server);
    let is_inside = |id: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        parent.is_some_and(|parent| above.contains(&parent))
    };
    entries.filter(is_inside).collect()
}

/// What isolates workers here; `None` where the kernel gives no namespaces.
async fn isolated() -> Option<WorkerIsolation> {
    let isolation = workers(LuaSettings::default()).check_isolation().await.unwrap();
    // Whatever the kernel lacks, a worker that starts has its filter.
    assert_eq!(isolation.without_filter, None);
    if !isolation.is_complete() {
        paraffin_testkit::missing(&format!("namespaces for scripts: {isolation}"));
        return None;
    }
    Some(isolation)
}

#[tokio::test]
async fn a_process_of_scripts_has_namespaces_an_empty_root_and_a_filter() {
    if isolated().await.is_none() {
        return;
    }
    let workers = workers(LuaSettings::default());
    assert_eq!(result(&workers, "return 1").await, "1");
    let inside = inside_of(std::process::id());
    assert_eq!(inside.len(), 1);
    for id in inside {
        let own = |kind: &str| std::fs::read_link(format!("/proc/{id}/ns/{kind}")).unwrap();
        for kind in ["user", "mnt", "net", "pid", "ipc"] {
            assert_ne!(own(kind), std::fs::read_link(format!("/proc/self/ns/{kind}")).unwrap(), "{kind}");
        }
        assert_eq!(std::fs::read_dir(format!("/proc/{id}/root")).unwrap().count(), 0);
        let limits = std::fs::read_to_string(format!("/proc/{id}/limits")).unwrap();
        for (limit, most) in [("Max file size", "0"), ("Max open files", "3"), ("Max processes", "0")] {
            let line = limits.lines().find(|line| line.starts_with(limit)).unwrap();
            assert_eq!(line[limit.len()..].split_whitespace().nth(1), Some(most), "{line}");
        }
        for thread in std::fs::read_dir(format!("/proc/{id}/task")).unwrap() {
            let thread = thread.unwrap().path();
            let stat = std::fs::read_to_string(thread.join("stat")).unwrap();
            let nice: i32 = stat.rsplit_once(") ").unwrap().1.split(' ').nth(16).unwrap().parse().unwrap();
            assert!(!stat.contains("(script)") || nice >= 10, "{stat}");
            let status = std::fs::read_to_string(thread.join("status")).unwrap();
            let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim();
            assert_eq!((value("Seccomp:"), value("NoNewPrivs:")), ("2", "1"), "{status}");
            for set in ["CapPrm:", "CapEff:", "CapInh:", "CapAmb:"] {
                assert_eq!(value(set), "0000000000000000", "{set}");
            }
        }
    }
}

/// What a script that broke out of Lua would try, in a process like that of scripts: without barriers all of it works, and either
/// kind of barrier alone stops all of it.
#[tokio::test]
async fn a_process_of_scripts_reaches_neither_files_nor_network_nor_the_server() {
    if isolated().await.is_none() {
        return;
    }
    let dev = Dev::start();
    let folder = dev.folder().to_owned();
    let (server, listen) = (dev.process.id(), dev.listen().to_owned());
    let path = |name: &str| folder.join(name).display().to_string();
    let attempts = [
        format!("read:{}", path("accounts.sqlite")),
        format!("read:{}", path("dev.json")),
        format!("list:{}", folder.display()),
        format!("unix:{}", path("control.sock")),
        format!("read:/proc/{server}/environ"),
        format!("read:/proc/{server}/status"),
        format!("list:/proc/{server}/fd"),
        format!("see:{server}"),
        format!("tcp:{listen}"),
        "read:/etc/passwd".to_owned(),
        "list:/".to_owned(),
        "run:/bin/true".to_owned(),
    ];
    let tried = |barriers: &str, more: &[&str]| {
        let mut worker = crate::support::process::paraffin();
        let output = worker.args(["lua-worker", "--try", barriers]).args(&attempts).args(more).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text.lines().count(), attempts.len() + more.len(), "{barriers}: {output:?}");
        text
    };
    for line in tried("none", &["bind:127.0.0.1:0"]).lines() {
        // The server's own memory is closed even so, unless its user is root.
        let is_closed = line.contains("/environ") || line.contains("/fd");
        let expected = line.ends_with(" -> ok") || (is_closed && line.contains("Permission denied"));
        assert!(expected, "without barriers: {line}");
    }
    for barriers in ["filter", "all"] {
        for line in tried(barriers, &["bind:127.0.0.1:0"]).lines() {
            assert!(line.ends_with("(os error 1)"), "{barriers}: {line}");
        }
    }
    let namespaces = tried("namespaces", &[]);
    for line in namespaces.lines() {
        // The root is there to be listed, and empty.
        let is_root = line.starts_with("list:/ ");
        assert_eq!(line.ends_with(" -> ok"), is_root, "namespaces: {line}");
    }
    // What is no attempt and no worker is refused before anything runs.
    for arguments in [&["--try", "some"][..], &["--try"], &["--other"]] {
        let ended = crate::support::process::paraffin().arg("lua-worker").args(arguments).output().unwrap();
        assert!(!ended.status.success() && ended.stdout.is_empty(), "{arguments:?}");
    }
}

#[tokio::test]
async fn a_process_runs_scripts_of_one_caller_alone() {
    let workers = workers(LuaSettings { scripts_max: 2, ..LuaSettings::default() });
    let after = async |caller: &str| {
        assert!(run_as(&workers, caller, "return 1").await.unwrap().returns.is_ok());
        // Those that were ended may take a moment to go.
        let few = || Some(children_of(std::process::id())).filter(|ids| ids.len() <= 2);
        wait_for("at most two processes", Duration::from_secs(5), few)
    };
    let first = after("first").await;
    assert_eq!(first.len(), 1);
    let both = after("second").await;
    assert!(both.len() == 2 && both.is_superset(&first), "{first:?} {both:?}");
    assert_eq!(after("first").await, both);
    // A third one takes the place of the one that has waited longest, which is the second's.
    let third = after("third").await;
    assert!(third.len() == 2 && third.is_superset(&first) && third != both, "{both:?} {third:?}");
    assert_eq!(after("first").await, third);
}

#[tokio::test]
async fn one_caller_does_not_take_all_places() {
    let settings = LuaSettings { wait_ms_max: 300, scripts_max: 2, scripts_per_caller_max: 1, ..endless() };
    let workers = Arc::new(workers(settings));
    let hostile = {
        let workers = Arc::clone(&workers);
        tokio::spawn(async move { run_as(&workers, "hostile", "while true do end").await })
    };
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(run_as(&workers, "hostile", "return 1").await.unwrap_err(), NotRun::Busy);
    assert!(run_as(&workers, "other", "return 1").await.unwrap().returns.is_ok());
    hostile.abort();
}

#[tokio::test]
async fn a_program_that_is_no_worker_causes_no_failure() {
    for (program, arguments) in
        [("/bin/true", vec![]), ("/usr/bin/yes", vec![]), ("/bin/cat", vec![]), ("/bin/sleep", vec!["3600".to_owned()])]
    {
        let program = WorkerProgram { path: program.into(), arguments };
        let started = Instant::now();
        let outcome = run_as(&Workers::new(short(), program.clone()), "somebody", "return 1").await;
        assert_eq!(outcome.unwrap_err(), NotRun::NoWorker, "{program:?}");
        assert!(started.elapsed() < Duration::from_secs(4), "{program:?}");
    }
    let nothing = WorkerProgram { path: "/nothing/there".into(), arguments: Vec::new() };
    let nothing = Workers::new(short(), nothing);
    assert_eq!(run_as(&nothing, "somebody", "return 1").await.unwrap_err(), NotRun::NoWorker);
}

/// row MR11
#[test]
fn many_hostile_scripts_at_once_leave_the_server_well() {
    if !paraffin_testkit::long_tests() {
        return;
    }
    let dev = Dev::start();
    let attacks = [
        "while true do end",
        "local t = {} while true do t[#t + 1] = {} end",
        "return ('a'):rep(30000):find(('a*'):rep(30) .. 'b')",
        "while true do pcall(function() while true do end end) end",
        "local function f() local x <close> = setmetatable({}, {__close = function() while true do end end}) f() end f()",
        "while true do _RPC.btc_getblockcount() end",
        "return ('x'):rep(1 << 40)",
        "local s = 'x' while true do s = s .. s end",
    ];
    let keys = ["business", "pro", "admin"].map(|name| dev.text(&format!("/keys/{name}")).to_owned());
    let ended = std::thread::scope(|scope| {
        let mut running = Vec::new();
        for index in 0..24 {
            let (path, listen) = (format!("/v4/{}", keys[index % keys.len()]), dev.listen().to_owned());
            let script = attacks[index % attacks.len()];
            running.push(scope.spawn(move || {
                let started = Instant::now();
                let answer = http::call(&listen, &path, "lua_evalscript", json!([script]));
                (script, answer, started.elapsed())
            }));
        }
        // While they run everything else is answered.
        let until = Instant::now() + Duration::from_secs(6);
        let mut slowest = Duration::ZERO;
        let mut asked = 0;
        while Instant::now() < until {
            let started = Instant::now();
            assert_eq!(http::get(dev.listen(), "/health").status, 200);
            assert_eq!(dev.call("btc_getblockcount", json!([])), dev.height());
            slowest = slowest.max(started.elapsed());
            asked += 1;
            std::thread::sleep(Duration::from_millis(20));
        }
        println!("{asked} rounds beside the scripts, the slowest took {slowest:?}");
        assert!(slowest < Duration::from_secs(2), "{slowest:?}");
        running.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    for (script, answer, took) in ended {
        let error = &answer["result"]["error"];
        // Its budget, or its turn did not come: never anything else, and never late.
        let is_budget = error["data"]["code"] == "BUDGET_EXCEEDED";
        assert!(is_budget || answer["error"]["data"]["code"] == "BUSY", "{script}: {answer}");
        assert!(took < Duration::from_secs(30), "{script}: {took:?}");
    }
    let answer = dev.call("lua_evalscript", json!(["return {_RPC.btc_getblockcount(), args[1]}", "x"]));
    assert_eq!(answer["returns"], json!([dev.height(), "x"]), "{answer}");
    // With the server go its processes.
    let server = dev.process.id();
    let left = children_of(server);
    assert!(!left.is_empty() && left.len() <= LuaSettings::default().scripts_max);
    drop(dev);
    let is_gone = |id: &i32| !std::path::Path::new(&format!("/proc/{id}")).exists();
    wait_for("the processes to end", Duration::from_secs(5), || left.iter().all(is_gone).then_some(()));
}

/// row MR11
#[test]
fn saved_scripts_outlive_a_kill_of_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let listen = format!("127.0.0.1:{}", crate::support::free_port());
    let start = || {
        let mut dev = crate::support::process::paraffin();
        dev.args(["dev", "--listen", &listen, "--data-dir"]).arg(folder.path());
        let mut process = crate::support::process::Running::start(&mut dev);
        process.wait_for_output("ready", Duration::from_secs(120));
        let text = std::fs::read_to_string(folder.path().join("dev.json")).unwrap();
        let described: Value = serde_json::from_str(&text).unwrap();
        (process, format!("/v4/{}", described["keys"]["business"].as_str().unwrap()))
    };
    let (mut process, path) = start();
    let script = "return {args[1], _RPC.btc_getblockcount() > 0}";
    let saved = http::result(&listen, &path, "lua_savescript", json!([script]));
    process.kill();
    let (_process, path) = start();
    let answer = http::result(&listen, &path, "lua_evalsaved", json!([saved["hash"], 5]));
    assert_eq!(answer["returns"], json!([5, true]), "{answer}");
}
