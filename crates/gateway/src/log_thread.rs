//! The thread that writes the log: lines that are text already, and requests as fields, which it makes into text.
//!
//! Logging only appends to a bounded queue and never waits for the output: lines that do not fit are dropped and
//! counted. Requests are gathered for some milliseconds, so that a busy server wakes the thread some hundred times a
//! second and not for each request.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::access_log::{Renderer, RequestLine};

/// Maximum of waiting lines. The fields of a request take about 150 bytes beside its texts.
const LINES_WAITING_MAX: usize = 32_768;
/// Maximum of the bytes of their texts.
const BYTES_WAITING_MAX: usize = 8 << 20;
/// How long requests are gathered before they are written.
const GATHER: Duration = Duration::from_millis(5);
/// Text that is handed to the output at once.
const WRITE_BYTES: usize = 64 << 10;
/// Capacity for waiting lines and their texts that is kept after a burst.
const LINES_KEPT: usize = 1_024;
const BYTES_KEPT: usize = 256 << 10;
/// How long the end of the program waits for the remaining lines to be written.
const END: Duration = Duration::from_secs(1);

/// Form of the lines about requests; those of the program come as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogForm {
    /// One JSON object a line instead of text.
    pub is_json: bool,
    /// Text with the escape sequences of a terminal.
    pub is_colored: bool,
    /// With the span of the connection.
    pub has_connection: bool,
}

/// The sending side of the queue; cheap to clone. As a writer it takes whole lines, one with each call.
#[derive(Clone)]
pub struct LogWriter(Arc<Queue>);

/// The thread. When dropped it writes what still waits, or gives up after a second.
#[must_use = "lines are written until it is dropped"]
pub struct LogThread(Arc<Queue>);

struct Queue {
    waiting: Mutex<Waiting>,
    /// Signalled when lines wait, or at the end.
    changed: Condvar,
    ended: Condvar,
    dropped: AtomicU64,
}

#[derive(Default)]
struct Waiting {
    batch: Batch,
    /// Something of it should be written at once.
    is_urgent: bool,
    is_closed: bool,
    has_ended: bool,
}

/// Lines in their order, and all their texts one behind the other.
#[derive(Default)]
struct Batch {
    lines: Vec<Line>,
    text: String,
}

enum Line {
    /// So many bytes that are a line, or several.
    Text(usize),
    /// A request, so many bytes of its id and so many of its path.
    Request(RequestLine, usize, usize),
}

impl LogThread {
    /// Starts to write into `output`.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(form: LogForm, output: impl Write + Send + 'static) -> io::Result<Self> {
        let queue = Arc::new(Queue {
            waiting: Mutex::default(),
            changed: Condvar::new(),
            ended: Condvar::new(),
            dropped: AtomicU64::new(0),
        });
        let of_thread = Arc::clone(&queue);
        std::thread::Builder::new().name("paraffin-log".to_owned()).spawn(move || {
            of_thread.write(form, Box::new(output));
            of_thread.waiting.lock().has_ended = true;
            of_thread.ended.notify_all();
        })?;
        Ok(Self(queue))
    }

    /// A sender for lines.
    pub fn writer(&self) -> LogWriter {
        LogWriter(Arc::clone(&self.0))
    }
}

impl Drop for LogThread {
    fn drop(&mut self) {
        let mut waiting = self.0.waiting.lock();
        waiting.is_closed = true;
        self.0.changed.notify_all();
        self.0.ended.wait_while_for(&mut waiting, |waiting| !waiting.has_ended, END);
    }
}

impl LogWriter {
    /// Lines dropped so far: the output was too slow, or failed.
    pub fn dropped_lines(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Queues the line of a request.
    pub(crate) fn request(&self, line: RequestLine, id: &str, path: &str) {
        self.0.push(&[id, path], false, Line::Request(line, id.len(), path.len()));
    }
}

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.push(&[&text], true, Line::Text(text.len()));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Queue {
    fn push(&self, texts: &[&str], is_urgent: bool, line: Line) {
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let mut waiting = self.waiting.lock();
        let Waiting { batch, is_closed, .. } = &mut *waiting;
        if batch.lines.len() >= LINES_WAITING_MAX || bytes > BYTES_WAITING_MAX - batch.text.len() || *is_closed {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let is_first = batch.lines.is_empty();
        batch.lines.push(line);
        for text in texts {
            batch.text.push_str(text);
        }
        let wakes = is_first || (is_urgent && !waiting.is_urgent);
        waiting.is_urgent |= is_urgent;
        drop(waiting);
        if wakes {
            self.changed.notify_one();
        }
    }

    /// Writes lines until the end.
    fn write(&self, form: LogForm, mut output: Box<dyn Write>) {
        let (mut renderer, mut batch, mut text) = (Renderer::new(form), Batch::default(), Vec::new());
        while self.take(&mut batch) {
            let mut rest = batch.text.as_str();
            let mut next = |bytes: usize| {
                let (taken, left) = rest.split_at(bytes);
                rest = left;
                taken
            };
            let mut lines = 0;
            for line in batch.lines.drain(..) {
                match line {
                    Line::Text(bytes) => text.extend_from_slice(next(bytes).as_bytes()),
                    Line::Request(line, id, path) => {
                        let id = next(id);
                        renderer.render(&line, id, next(path), &mut text);
                    }
                }
                lines += 1;
                if text.len() >= WRITE_BYTES {
                    self.hand_over(&mut text, &mut lines, &mut output);
                }
            }
            self.hand_over(&mut text, &mut lines, &mut output);
            batch.text.clear();
            batch.lines.shrink_to(LINES_KEPT);
            batch.text.shrink_to(BYTES_KEPT);
            text.shrink_to(2 * WRITE_BYTES);
        }
    }

    fn hand_over(&self, text: &mut Vec<u8>, lines: &mut u64, output: &mut dyn Write) {
        if output.write_all(text).and_then(|()| output.flush()).is_err() {
            self.dropped.fetch_add(*lines, Ordering::Relaxed);
        }
        text.clear();
        *lines = 0;
    }

    /// Waits for lines and swaps them with an empty batch; `false` at the end, when none are left.
    fn take(&self, batch: &mut Batch) -> bool {
        let mut waiting = self.waiting.lock();
        self.changed.wait_while(&mut waiting, |waiting| waiting.batch.lines.is_empty() && !waiting.is_closed);
        self.changed.wait_while_for(&mut waiting, |waiting| !waiting.is_urgent && !waiting.is_closed, GATHER);
        waiting.is_urgent = false;
        std::mem::swap(&mut waiting.batch, batch);
        !batch.lines.is_empty()
    }
}

#[cfg(test)]
#[path = "log_thread/tests.rs"]
mod tests;
