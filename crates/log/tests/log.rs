//! The durable log.
#![allow(clippy::unwrap_used)] // all of this is tests

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use paraffin_log::{Entry, Log, LogError, LogOptions};
use paraffin_testkit::Random;
use proptest::prelude::*;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

fn small() -> LogOptions {
    LogOptions { segment_bytes: 4096, payload_bytes_max: 4000, queue_bytes_max: 64 * 1024 }
}

fn payload(seq: u64) -> Vec<u8> {
    let mut random = Random(seq);
    let len = random.below(300);
    (0..len).map(|_| random.next() as u8).collect()
}

fn fill(log: &Log, until: u64) {
    while log.next_seq() < until {
        let first = log.next_seq();
        let payloads: Vec<Vec<u8>> = (first..until.min(first + 7)).map(payload).collect();
        assert_eq!(log.append(&payloads).unwrap(), first);
    }
}

fn check(log: &Log, from: u64, until: u64) {
    let mut seq = from;
    while seq < until {
        let entries = log.read(seq, 50).unwrap();
        assert!(!entries.is_empty());
        for entry in entries {
            assert_eq!(entry, Entry { seq, payload: payload(seq) });
            seq += 1;
        }
    }
    assert_eq!(log.read(until, 50).unwrap(), []);
}

fn segments(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .collect();
    found.sort();
    found
}

#[test]
fn records_come_back_from_any_number_over_many_segments_and_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::open(folder.path(), small()).unwrap();
    assert_eq!((log.first_seq(), log.next_seq()), (1, 1));
    assert_eq!(log.read(0, 10).unwrap(), []);
    assert_eq!(log.append::<&[u8]>(&[]).unwrap(), 1);
    fill(&log, 200);
    drop(log);
    let log = Log::open(folder.path(), small()).unwrap();
    assert_eq!(log.next_seq(), 200);
    fill(&log, 500);
    assert!(segments(folder.path()).len() > 10);
    for from in [1, 2, 77, 199, 200, 499] {
        check(&log, from, 500);
    }
    assert_eq!(log.read(3, 1).unwrap(), [Entry { seq: 3, payload: payload(3) }]);
    assert_eq!(log.read(10_000, 5).unwrap(), []);
    log.verify().unwrap();
    assert!(log.disk_bytes() > 500 * 150);
    let Err(error) = Log::open(folder.path(), small()) else { panic!("opened twice") };
    assert!(matches!(error, LogError::Locked { .. }));
}

#[test]
fn old_segments_go_as_a_whole_and_reading_them_says_from_where_to_start() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::open(folder.path(), small()).unwrap();
    fill(&log, 300);
    log.truncate_before(150).unwrap();
    let first = log.first_seq();
    assert!(first > 1 && first <= 150, "{first}");
    check(&log, first, 300);
    let Err(LogError::Gone { seq: 1, first_seq }) = log.read(1, 1) else { panic!() };
    assert_eq!(first_seq, first);
    log.truncate_before(u64::MAX).unwrap();
    assert_eq!(segments(folder.path()).len(), 1);
    drop(log);
    // The numbers go on even when nearly all is gone.
    let log = Log::open(folder.path(), small()).unwrap();
    assert_eq!(log.next_seq(), 300);
    fill(&log, 310);
    check(&log, log.first_seq(), 310);
}

#[test]
fn limits_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let open = |options| Log::open(folder.path(), options).map(|_| ());
    assert!(matches!(open(LogOptions { segment_bytes: 10, ..small() }), Err(LogError::InvalidOptions(_))));
    assert!(matches!(open(LogOptions { payload_bytes_max: 1 << 25, ..small() }), Err(LogError::InvalidOptions(_))));
    assert!(matches!(open(LogOptions { queue_bytes_max: 4000, ..small() }), Err(LogError::InvalidOptions(_))));
    let log = Log::open(folder.path(), small()).unwrap();
    assert!(matches!(
        log.append(&[vec![0; 10], vec![0; 4001]]),
        Err(LogError::PayloadTooLong { len: 4001, max: 4000 })
    ));
    assert!(matches!(log.append(&vec![vec![0; 4000]; 17]), Err(LogError::BatchTooLong { .. })));
    assert_eq!(log.next_seq(), 1);
    assert_eq!(log.append(&vec![vec![0; 4000]; 16]).unwrap(), 1);
    assert_eq!(log.append(&[[]]).unwrap(), 17);
    assert_eq!(log.read(17, 1).unwrap()[0].payload, []);
}

/// Copies a log of one segment, changes its bytes, and opens it.
fn open_changed(bytes: &[u8], name: &std::ffi::OsStr) -> (tempfile::TempDir, Result<Log, LogError>) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), bytes).unwrap();
    let log = Log::open(folder.path(), LogOptions::default());
    (folder, log)
}

fn one_segment(records: u64) -> (Vec<u8>, std::ffi::OsString) {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::open(folder.path(), LogOptions::default()).unwrap();
    for seq in 1..=records {
        log.append(&[payload(seq)]).unwrap();
    }
    let path = segments(folder.path()).remove(0);
    (fs::read(&path).unwrap(), path.file_name().unwrap().to_owned())
}

#[test]
fn a_record_torn_at_any_byte_is_cut_off_and_the_log_goes_on() {
    let (bytes, name) = one_segment(5);
    let last = bytes.len() - 16 - payload(5).len();
    for len in last..bytes.len() {
        for tail in [&[][..], &[0; 40], &[0xff; 9]] {
            if tail.is_empty() || len > last {
                let torn = [&bytes[..len], tail].concat();
                let (_folder, log) = open_changed(&torn, &name);
                let log = log.unwrap();
                assert_eq!(log.next_seq(), 5, "cut at {len}");
                check(&log, 1, 5);
                assert_eq!(log.append(&[payload(5), payload(6)]).unwrap(), 5);
                check(&log, 1, 7);
            }
        }
    }
    // Torn while the file itself was begun.
    for len in 0..=32 {
        let mut head = bytes[..len].to_vec();
        if len == 32 {
            head = vec![0; 32];
        }
        let (_folder, log) = open_changed(&head, &name);
        assert_eq!(log.unwrap().next_seq(), 1, "head of {len}");
    }
}

#[test]
fn a_flipped_bit_before_the_end_is_an_error_that_names_file_and_offset() {
    let (bytes, name) = one_segment(4);
    let starts: Vec<usize> = (1..=4)
        .scan(32, |at, seq| {
            let start = *at;
            *at += 16 + payload(seq).len();
            Some(start)
        })
        .collect();
    for bit in (32 * 8..starts[3] * 8).step_by(3) {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let (folder, log) = open_changed(&damaged, &name);
        let Err(LogError::Corrupt { file, offset, .. }) = log else { panic!("bit {bit} passed") };
        assert_eq!(file, folder.path().join(&name));
        let start = *starts.iter().rev().find(|start| **start <= bit / 8).unwrap();
        assert_eq!(offset, start as u64, "bit {bit}");
    }
    // In the last record it cannot be distinguished from a torn write: the record is dropped, never returned wrong.
    for bit in (starts[3] * 8..bytes.len() * 8).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let (_folder, log) = open_changed(&damaged, &name);
        assert_eq!(log.unwrap().next_seq(), 4, "bit {bit}");
    }
    // The head of a file that holds records.
    for bit in 0..32 * 8 {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let (_folder, log) = open_changed(&damaged, &name);
        assert!(matches!(log, Err(LogError::Corrupt { offset: 0, .. })), "bit {bit}");
    }
}

#[test]
fn damage_in_an_older_segment_is_found_by_reading() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::open(folder.path(), small()).unwrap();
    fill(&log, 200);
    drop(log);
    let victim = segments(folder.path()).remove(2);
    let original = fs::read(&victim).unwrap();
    let mut damaged = original.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 4;
    for bytes in [&damaged[..], &original[..original.len() - 5], &original[..32]] {
        fs::write(&victim, bytes).unwrap();
        let log = Log::open(folder.path(), small()).unwrap();
        let Err(LogError::Corrupt { file, .. }) = log.verify() else { panic!("damage was not found") };
        assert_eq!(file, victim);
        // Records after it can still be read.
        assert_eq!(log.read(190, 100).unwrap().len(), 10);
    }
    fs::write(&victim, &original).unwrap();
    Log::open(folder.path(), small()).unwrap().verify().unwrap();
}

#[test]
fn many_appenders_share_flushes_and_every_record_has_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::open(folder.path(), LogOptions { segment_bytes: 64 * 1024, ..LogOptions::default() }).unwrap();
    let numbers: BTreeSet<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8_u64)
            .map(|thread| {
                let log = log.clone();
                scope.spawn(move || {
                    (0..100_u64)
                        .map(|count| {
                            let text = format!("{thread} {count}");
                            let seq = log.append(&[text.as_bytes(), b"second"]).unwrap();
                            // Acknowledged is readable.
                            let entries = log.read(seq, 2).unwrap();
                            assert_eq!(entries[0].payload, text.as_bytes());
                            assert_eq!(entries[1], Entry { seq: seq + 1, payload: b"second".to_vec() });
                            seq
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(numbers.into_iter().collect::<Vec<_>>(), (1..1600).step_by(2).collect::<Vec<_>>());
    log.verify().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn random_appends_truncations_and_restarts_equal_a_list(steps in proptest::collection::vec((0_u8..6, 0_u64..60), 1..60)) {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Log::open(folder.path(), small()).unwrap();
        let mut next = 1;
        for (step, amount) in steps {
            match step {
                0..3 => {
                    fill(&log, next + amount);
                    next += amount;
                }
                3 => {
                    drop(log);
                    log = Log::open(folder.path(), small()).unwrap();
                }
                4 => log.truncate_before(log.first_seq() + amount).unwrap(),
                _ => check(&log, (log.first_seq() + amount).min(next), next),
            }
            prop_assert_eq!(log.next_seq(), next);
        }
        check(&log, log.first_seq(), next);
    }
}

/// The process that is killed: appends and prints acknowledged numbers.
#[test]
#[ignore = "run by the test below as a process of its own"]
fn appending_child() {
    let Ok(folder) = std::env::var("LOG_CRASH_FOLDER") else { return };
    let log = Log::open(Path::new(&folder), LogOptions { segment_bytes: 100_000, ..LogOptions::default() }).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let mark = log.next_seq().to_be_bytes();
                    let seq = log.append(&[&mark[..], b"tail"]).unwrap();
                    println!("acknowledged {seq} {}", u64::from_be_bytes(mark));
                }
            });
        }
    });
}

#[test]
fn killed_while_appending_every_acknowledged_record_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(std::process::id().into());
    let mut acknowledged: Vec<(u64, u64)> = Vec::new();
    for _ in 0..10 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "appending_child", "--ignored", "--nocapture"])
            .env("LOG_CRASH_FOLDER", folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let reader = std::thread::spawn(move || output.lines().map_while(Result::ok).collect::<Vec<_>>());
        std::thread::sleep(Duration::from_millis(20 + random.below(120)));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut lines = reader.join().unwrap();
        // The last line may be cut.
        lines.pop();
        for line in lines {
            let mut words = line.split_whitespace().skip_while(|word| *word != "acknowledged").skip(1);
            if let (Some(seq), Some(mark)) = (words.next(), words.next()) {
                acknowledged.push((seq.parse().unwrap(), mark.parse().unwrap()));
            }
        }
        let log = Log::open(folder.path(), LogOptions::default()).unwrap();
        log.verify().unwrap();
        for (seq, mark) in &acknowledged {
            let entries = log.read(*seq, 2).unwrap();
            assert_eq!(entries[0].payload, mark.to_be_bytes(), "record {seq}");
            assert_eq!(entries[1].payload, b"tail");
        }
    }
    assert!(acknowledged.len() > 20, "{}", acknowledged.len());
}

/// Runs in a process of its own, which ignores SIGXFSZ.
#[test]
#[ignore = "run by the test below as a process of its own"]
fn full_child() {
    let Ok(folder) = std::env::var("LOG_FULL_FOLDER") else { return };
    let log = Log::open(Path::new(&folder), LogOptions::default()).unwrap();
    let limit = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: Some(10_000), maximum: limit.maximum }).unwrap();
    let mut written = 0;
    let error = loop {
        match log.append(&[[7; 1000]]) {
            Ok(seq) => written = seq,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, LogError::DiskFull { .. }), "{error:?}");
    assert!(matches!(log.append(&[[1; 1]]), Err(LogError::Failed { .. })));
    assert_eq!(log.read(1, 100).unwrap().len() as u64, written);
    println!("written={written}");
}

#[test]
fn a_full_disk_stops_the_log_and_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("sh")
        .args(["-c", r#"trap "" XFSZ; exec "$0" --exact full_child --ignored --nocapture"#])
        .arg(std::env::current_exe().unwrap())
        .env("LOG_FULL_FOLDER", folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    let written: u64 = text.split("written=").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
    assert_eq!(written, 9);
    let log = Log::open(folder.path(), LogOptions::default()).unwrap();
    assert_eq!(log.next_seq(), 10);
    assert_eq!(log.append(&[[1; 1]]).unwrap(), 10);
}
