//! Messages between the server and a worker: frames of a length (4 bytes, lowest first), a kind (1 byte) and JSON.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::outcome::ScriptError;
use crate::sandbox::CallError;

/// Length and kind.
const HEAD_BYTES: usize = 5;

/// The content of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// To the worker: run a script ([`RunScript`]).
    Run = 1,
    /// To the worker: is this Lua ([`CheckSource`])?
    Check = 2,
    /// To the worker: the answer to a call of `_RPC`, unchanged.
    Answer = 3,
    /// To the worker: a call failed ([`CallError`]).
    Failure = 4,
    /// From the worker: call a method ([`CallMethod`]).
    Call = 5,
    /// From the worker: the result, unchanged.
    Returned = 6,
    /// From the worker: no result ([`ScriptError`]), or what is wrong with a source.
    Ended = 7,
    /// From the worker, first and only once: it is ready, and how it is isolated ([`crate::WorkerIsolation`]).
    Ready = 8,
}

impl Kind {
    fn of(byte: u8) -> io::Result<Self> {
        let kinds =
            [Self::Run, Self::Check, Self::Answer, Self::Failure, Self::Call, Self::Returned, Self::Ended, Self::Ready];
        let kind = kinds.into_iter().find(|kind| *kind as u8 == byte);
        kind.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a frame of an unknown kind"))
    }
}

/// A script with its budgets.
#[derive(Serialize, Deserialize)]
pub(crate) struct RunScript {
    pub(crate) settings: crate::LuaSettings,
    pub(crate) source: String,
    pub(crate) arguments: Vec<Box<RawValue>>,
    pub(crate) methods: Vec<String>,
}

/// A source with the budgets for parsing it.
#[derive(Serialize, Deserialize)]
pub(crate) struct CheckSource {
    pub(crate) settings: crate::LuaSettings,
    pub(crate) source: String,
}

/// A call of `_RPC`.
#[derive(Serialize, Deserialize)]
pub(crate) struct CallMethod {
    pub(crate) method: String,
    pub(crate) params: Box<RawValue>,
}

/// One frame.
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    pub(crate) fn of(kind: Kind, value: &impl Serialize) -> io::Result<Self> {
        Ok(Self { kind, payload: serde_json::to_vec(value)? })
    }

    pub(crate) fn raw(kind: Kind, value: &RawValue) -> Self {
        Self { kind, payload: value.get().as_bytes().to_vec() }
    }

    /// The outcome of a script.
    pub(crate) fn ended(result: &Result<Box<RawValue>, ScriptError>) -> io::Result<Self> {
        match result {
            Ok(returned) => Ok(Self::raw(Kind::Returned, returned)),
            Err(error) => Self::of(Kind::Ended, error),
        }
    }

    /// The answer to a call.
    pub(crate) fn answered(answer: &Result<Box<RawValue>, CallError>) -> io::Result<Self> {
        match answer {
            Ok(answer) => Ok(Self::raw(Kind::Answer, answer)),
            Err(error) => Self::of(Kind::Failure, error),
        }
    }

    pub(crate) fn read<T: DeserializeOwned>(&self) -> io::Result<T> {
        Ok(serde_json::from_slice(&self.payload)?)
    }

    fn head(&self) -> io::Result<[u8; HEAD_BYTES]> {
        let length = u32::try_from(self.payload.len()).map_err(|_| too_long())?;
        let [a, b, c, d] = length.to_le_bytes();
        Ok([a, b, c, d, self.kind as u8])
    }

    /// Sends a frame from a worker.
    pub(crate) fn send(&self, mut out: impl Write) -> io::Result<()> {
        out.write_all(&self.head()?)?;
        out.write_all(&self.payload)?;
        out.flush()
    }

    /// Reads a frame in a worker; `None` when the server has closed its side.
    pub(crate) fn receive(mut from: impl Read) -> io::Result<Option<Self>> {
        let mut head = [0; HEAD_BYTES];
        match from.read_exact(&mut head) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let (length, kind) = parts(head)?;
        let mut payload = vec![0; length];
        from.read_exact(&mut payload)?;
        Ok(Some(Self { kind, payload }))
    }

    /// As [`Frame::send`] at the server.
    pub(crate) async fn send_to(&self, out: &mut (impl tokio::io::AsyncWrite + Unpin)) -> io::Result<()> {
        out.write_all(&self.head()?).await?;
        out.write_all(&self.payload).await?;
        out.flush().await
    }

    /// Reads a frame at the server, which does not trust a worker: nothing longer than `bytes_max` is taken.
    pub(crate) async fn receive_from(
        from: &mut (impl tokio::io::AsyncRead + Unpin),
        bytes_max: usize,
    ) -> io::Result<Self> {
        let mut head = [0; HEAD_BYTES];
        from.read_exact(&mut head).await?;
        let (length, kind) = parts(head)?;
        if length > bytes_max {
            return Err(too_long());
        }
        let mut payload = vec![0; length];
        from.read_exact(&mut payload).await?;
        Ok(Self { kind, payload })
    }
}

fn parts(head: [u8; HEAD_BYTES]) -> io::Result<(usize, Kind)> {
    let [a, b, c, d, kind] = head;
    Ok((u32::from_le_bytes([a, b, c, d]) as usize, Kind::of(kind)?))
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a frame is too long")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_as_they_were_sent_and_broken_ones_are_refused() {
        let mut bytes = Vec::new();
        Frame { kind: Kind::Call, payload: b"{}".to_vec() }.send(&mut bytes).unwrap();
        Frame { kind: Kind::Ended, payload: Vec::new() }.send(&mut bytes).unwrap();
        let mut from = bytes.as_slice();
        let first = Frame::receive(&mut from).unwrap().unwrap();
        assert_eq!((first.kind, first.payload.as_slice()), (Kind::Call, &b"{}"[..]));
        assert_eq!(Frame::receive(&mut from).unwrap().unwrap().kind, Kind::Ended);
        assert!(Frame::receive(&mut from).unwrap().is_none());
        assert!(Frame::receive(&[9, 0, 0, 0, 5, 1][..]).is_err());
        assert!(Frame::receive(&[0, 0, 0, 0, 99][..]).is_err());
    }

    #[tokio::test]
    async fn a_frame_that_says_it_is_huge_is_refused_before_it_is_read() {
        let mut from = &[255, 255, 255, 255, 6][..];
        assert!(Frame::receive_from(&mut from, 1 << 20).await.is_err());
    }
}
