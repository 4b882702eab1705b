use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::time::Instant;

use crate::errors::Refusal;

/// What is read and thrown away of a body that is refused.
const DISCARDED_BYTES_MAX: u64 = 8 << 20;
/// How long a refused client may go on sending.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(2);

/// How large a body may be.
pub(crate) struct BodyLimit<'a> {
    /// Any body.
    pub(crate) bytes_max: usize,
    /// A body whose beginning is accepted by `is_large`.
    pub(crate) large_bytes_max: usize,
    /// Looks at the first `bytes_max` bytes of a body that is longer.
    pub(crate) is_large: &'a (dyn Fn(&[u8]) -> bool + Sync),
}

/// Reads a whole body within `timeout`, holding no more than the limit in memory.
pub(crate) async fn read(body: &mut Incoming, limit: &BodyLimit<'_>, timeout: Duration) -> Result<Bytes, Refusal> {
    let deadline = Instant::now() + timeout;
    if body.size_hint().lower() > limit.large_bytes_max as u64 {
        return Err(Refusal::BodyTooLarge);
    }
    let mut whole = BytesMut::new();
    let mut bytes_max = limit.bytes_max;
    loop {
        let frame = tokio::time::timeout_at(deadline, body.frame()).await.map_err(|_| Refusal::BodyTooSlow)?;
        let Some(frame) = frame else { return Ok(whole.freeze()) };
        let Ok(piece) = frame.map_err(|_| Refusal::BodyBroken)?.into_data() else { continue };
        if whole.len() + piece.len() > bytes_max {
            let room = bytes_max - whole.len();
            whole.extend_from_slice(&piece[..room]);
            let may_be_larger = bytes_max < limit.large_bytes_max && (limit.is_large)(&whole);
            if !may_be_larger || whole.len() + piece.len() - room > limit.large_bytes_max {
                return Err(Refusal::BodyTooLarge);
            }
            bytes_max = limit.large_bytes_max;
            whole.extend_from_slice(&piece[room..]);
        } else {
            whole.extend_from_slice(&piece);
        }
    }
}

/// Reads the rest of a body that nobody wants, up to a bound: a client that is still sending when the connection closes
/// would lose the answer.
pub(crate) async fn discard(body: &mut Incoming) {
    if body.is_end_stream() || body.size_hint().lower() > DISCARDED_BYTES_MAX {
        return;
    }
    let deadline = Instant::now() + DISCARD_TIMEOUT;
    let mut discarded = 0;
    while discarded <= DISCARDED_BYTES_MAX {
        let Ok(Some(Ok(frame))) = tokio::time::timeout_at(deadline, body.frame()).await else { return };
        discarded += frame.data_ref().map_or(0, |piece| piece.len() as u64);
    }
}
