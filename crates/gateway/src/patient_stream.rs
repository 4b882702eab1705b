//! Connections with a time limit for clients that read too slowly.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

use crate::limits::Limits;

/// A connection that fails when its client reads no byte of an answer for too long, or reads too slowly.
pub(crate) struct PatientStream {
    stream: TcpStream,
    patience: Patience,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl PatientStream {
    pub(crate) fn new(stream: TcpStream, limits: &Limits) -> Self {
        Self { stream, patience: Patience::new(limits), waiting: None }
    }

    fn watch(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(bytes) = &written {
            if self.waiting.is_some() {
                self.waiting = None;
            }
            self.patience.written(*bytes.as_ref().unwrap_or(&0));
            return written;
        }
        let end = self.patience.waits(Instant::now());
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(end)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::Error::from(io::ErrorKind::TimedOut))),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Budget of waiting time of a client. Each byte that it reads adds the time of a byte at the minimum rate.
struct Patience {
    lag_max: Duration,
    bytes_per_second_min: u64,
    /// Time waited, less the time earned by bytes read.
    lag: Duration,
    since: Option<Instant>,
}

impl Patience {
    fn new(limits: &Limits) -> Self {
        let bytes_per_second_min = limits.write_bytes_per_second_min.max(1);
        Self { lag_max: limits.write_timeout(), bytes_per_second_min, lag: Duration::ZERO, since: None }
    }

    /// Records that the client reads nothing now, and returns until when that may last.
    fn waits(&mut self, now: Instant) -> Instant {
        *self.since.get_or_insert(now) + self.lag_max.saturating_sub(self.lag)
    }

    /// Records bytes that the client has read.
    fn written(&mut self, bytes: usize) {
        if let Some(since) = self.since.take() {
            self.lag += since.elapsed();
        }
        // Nearly every client reads all at once.
        if !self.lag.is_zero() {
            let bought = (bytes as u64).saturating_mul(1_000_000) / self.bytes_per_second_min;
            self.lag = self.lag.saturating_sub(Duration::from_micros(bought));
        }
    }
}

impl AsyncRead for PatientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for PatientStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patience() -> Patience {
        let limits = Limits { write_timeout_ms: 1_000, write_bytes_per_second_min: 1_000, ..Limits::default() };
        Patience::new(&limits)
    }

    /// The client reads `bytes` after `wait`.
    fn takes(patience: &mut Patience, bytes: usize, wait: Duration) -> Duration {
        let began = Instant::now();
        let end = patience.waits(began);
        patience.since = began.checked_sub(wait);
        patience.written(bytes);
        end - began
    }

    #[test]
    fn a_client_that_takes_a_little_at_a_time_runs_out_of_it() {
        let mut patience = patience();
        let second = Duration::from_secs(1);
        let left: Vec<Duration> = (0..4).map(|_| takes(&mut patience, 10, second / 3)).collect();
        assert_eq!(left[0], second);
        assert!(left.is_sorted_by(|one, next| one > next) && left[3] < second / 10, "{left:?}");
    }

    #[test]
    fn a_client_at_the_least_rate_keeps_it_and_time_without_an_answer_costs_nothing() {
        let mut patience = patience();
        for _ in 0..100 {
            let left = takes(&mut patience, 500, Duration::from_millis(490));
            assert!(left > Duration::from_millis(990), "{left:?}");
        }
        patience.written(10);
        assert_eq!(patience.lag, Duration::ZERO);
    }
}
