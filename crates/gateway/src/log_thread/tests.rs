use std::net::Ipv4Addr;
use std::sync::mpsc;
use std::time::{Instant, SystemTime};

use super::*;
use crate::state::Caller;

/// An output that blocks until it is released, and then accepts everything.
struct Gate {
    open: mpsc::Receiver<()>,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Once the sender is gone nothing waits any more.
        let _ = self.open.recv();
        self.written.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn gated() -> (LogThread, mpsc::Sender<()>, Arc<Mutex<Vec<u8>>>) {
    let (open, is_open) = mpsc::channel();
    let written = Arc::new(Mutex::new(Vec::new()));
    let gate = Gate { open: is_open, written: Arc::clone(&written) };
    (LogThread::start(LogForm::default(), gate).unwrap(), open, written)
}

/// Drops the thread and waits until it has written everything, however slow this machine is.
fn end(thread: LogThread) {
    let queue = Arc::clone(&thread.0);
    drop(thread);
    queue.ended.wait_while(&mut queue.waiting.lock(), |waiting| !waiting.has_ended);
}

fn request(writer: &LogWriter, id: &str, path: &str) {
    let line = RequestLine {
        at: SystemTime::now(),
        connection: *b"0123456789ab",
        peer: Ipv4Addr::LOCALHOST.into(),
        verb: "GET",
        surface: "main",
        caller: Some(Caller::Keyless),
        status: 200,
        elapsed_us: 1,
    };
    writer.request(line, id, path);
}

/// The ids of the requests and the lines of text, in the order in which they were written.
fn names(written: &Mutex<Vec<u8>>) -> Vec<String> {
    let text = String::from_utf8(written.lock().clone()).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    let name = |line: &str| match line.split_once("request_id=\"") {
        Some((_, rest)) => rest.split('"').next().unwrap().to_owned(),
        None => line.to_owned(),
    };
    text.lines().map(name).collect()
}

#[test]
fn lines_of_requests_and_of_the_program_are_written_whole_and_in_their_order() {
    let (thread, open, written) = gated();
    drop(open);
    let mut writer = thread.writer();
    let mut expected = Vec::new();
    for number in 0..5_000 {
        if number % 7 == 0 {
            writer.write_all(format!("text {number}\n").as_bytes()).unwrap();
            expected.push(format!("text {number}"));
        } else {
            request(&writer, &format!("{number}"), "/v4/jsonrpc");
            expected.push(format!("{number}"));
        }
    }
    end(thread);
    assert_eq!(names(&written), expected);
    assert_eq!(writer.dropped_lines(), 0);
}

#[test]
fn a_blocked_output_blocks_no_logging_thread_and_dropped_lines_are_counted() {
    let (thread, open, written) = gated();
    let writer = thread.writer();
    let sent = 3 * LINES_WAITING_MAX;
    let start = Instant::now();
    for number in 0..sent {
        request(&writer, &format!("{number}"), "/v4/jsonrpc");
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let dropped = writer.dropped_lines() as usize;
    // As many as may wait, and as many again that the thread had already taken.
    assert!((LINES_WAITING_MAX..=sent - LINES_WAITING_MAX).contains(&dropped), "{dropped}");
    drop(open);
    end(thread);
    assert_eq!(names(&written).len(), sent - dropped, "each line is written or counted");
}

#[test]
fn long_paths_fill_the_memory_that_is_meant_for_them_and_no_more() {
    let (thread, open, written) = gated();
    let writer = thread.writer();
    let path = format!("/{}", "x".repeat(64 << 10));
    let sent = 4 * BYTES_WAITING_MAX / path.len();
    for number in 0..sent {
        request(&writer, &format!("{number}"), &path);
    }
    let waiting = thread.0.waiting.lock().batch.text.len();
    assert!(waiting <= BYTES_WAITING_MAX, "{waiting}");
    let dropped = writer.dropped_lines() as usize;
    assert!(dropped >= sent / 2 - 2, "{dropped} of {sent}");
    drop(open);
    end(thread);
    assert_eq!(names(&written).len(), sent - dropped);
}

#[test]
fn the_end_waits_a_second_for_an_output_that_takes_nothing_and_drops_what_comes_later() {
    let (thread, _open, written) = gated();
    let mut writer = thread.writer();
    writer.write_all(b"the last words\n").unwrap();
    let start = Instant::now();
    drop(thread);
    assert!((END..END * 20).contains(&start.elapsed()), "{:?}", start.elapsed());
    writer.write_all(b"too late\n").unwrap();
    assert_eq!((writer.dropped_lines(), names(&written).len()), (1, 0));
}

/// An output like a pipe whose reader has gone.
struct Broken;

impl Write for Broken {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn lines_that_the_output_refuses_are_counted() {
    let thread = LogThread::start(LogForm::default(), Broken).unwrap();
    let writer = thread.writer();
    for number in 0..10 {
        request(&writer, &format!("{number}"), "/");
    }
    end(thread);
    assert_eq!(writer.dropped_lines(), 10);
}
