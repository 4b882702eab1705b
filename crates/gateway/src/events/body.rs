//! The body of a streamed answer, which ends when the client disconnects.

use std::io;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::Frame;
use tokio::sync::mpsc;

/// Texts of a stream. The producer waits until the previous text has been consumed.
#[derive(Debug)]
pub struct EventBody(mpsc::Receiver<Bytes>);

impl EventBody {
    /// A body, and where its texts go.
    pub fn new() -> (mpsc::Sender<Bytes>, Self) {
        let (sender, receiver) = mpsc::channel(1);
        (sender, Self(receiver))
    }

    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.0.poll_recv(context).map(|part| part.map(|part| Ok(Frame::data(part))))
    }
}
