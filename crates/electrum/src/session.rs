//! One client: its requests in order, its subscriptions, and its notifications.

mod answers;
mod scripts;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::io::AsyncReadExt as _;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use crate::api::{Api, Changes, Fault, Holder, Identity, ScriptAnswer};
use crate::clients::{Charged, SessionPermit};
use crate::message::{Error, Line, Request};
use crate::methods::Call;
use crate::output::{Gone, Output, Stream, UNCOUNTED_BYTES_MAX};
use crate::script_hash::ScriptHash;
use crate::settings::ElectrumSettings;
use crate::version::Version;

/// Bytes read at a time.
const READ_BYTES: usize = 16 << 10;
/// Capacity of the read buffer of an idle session.
const IDLE_BYTES: usize = 1 << 10;
/// Most requests of lines that are processed together.
const TOGETHER_MAX: usize = 512;
/// Bytes of traffic that cost one.
const BYTES_PER_COST: f64 = 5_000.0;

/// The first half of a status: enough to see that it has changed.
type StatusMark = [u8; 16];

/// Shared state of all sessions of a listener.
pub(crate) struct Shared {
    pub(crate) identity: Identity,
    pub(crate) settings: Arc<ElectrumSettings>,
    pub(crate) stopping: watch::Receiver<bool>,
}

/// The session of one client.
pub(crate) struct Session {
    shared: Arc<Shared>,
    api: Arc<dyn Api>,
    permit: SessionPermit,
    changes: broadcast::Receiver<Arc<Changes>>,
    output: Output,
    input: Vec<u8>,
    held: Box<dyn Holder>,
    /// `None` until it is negotiated.
    version: Option<Version>,
    /// The last header sent to the client, once it has subscribed.
    tip: Option<[u8; 80]>,
    scripts: HashMap<ScriptHash, Option<StatusMark>>,
    /// Answers to the next queries about scripts, read together.
    ready: VecDeque<Result<ScriptAnswer, Fault>>,
    ready_held: Option<Box<dyn Send + Sync>>,
}

/// Why a session ends.
#[derive(Debug)]
enum End {
    /// The client has disconnected, or does not read its answers.
    Gone,
    /// The client has broken a limit or a rule, and has received an error.
    Closed,
}

impl From<Gone> for End {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

/// A request in progress, with the text before and after its answer.
struct Item<'l> {
    before: &'static str,
    id: Option<&'l RawValue>,
    call: Result<Call, Error>,
    /// Whether an answer is written: not for notifications.
    is_answered: bool,
    after: &'static str,
}

impl Session {
    pub(crate) fn new(
        shared: Arc<Shared>,
        api: Arc<dyn Api>,
        permit: SessionPermit,
        changes: broadcast::Receiver<Arc<Changes>>,
        stream: Box<dyn Stream>,
    ) -> Self {
        let output = Output::new(stream, shared.settings.write_timeout(), api.holder());
        let held = api.holder();
        Self {
            shared,
            api,
            permit,
            changes,
            output,
            input: Vec::new(),
            held,
            version: None,
            tip: None,
            scripts: HashMap::new(),
            ready: VecDeque::new(),
            ready_held: None,
        }
    }

    /// Serves the client until it disconnects, exceeds a limit, or the server stops.
    pub(crate) async fn run(mut self) {
        let mut stopping = self.shared.stopping.clone();
        tokio::select! {
            // An answer in progress is cut: clients reconnect.
            () = async { drop(stopping.wait_for(|stopping| *stopping).await) } => {}
            end = self.serve() => if let Err(End::Closed) = end {
                let _ = self.output.flush().await;
            }
        }
    }

    async fn serve(&mut self) -> Result<(), End> {
        let idle = self.shared.settings.idle();
        let mut deadline = tokio::time::Instant::now() + idle;
        loop {
            self.reserve()?;
            tokio::select! {
                biased;
                change = self.changes.recv() => match change {
                    Ok(change) => self.notify(Some(&change)).await?,
                    // All scripts may have changed meanwhile.
                    Err(RecvError::Lagged(_)) => self.notify(None).await?,
                    Err(RecvError::Closed) => return Err(End::Gone),
                },
                read = self.output.stream.read_buf(&mut self.input) => {
                    if !matches!(read, Ok(bytes) if bytes > 0) {
                        return Err(End::Gone);
                    }
                    if self.input.contains(&b'\n') {
                        deadline = tokio::time::Instant::now() + idle;
                        self.lines().await?;
                    }
                }
                () = tokio::time::sleep_until(deadline) => return Err(End::Gone),
            }
        }
    }

    /// Reserves buffer space for the next read.
    fn reserve(&mut self) -> Result<(), End> {
        let (length, max) = (self.input.len(), self.shared.settings.line_bytes_max);
        if length > max {
            return Err(End::Gone);
        }
        if length == 0 {
            self.input.shrink_to(IDLE_BYTES);
            self.held.shrink(0);
            self.input.reserve(IDLE_BYTES);
        } else if self.input.capacity() - length < READ_BYTES / 2 {
            let wanted = length + READ_BYTES.max(length / 2);
            self.held.shrink(wanted);
            self.count(wanted)?;
            self.input.reserve(wanted - length);
        }
        Ok(())
    }

    /// Counts so many bytes among those that the process holds; without memory for them the session ends.
    fn count(&mut self, bytes: usize) -> Result<(), End> {
        if bytes > UNCOUNTED_BYTES_MAX && !self.held.reach(bytes) { Err(End::Gone) } else { Ok(()) }
    }

    /// Answers all whole lines that were read.
    async fn lines(&mut self) -> Result<(), End> {
        if !self.api.may_go_on().await {
            return Err(End::Gone);
        }
        let input = std::mem::take(&mut self.input);
        let whole = input.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let (lines, rest) = input.split_at_checked(whole).unwrap_or((&[], &input));
        self.pay(traffic_cost(lines.len() as u64)).await?;
        let mut items: Vec<Item<'_>> = Vec::new();
        for line in lines.split(|byte| *byte == b'\n') {
            if !line.iter().all(u8::is_ascii_whitespace) {
                self.read_line(line, &mut items);
                // The lines, texts of theirs in the requests, and the requests themselves.
                self.count(2 * input.capacity() + items.capacity() * size_of::<Item<'_>>())?;
            }
            if items.len() >= TOGETHER_MAX {
                self.answer_all(&mut items).await?;
            }
        }
        self.answer_all(&mut items).await?;
        self.input = rest.to_vec();
        self.output.flush().await?;
        Ok(())
    }

    fn read_line<'l>(&self, line: &'l [u8], items: &mut Vec<Item<'l>>) {
        // Until it is negotiated, requests are those of the oldest version.
        let version = self.version.unwrap_or(Version::LEAST);
        let item = |entry: Result<Request<'l>, (Option<&'l RawValue>, Error)>| match entry {
            Ok(Request { id, method, params }) => {
                let call = Call::read(&method, params, version);
                Item { before: "", id, call, is_answered: id.is_some(), after: "" }
            }
            Err((id, error)) => Item { before: "", id, call: Err(error), is_answered: true, after: "" },
        };
        match Line::read(line, self.shared.settings.batch_entries_max) {
            Line::One(request) => {
                let item = item(request);
                let after = if item.is_answered { "\n" } else { "" };
                items.push(Item { after, ..item });
            }
            Line::Batch(entries) => {
                let begin = items.len();
                items.extend(entries.into_iter().map(item));
                let answered: Vec<usize> = (begin..items.len()).filter(|at| items[*at].is_answered).collect();
                for (index, at) in answered.iter().enumerate() {
                    items[*at].before = if index == 0 { "[" } else { "," };
                    if index + 1 == answered.len() {
                        items[*at].after = "]\n";
                    }
                }
            }
        }
    }

    /// Answers requests in their order. Adjacent queries about scripts are read together.
    async fn answer_all(&mut self, items: &mut Vec<Item<'_>>) -> Result<(), End> {
        for at in 0..items.len() {
            self.read_ready(&items[at..]).await;
            let item = &mut items[at];
            let call = std::mem::replace(&mut item.call, Err(Error::UnknownMethod));
            let before = self.output.bytes();
            let cost = call.as_ref().map_or(0.1, Call::cost);
            if item.is_answered {
                self.output.text(item.before).await?;
            }
            let id = item.id.filter(|_| item.is_answered);
            match call {
                Ok(call) => self.answer(id, call).await?,
                Err(error) if item.is_answered => self.output.error(item.id, &error).await?,
                Err(_) => {}
            }
            if item.is_answered {
                self.output.text(item.after).await?;
            }
            let bytes = self.output.bytes() - before;
            self.pay(cost + traffic_cost(bytes)).await?;
        }
        self.ready.clear();
        self.ready_held = None;
        items.clear();
        Ok(())
    }

    /// Adds to the cost of the client, and delays or ends the session above the limits.
    async fn pay(&mut self, cost: f64) -> Result<(), End> {
        match self.permit.charge(cost, tokio::time::Instant::now()) {
            Charged::Free => Ok(()),
            Charged::Wait(wait) => {
                if wait > Duration::from_millis(1) {
                    self.output.flush().await?;
                    tokio::time::sleep(wait).await;
                }
                Ok(())
            }
            Charged::TooMuch => {
                self.output.error(None, &Error::Excessive).await?;
                self.output.text("\n").await?;
                Err(End::Closed)
            }
        }
    }
}

/// Cost of so many bytes.
#[allow(clippy::cast_precision_loss)] // far below 2^52
fn traffic_cost(bytes: u64) -> f64 {
    bytes as f64 / BYTES_PER_COST
}
