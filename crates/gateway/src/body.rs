use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Frame, Incoming};
use tokio::time::Instant;

use crate::byte_budget::{HeldBytes, HeldFor, UNCOUNTED_BYTES_MAX};
use crate::deadline::SteadyTimer;
use crate::errors::Refusal;
use crate::state::RequestContext;

/// Bytes of a refused body that are read and discarded.
const DISCARDED_BYTES_MAX: u64 = 8 << 20;
/// How long a refused client may go on sending.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(2);
/// Bytes that are read ahead while a client waits for its turn.
const HELD_BYTES_MAX: usize = 64 << 10;

/// The body of one request, as it is received.
pub(crate) struct RequestBody {
    /// The rest of the body; `None` for a body that was made here.
    incoming: Option<Incoming>,
    held: VecDeque<Bytes>,
    /// Reading ahead has failed.
    broken: bool,
}

/// How large a body may be.
pub(crate) struct BodyLimit<'a> {
    /// The request whose count of held bytes includes the body.
    pub(crate) context: &'a RequestContext,
    /// Any body.
    pub(crate) bytes_max: usize,
    /// A body whose beginning is accepted by `is_large`.
    pub(crate) large_bytes_max: usize,
    /// Looks at the first `bytes_max` bytes of a body that is longer.
    pub(crate) is_large: &'a (dyn Fn(&[u8]) -> bool + Sync),
}

impl RequestBody {
    pub(crate) fn new(incoming: Incoming) -> Self {
        Self { incoming: Some(incoming), held: VecDeque::new(), broken: false }
    }

    /// A body that is already in memory.
    pub(crate) fn whole(body: Bytes) -> Self {
        Self { incoming: None, held: VecDeque::from([body]), broken: false }
    }

    /// The next frame from the client; `None` at the end.
    async fn frame(&mut self) -> Option<Result<Frame<Bytes>, hyper::Error>> {
        self.incoming.as_mut()?.frame().await
    }

    /// Whether the client has sent all of it.
    fn has_come(&self) -> bool {
        self.incoming.as_ref().is_none_or(Incoming::is_end_stream)
    }

    /// Bytes that are announced and not yet received.
    fn announced(&self) -> u64 {
        self.incoming.as_ref().map_or(0, |incoming| incoming.size_hint().lower())
    }

    /// Reads ahead for as long as it is polled: only after the end of the body can the server see that the client has disconnected.
    /// For a body longer than the read-ahead buffer that is not seen until the body is read.
    pub(crate) async fn hold(&mut self) {
        let mut bytes = 0;
        while bytes < HELD_BYTES_MAX && !self.has_come() {
            match self.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(piece) = frame.into_data() {
                        bytes += piece.len();
                        self.held.push_back(piece);
                    }
                }
                Some(Err(_)) => self.broken = true,
                None => break,
            }
            if self.broken {
                break;
            }
        }
        std::future::pending::<()>().await;
    }

    /// The next piece; `None` at the end.
    async fn piece(&mut self) -> Result<Option<Bytes>, Refusal> {
        if let Some(piece) = self.held.pop_front() {
            return Ok(Some(piece));
        }
        if self.broken {
            return Err(Refusal::BodyBroken);
        }
        while let Some(frame) = self.frame().await {
            if let Ok(piece) = frame.map_err(|_| Refusal::BodyBroken)?.into_data() {
                return Ok(Some(piece));
            }
        }
        Ok(None)
    }

    /// Whether all of it has been read.
    pub(crate) fn is_over(&self) -> bool {
        self.held.is_empty() && !self.broken && self.has_come()
    }

    /// Reads the whole within `timeout`, holding no more than the limit in memory.
    pub(crate) async fn read(
        &mut self,
        limit: &BodyLimit<'_>,
        timer: &SteadyTimer,
        timeout: Duration,
    ) -> Result<Bytes, Refusal> {
        if self.announced() > limit.large_bytes_max as u64 {
            return Err(Refusal::BodyTooLarge);
        }
        let read = pin!(self.read_all(limit));
        timer.within(timeout, read).await.map_err(|_| Refusal::BodyTooSlow)?
    }

    async fn read_all(&mut self, limit: &BodyLimit<'_>) -> Result<Bytes, Refusal> {
        let Some(first) = self.piece().await? else { return Ok(Bytes::new()) };
        if self.is_over() && first.len() <= limit.bytes_max.min(UNCOUNTED_BYTES_MAX) {
            return Ok(first);
        }
        let mut held = None;
        let mut whole = BytesMut::new();
        let mut bytes_max = limit.bytes_max;
        let mut next = Some(first);
        while let Some(piece) = next {
            if whole.len() + piece.len() > UNCOUNTED_BYTES_MAX {
                Box::pin(hold(&mut held, limit, whole.len() + piece.len())).await?;
            }
            if whole.len() + piece.len() > bytes_max {
                let free = bytes_max - whole.len();
                whole.extend_from_slice(&piece[..free]);
                let may_be_larger = bytes_max < limit.large_bytes_max && (limit.is_large)(&whole);
                if !may_be_larger || whole.len() + piece.len() - free > limit.large_bytes_max {
                    return Err(Refusal::BodyTooLarge);
                }
                bytes_max = limit.large_bytes_max;
                whole.extend_from_slice(&piece[free..]);
            } else {
                whole.extend_from_slice(&piece);
            }
            next = self.piece().await?;
        }
        Ok(match held {
            Some(held) => held.with(whole.freeze()),
            None => whole.freeze(),
        })
    }

    /// Reads the rest of an unused body, up to a bound: a client that is still sending when the connection closes
    /// would lose the answer.
    pub(crate) async fn discard(&mut self) {
        if self.announced() > DISCARDED_BYTES_MAX {
            return;
        }
        let deadline = Instant::now() + DISCARD_TIMEOUT;
        let mut discarded = 0;
        while discarded <= DISCARDED_BYTES_MAX {
            let Ok(Some(Ok(frame))) = tokio::time::timeout_at(deadline, self.frame()).await else { return };
            discarded += frame.data_ref().map_or(0, |piece| piece.len() as u64);
        }
    }
}

/// Counts a body among the bytes that the process holds.
async fn hold(held: &mut Option<Box<HeldBytes>>, limit: &BodyLimit<'_>, bytes: usize) -> Result<(), Refusal> {
    held.get_or_insert_with(|| Box::new(limit.context.held_bytes(HeldFor::Bodies)))
        .reach(bytes.min(limit.large_bytes_max))
        .await
}
