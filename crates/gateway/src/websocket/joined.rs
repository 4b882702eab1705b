//! Relays a client's stream to that of an instance. Data is passed on unparsed; only the frame boundaries of the instance are
//! tracked, so that the close frame with the reason for the end is not sent in the middle of another frame.

use std::sync::Arc;

use hyper::upgrade::OnUpgrade;
use hyper::{HeaderMap, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;

use super::{
    ACCEPT, CLOSE_TIMEOUT, End, STANDING_EVERY, Streams, Upgrade, standing, stopped, switching_protocols,
    too_many_streams, upgrade_required,
};
use crate::errors::{ApiError, ErrorKind, kind};
use crate::respond::Reply;
use crate::state::RequestContext;

/// Bytes of an instance that may wait for a client which reads slowly, beside those of the connections themselves.
const PART_BYTES: usize = 16 << 10;

/// Joins a client's connection to that of an instance which has accepted its handshake, until one of them ends, the server stops,
/// or the caller's key is no longer valid. In the last two cases the client gets the close frame that an instance would send,
/// unless a frame of the instance has begun and its rest does not come in time.
///
/// # Errors
/// 426 without a handshake of the client, 502 where the instance's is none, 503 when too many streams are open.
pub fn join(
    context: &RequestContext,
    upgrade: Option<Upgrade>,
    headers: &HeaderMap,
    instance: OnUpgrade,
) -> Result<Reply, ApiError> {
    let Some(Upgrade { connection, credential }) = upgrade else { return Err(upgrade_required()) };
    let accepted = headers.get(ACCEPT).cloned();
    let accepted = accepted.ok_or_else(|| {
        ApiError::new(
            ErrorKind { status: StatusCode::BAD_GATEWAY, ..kind::UPSTREAM_UNAVAILABLE },
            "the instance did not accept the stream",
        )
    })?;
    let shared = Arc::clone(context.shared_handle());
    let permit = Streams::enter(context).ok_or_else(too_many_streams)?;
    let mut stopping = shared.streams.stopping.subscribe();
    tokio::spawn(async move {
        let _permit = permit;
        let (Ok(client), Ok(instance)) = tokio::join!(connection, instance) else { return };
        let ending = async {
            let mut standing_every = tokio::time::interval(STANDING_EVERY);
            loop {
                tokio::select! {
                    _ = standing_every.tick() => if let Err(end) = standing(&shared, &credential).await { return end },
                    () = stopped(&mut stopping) => return End::Shutdown,
                }
            }
        };
        relay_both(TokioIo::new(client), TokioIo::new(instance), ending).await;
    });
    Ok(switching_protocols(accepted))
}

/// Relays data in both directions until one side disconnects, or `ending` resolves with a reason to send to the client.
async fn relay_both<C, I>(client: C, instance: I, ending: impl Future<Output = End>)
where
    C: AsyncRead + AsyncWrite,
    I: AsyncRead + AsyncWrite,
{
    let (mut from_client, to_client) = tokio::io::split(client);
    let (from_instance, mut to_instance) = tokio::io::split(instance);
    let mut down = Down::new(from_instance, to_client);
    let end = {
        let up = async {
            // The instance may still send its last frame.
            match tokio::io::copy(&mut from_client, &mut to_instance).await {
                Ok(_) if to_instance.shutdown().await.is_ok() => std::future::pending().await,
                _ => tokio::time::sleep(CLOSE_TIMEOUT).await,
            }
        };
        tokio::select! {
            end = ending => Some(end),
            () = up => None,
            () = down.hand_on() => None,
        }
    };
    let last = async {
        if let Some(end) = end
            && down.end_frame().await
        {
            let _ = down.client.write_all(&close_frame(&end.frame())).await;
        }
        let _ = down.client.shutdown().await;
    };
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, last).await;
}

/// A frame of a server that ends a stream (RFC 6455, section 5.5.1).
fn close_frame(why: &CloseFrame) -> Vec<u8> {
    // A control frame holds 125 bytes, and all reasons are short.
    let reason = &why.reason.as_bytes()[..why.reason.len().min(123)];
    let length = u8::try_from(2 + reason.len()).unwrap_or(125);
    [&[0x88, length], &u16::from(why.code).to_be_bytes()[..], reason].concat()
}

/// The direction from an instance to a client.
struct Down<R, W> {
    instance: R,
    client: W,
    part: Box<[u8]>,
    /// Bytes read and not yet sent to the client.
    waiting: std::ops::Range<usize>,
    frames: Frames,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Down<R, W> {
    fn new(instance: R, client: W) -> Self {
        Self { instance, client, part: vec![0; PART_BYTES].into(), waiting: 0..0, frames: Frames::default() }
    }

    /// Relays until one of the two disconnects. Cancel-safe: the state of the frames is kept.
    async fn hand_on(&mut self) {
        while self.step(PART_BYTES).await {}
    }

    /// Relays the rest of a frame that has begun; whether it is complete.
    async fn end_frame(&mut self) -> bool {
        while let Some(wanted) = self.frames.wanted() {
            if !self.step(wanted).await {
                return false;
            }
        }
        true
    }

    /// Reads, or sends at most `bytes_max` of the bytes read; whether both sides are still connected.
    async fn step(&mut self, bytes_max: usize) -> bool {
        if self.waiting.is_empty() {
            let read = self.instance.read(&mut self.part).await.unwrap_or(0);
            self.waiting = 0..read;
            return read > 0;
        }
        let begin = self.waiting.start;
        let end = self.waiting.end.min(begin.saturating_add(bytes_max));
        let written = self.client.write(&self.part[begin..end]).await.unwrap_or(0);
        self.frames.pass(&self.part[begin..begin + written]);
        self.waiting.start += written;
        written > 0 && self.client.flush().await.is_ok()
    }
}

/// Position in the frames of a stream (RFC 6455, section 5.2).
#[derive(Debug, Default)]
struct Frames {
    /// Bytes of the head that have passed; at most 14.
    head: Vec<u8>,
    /// Bytes that are left of the payload.
    payload: u64,
}

impl Frames {
    fn pass(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let skipped = usize::try_from(self.payload).unwrap_or(usize::MAX).min(bytes.len());
            self.payload -= skipped as u64;
            bytes = &bytes[skipped..];
            let Some((first, rest)) = bytes.split_first() else { return };
            self.head.push(*first);
            bytes = rest;
            if self.head.len() == self.head_bytes() {
                self.payload = self.payload_bytes();
                self.head.clear();
            }
        }
    }

    /// Length of the head, as far as its bytes have passed.
    fn head_bytes(&self) -> usize {
        let Some(second) = self.head.get(1) else { return 2 };
        let length = match second & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        // A server must not mask; masked frames are tracked nevertheless.
        2 + length + if second & 0x80 == 0 { 0 } else { 4 }
    }

    fn payload_bytes(&self) -> u64 {
        let of = |bytes: &[u8]| bytes.iter().fold(0, |length, byte| length << 8 | u64::from(*byte));
        match self.head[1] & 0x7f {
            126 => of(&self.head[2..4]),
            127 => of(&self.head[2..10]),
            short => short.into(),
        }
    }

    /// Bytes that certainly belong to the current frame; `None` between two frames.
    fn wanted(&self) -> Option<usize> {
        if self.payload > 0 {
            return Some(usize::try_from(self.payload).unwrap_or(usize::MAX));
        }
        (!self.head.is_empty()).then(|| self.head_bytes() - self.head.len())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use tokio::io::duplex;
    use tokio::sync::oneshot;

    use super::*;

    fn frame(length: usize, is_masked: bool) -> Vec<u8> {
        let mask = if is_masked { 0x80 } else { 0 };
        let mut frame = vec![0x82];
        match (u8::try_from(length), u16::try_from(length)) {
            (Ok(short @ 0..=125), _) => frame.push(short | mask),
            (_, Ok(medium)) => {
                frame.push(0x7e | mask);
                frame.extend(medium.to_be_bytes());
            }
            _ => {
                frame.push(0x7f | mask);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.resize(frame.len() + if is_masked { 4 } else { 0 } + length, 0xff);
        frame
    }

    proptest! {
        #[test]
        fn the_end_of_each_frame_is_found_however_the_stream_is_cut(
            lengths in proptest::collection::vec((0usize..70_000, any::<bool>()), 1..6),
            cuts in proptest::collection::vec(1usize..40_000, 1..30),
        ) {
            let mut ends = std::collections::HashSet::from([0]);
            let mut bytes = Vec::new();
            for (length, is_masked) in lengths {
                bytes.extend(frame(length, is_masked));
                ends.insert(bytes.len());
            }
            let (mut frames, mut at) = (Frames::default(), 0);
            for cut in cuts.iter().cycle() {
                let next = (at + cut).min(bytes.len());
                frames.pass(&bytes[at..next]);
                at = next;
                prop_assert_eq!(frames.wanted().is_none(), ends.contains(&at), "{}", at);
                if let Some(wanted) = frames.wanted() {
                    let end = ends.iter().copied().filter(|end| *end > at).min().unwrap();
                    prop_assert!(wanted > 0 && at + wanted <= end);
                }
                if at == bytes.len() {
                    break;
                }
            }
        }
    }

    #[test]
    fn no_length_is_too_large_to_be_followed() {
        let mut frames = Frames::default();
        frames.pass(&[0x82, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2]);
        assert_eq!(frames.payload, u64::MAX - 2);
    }

    /// A client, an instance, and the sender that ends their relay.
    fn relay() -> (tokio::io::DuplexStream, tokio::io::DuplexStream, oneshot::Sender<End>) {
        let (client, ours) = duplex(64);
        let (instance, theirs) = duplex(64);
        let (end, ended) = oneshot::channel();
        tokio::spawn(relay_both(ours, theirs, async { ended.await.unwrap() }));
        (client, instance, end)
    }

    #[tokio::test]
    async fn a_client_gets_the_reason_for_the_end_of_its_stream() {
        for (end, code) in [(End::KeyRevoked, 4001_u16), (End::Shutdown, 1001), (End::Internal, 1011)] {
            let (mut client, mut instance, ending) = relay();
            client.write_all(b"up").await.unwrap();
            let mut up = [0; 2];
            instance.read_exact(&mut up).await.unwrap();
            let (whole, mut first) = (frame(1_000, false), vec![0; 500]);
            let (sent, read) = tokio::join!(instance.write_all(&whole[..500]), client.read_exact(&mut first));
            assert!(sent.is_ok() && read.is_ok());
            ending.send(end).unwrap();
            // The frame that has begun is completed before anything else is sent, and no other follows it.
            let rest = [&whole[500..], &frame(3, false)].concat();
            tokio::spawn(async move {
                let _ = instance.write_all(&rest).await;
                std::future::pending::<()>().await;
            });
            let mut received = Vec::new();
            client.read_to_end(&mut received).await.unwrap();
            let (last, close) = received.split_at(whole.len() - 500);
            assert_eq!([&first, last].concat(), whole);
            assert_eq!(
                (close[0], usize::from(close[1]), &close[2..4]),
                (0x88, close.len() - 2, &code.to_be_bytes()[..])
            );
        }
    }

    #[tokio::test]
    async fn nothing_is_sent_in_the_middle_of_a_frame() {
        let (mut client, mut instance, ending) = relay();
        let half = frame(100, false)[..60].to_vec();
        instance.write_all(&half).await.unwrap();
        let mut received = vec![0; half.len()];
        client.read_exact(&mut received).await.unwrap();
        ending.send(End::KeyRevoked).unwrap();
        let mut more = Vec::new();
        let ended = tokio::time::timeout(CLOSE_TIMEOUT + Duration::from_secs(1), client.read_to_end(&mut more)).await;
        assert!(ended.is_ok() && more.is_empty(), "{more:?}");
    }

    #[tokio::test]
    async fn the_last_data_of_each_side_is_relayed() {
        let (mut client, mut instance, _ending) = relay();
        instance.write_all(&frame(5, false)).await.unwrap();
        drop(instance);
        let mut received = Vec::new();
        client.read_to_end(&mut received).await.unwrap();
        assert_eq!(received, frame(5, false));

        let (mut client, mut instance, _ending) = relay();
        client.write_all(b"last").await.unwrap();
        client.shutdown().await.unwrap();
        let mut relayed = Vec::new();
        instance.read_to_end(&mut relayed).await.unwrap();
        assert_eq!(relayed, b"last");
        instance.write_all(&frame(2, false)).await.unwrap();
        drop(instance);
        let mut received = Vec::new();
        client.read_to_end(&mut received).await.unwrap();
        assert_eq!(received, frame(2, false));
    }
}
