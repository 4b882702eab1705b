//! Group commit: appenders queue encoded records, and one of them at a time writes and flushes what has gathered.

use std::mem;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex, RwLock};

use super::segment::{Segment, Sink};
use super::{LogError, frame};

pub(super) struct Commit {
    state: Mutex<State>,
    /// Notified when a flush has ended.
    flushed: Condvar,
    segments: Arc<RwLock<Vec<Arc<Segment>>>>,
    queue_bytes_max: usize,
}

struct State {
    /// Records encoded and not yet taken by a flush.
    queue: Vec<u8>,
    /// Number of the first record in the queue.
    queue_seq: u64,
    /// Number that the next record gets.
    next_seq: u64,
    /// Records below are on the disk.
    durable_seq: u64,
    /// `None` while an appender writes with it.
    sink: Option<Sink>,
    /// Emptied buffer, reused for its capacity.
    spare: Vec<u8>,
    failed: Option<String>,
}

impl State {
    fn check(&self) -> Result<(), LogError> {
        match &self.failed {
            None => Ok(()),
            Some(cause) => Err(LogError::Failed { cause: cause.clone() }),
        }
    }
}

impl Commit {
    pub(super) fn new(
        sink: Sink,
        segments: Arc<RwLock<Vec<Arc<Segment>>>>,
        next_seq: u64,
        queue_bytes_max: usize,
    ) -> Self {
        let state = State {
            queue: Vec::new(),
            queue_seq: next_seq,
            next_seq,
            durable_seq: next_seq,
            sink: Some(sink),
            spare: Vec::new(),
            failed: None,
        };
        Self { state: Mutex::new(state), flushed: Condvar::new(), segments, queue_bytes_max }
    }

    pub(super) fn durable_seq(&self) -> u64 {
        self.state.lock().durable_seq
    }

    /// Queues records of `len` encoded bytes and waits until they are on the disk.
    pub(super) fn append<P: AsRef<[u8]>>(&self, payloads: &[P], len: usize) -> Result<u64, LogError> {
        let mut state = self.state.lock();
        // A full queue means that a flush is under way, which empties it.
        while state.failed.is_none() && !state.queue.is_empty() && state.queue.len() + len > self.queue_bytes_max {
            self.flushed.wait(&mut state);
        }
        state.check()?;
        let first = state.next_seq;
        for payload in payloads {
            let seq = state.next_seq;
            frame::encode(&mut state.queue, seq, payload.as_ref());
            state.next_seq += 1;
        }
        let end = state.next_seq;
        while state.durable_seq < end {
            state.check()?;
            match state.sink.take() {
                None => self.flushed.wait(&mut state),
                Some(mut sink) => {
                    let spare = mem::take(&mut state.spare);
                    let records = mem::replace(&mut state.queue, spare);
                    let taken_end = state.next_seq;
                    let seq = mem::replace(&mut state.queue_seq, taken_end);
                    drop(state);
                    let outcome = sink.write(&records, seq);
                    if let Ok(Some(begun)) = &outcome {
                        self.segments.write().push(Arc::clone(begun));
                    }
                    state = self.state.lock();
                    self.flushed.notify_all();
                    match outcome {
                        Ok(_) => {
                            state.durable_seq = taken_end;
                            state.sink = Some(sink);
                            state.spare = records;
                            state.spare.clear();
                        }
                        Err(error) => {
                            tracing::error!(%error, "the log accepts no further records");
                            state.failed = Some(error.to_string());
                            return Err(error);
                        }
                    }
                }
            }
        }
        Ok(first)
    }
}
