//! The body of an answer: complete, or partly read and still being received.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::events::EventBody;

/// The body of an answer of this server.
pub(crate) enum AnswerBody {
    /// A complete body.
    Whole(Full<Bytes>),
    /// A body that an instance is still sending.
    Streamed(Box<Streamed>),
    /// A stream that ends when the client disconnects.
    Events(Box<EventBody>),
}

/// A body of which the beginning has been read.
pub(crate) struct Streamed {
    begin: Option<Bytes>,
    rest: Incoming,
    /// Total bytes, if the instance sent `Content-Length`.
    length: Option<u64>,
    patience: Duration,
    waiting: Pin<Box<Sleep>>,
}

impl Streamed {
    pub(super) fn new(begin: Bytes, rest: Incoming, length: Option<u64>, patience: Duration) -> Self {
        Self { begin: Some(begin), rest, length, patience, waiting: Box::pin(tokio::time::sleep(patience)) }
    }

    /// The part that has been read, before any of it is sent.
    pub(super) fn begin_mut(&mut self) -> &mut Bytes {
        self.begin.get_or_insert_default()
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self.get_mut() {
            Self::Whole(body) => Pin::new(body).poll_frame(context).map_err(|never| match never {}),
            Self::Streamed(body) => body.poll(context),
            Self::Events(body) => body.poll(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_end_stream(),
            Self::Streamed(body) => body.begin.is_none() && body.rest.is_end_stream(),
            Self::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => body.size_hint(),
            Self::Events(_) => SizeHint::default(),
            Self::Streamed(body) => match (&body.begin, body.length) {
                (Some(_), Some(length)) => SizeHint::with_exact(length),
                (Some(_), None) => SizeHint::default(),
                (None, _) => body.rest.size_hint(),
            },
        }
    }
}

impl Streamed {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(begin) = self.begin.take() {
            return Poll::Ready(Some(Ok(Frame::data(begin))));
        }
        match Pin::new(&mut self.rest).poll_frame(context) {
            Poll::Ready(frame) => {
                let next = Instant::now() + self.patience;
                self.waiting.as_mut().reset(next);
                Poll::Ready(frame.map(|frame| frame.map_err(io::Error::other)))
            }
            Poll::Pending => match self.waiting.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(Some(Err(io::ErrorKind::TimedOut.into()))),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}
