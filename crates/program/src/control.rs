//! The control socket of a running instance: requests of the operator's own commands, made on the same machine.
//!
//! `<data_dir>/control.sock` is a Unix socket that only its owner may use. A connection carries one request, one line of JSON,
//! and gets lines of JSON until the request is done or refused. A client that hangs up gives its request up.

mod client;
mod server;
mod socket_path;

use std::path::PathBuf;

use paraffin_store::snapshot_file::SnapshotProgress;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rows_file::{ExportRequest, RowsProgress};

pub(crate) use client::find;
pub(crate) use server::Control;

/// Name of the socket in the data folder.
pub(crate) const NAME: &str = "control.sock";

/// The control socket cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ControlError {
    /// The path does not fit into a socket address, and `/proc` offers no shorter one.
    #[error("the path {0} is too long for a Unix socket: give a data folder with a shorter path")]
    TooLong(PathBuf),
    /// The system refuses.
    #[error("{path}: {source}", path = .path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// The instance closed the connection before its last line.
    #[error("the instance ended before the answer was whole; see its log")]
    Gone,
    /// The other side uses another version of the protocol.
    #[error("the instance is of another version: use the program that it runs")]
    OtherVersion,
    /// The instance refused the request.
    #[error("{0}")]
    Refused(String),
}

/// Requests to the instance.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
enum Request {
    /// Write the index into a new file.
    SnapshotExport {
        /// The file, an absolute path.
        file: PathBuf,
        /// Most bytes that are written in one second.
        #[serde(default)]
        bytes_per_second: Option<u64>,
    },
    /// Write rows of the index into a file.
    Export(ExportRequest),
}

/// A line of the answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// Progress of a snapshot.
    Progress {
        /// See [`SnapshotProgress::bytes`].
        bytes: u64,
        /// See [`SnapshotProgress::bytes_total`].
        bytes_total: u64,
        /// See [`SnapshotProgress::rows`].
        rows: u64,
    },
    /// Progress of an export of rows.
    Rows(RowsProgress),
    /// The request is done; the summary that the command prints.
    Done(Value),
    /// The request failed; the reason.
    Refused(String),
}

impl From<SnapshotProgress> for Line {
    fn from(now: SnapshotProgress) -> Self {
        Self::Progress { bytes: now.bytes, bytes_total: now.bytes_total, rows: now.rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_what_is_known_and_nothing_more() {
        let read = serde_json::from_str::<Request>;
        let plain = read(r#"{"do":"snapshot-export","file":"/tmp/x"}"#).unwrap();
        assert_eq!(plain, Request::SnapshotExport { file: "/tmp/x".into(), bytes_per_second: None });
        let rows = read(r#"{"do":"export","dataset":"swaps","file":"/tmp/x"}"#).unwrap();
        let Request::Export(rows) = rows else { panic!("{rows:?}") };
        assert_eq!((rows.from, rows.to, rows.force), (0, None, false));
        for wrong in [
            r#"{"do":"export","dataset":"swaps"}"#,
            r#"{"do":"export","dataset":"swap","file":"/tmp/x"}"#,
            r#"{"do":"export","dataset":"swaps","file":"/tmp/x","from":-1}"#,
            r#"{"do":"export","dataset":"swaps","file":"/tmp/x","more":1}"#,
            "",
            "[]",
            "{}",
            r#"{"do":"stop"}"#,
            r#"{"do":"snapshot-export"}"#,
            r#"{"do":"snapshot-export","file":7}"#,
            r#"{"do":"snapshot-export","file":"/tmp/x","bytes_per_second":-1}"#,
            r#"{"do":"snapshot-export","file":"/tmp/x","more":1}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
