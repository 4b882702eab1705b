//! Access log lines: the fields that a worker queues for each request, and the text that the log thread renders.
//!
//! The text is byte for byte that of a `tracing` event with these fields within the span of the connection, so that all lines of a log have
//! one form.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::IpAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use time::OffsetDateTime;

use crate::log_thread::LogForm;
use crate::redact::redacted_path;
use crate::request_id::{CONNECTION_DIGITS, ascii};
use crate::state::Caller;

/// The fields of an answered request, without its id and path.
#[derive(Debug)]
pub(crate) struct RequestLine {
    /// When it was answered.
    pub(crate) at: SystemTime,
    /// The digits of its connection.
    pub(crate) connection: [u8; CONNECTION_DIGITS],
    /// The client, behind trusted proxies.
    pub(crate) peer: IpAddr,
    pub(crate) verb: &'static str,
    pub(crate) surface: &'static str,
    /// `None` when it was refused before its caller was identified.
    pub(crate) caller: Option<Caller>,
    pub(crate) status: u16,
    pub(crate) elapsed_us: u64,
}

/// Renders lines as text.
pub(crate) struct Renderer {
    form: LogForm,
    /// The last second that was formatted, and its text.
    second: (u64, String),
    /// The last client that was formatted, and its text: requests of one connection follow each other.
    peer: (IpAddr, String),
    /// The caller of the line.
    caller: String,
}

/// Escape sequences of a terminal, as `tracing-subscriber` uses them.
mod style {
    pub(super) const BOLD: &str = "1";
    pub(super) const DIMMED: &str = "2";
    pub(super) const ITALIC: &str = "3";
    pub(super) const GREEN: &str = "32";
}

impl Renderer {
    pub(crate) fn new(form: LogForm) -> Self {
        let unspecified = IpAddr::from([0; 4]);
        let (second, peer) = ((u64::MAX, String::new()), (unspecified, unspecified.to_string()));
        Self { form, second, peer, caller: String::new() }
    }

    /// Appends the line of a request with this id and this path, as it came.
    pub(crate) fn render(&mut self, line: &RequestLine, id: &str, path: &str, out: &mut Vec<u8>) {
        let path = redacted_path(path);
        if self.peer.0 != line.peer {
            self.peer = (line.peer, line.peer.to_string());
        }
        let mut caller = std::mem::take(&mut self.caller);
        caller.clear();
        push_caller(line.caller.as_ref(), &mut caller);
        if self.form.is_json {
            self.json(line, id, &path, &caller, out);
        } else {
            self.text(line, id, &path, &caller, out);
        }
        self.caller = caller;
        out.push(b'\n');
    }

    fn text(&mut self, line: &RequestLine, id: &str, path: &str, caller: &str, out: &mut Vec<u8>) {
        let is_colored = self.form.is_colored;
        let paint = |style: &str, text: &str, out: &mut Vec<u8>| {
            if is_colored {
                let _ = write!(out, "\x1b[{style}m{text}\x1b[0m");
            } else {
                out.extend_from_slice(text.as_bytes());
            }
        };
        let field = |name: &str, out: &mut Vec<u8>| {
            paint(style::ITALIC, name, out);
            paint(style::DIMMED, "=", out);
        };
        if is_colored {
            out.extend_from_slice(b"\x1b[2m");
        }
        self.time(line.at, out);
        out.extend_from_slice(if is_colored { b"\x1b[0m " } else { b" " });
        paint(style::GREEN, " INFO", out);
        out.push(b' ');
        if self.form.has_connection {
            paint(style::BOLD, "connection", out);
            paint(style::BOLD, "{", out);
            field("id", out);
            quote(ascii(&line.connection), out);
            paint(style::BOLD, "}", out);
            paint(style::DIMMED, ":", out);
            out.push(b' ');
        }
        out.extend_from_slice(b"request");
        for (name, value) in [("request_id", id), ("peer", ""), ("verb", line.verb), ("surface", line.surface)] {
            out.push(b' ');
            field(name, out);
            if name == "peer" {
                out.extend_from_slice(self.peer.1.as_bytes());
            } else {
                quote(value, out);
            }
        }
        out.push(b' ');
        field("path", out);
        out.extend_from_slice(path.as_bytes());
        out.push(b' ');
        field("caller", out);
        quote(caller, out);
        out.push(b' ');
        field("status", out);
        let _ = write!(out, "{} ", line.status);
        field("elapsed_us", out);
        let _ = write!(out, "{}", line.elapsed_us);
    }

    fn json(&mut self, line: &RequestLine, id: &str, path: &str, caller: &str, out: &mut Vec<u8>) {
        // Texts are escaped as JSON; a write into memory does not fail.
        let text = |name: &str, value: &str, out: &mut Vec<u8>| {
            out.extend_from_slice(name.as_bytes());
            let _ = serde_json::to_writer(out, value);
        };
        out.extend_from_slice(b"{\"timestamp\":\"");
        self.time(line.at, out);
        out.extend_from_slice(b"\",\"level\":\"INFO\",\"fields\":{\"message\":\"request\"");
        text(",\"request_id\":", id, out);
        let _ = write!(out, ",\"peer\":\"{}\"", self.peer.1);
        text(",\"verb\":", line.verb, out);
        text(",\"surface\":", line.surface, out);
        text(",\"path\":", path, out);
        text(",\"caller\":", caller, out);
        let _ = write!(out, ",\"status\":{},\"elapsed_us\":{}}}", line.status, line.elapsed_us);
        if self.form.has_connection {
            let id = ascii(&line.connection);
            let _ = write!(
                out,
                ",\"span\":{{\"id\":\"{id}\",\"name\":\"connection\"}},\"spans\":[{{\"id\":\"{id}\",\"name\":\"connection\"}}]"
            );
        }
        out.push(b'}');
    }

    /// RFC 3339 in UTC with microseconds.
    fn time(&mut self, at: SystemTime, out: &mut Vec<u8>) {
        let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        if self.second.0 != since.as_secs() {
            let moment = OffsetDateTime::from(UNIX_EPOCH + since);
            let (date, time) = (moment.date(), moment.time());
            let text = format!(
                "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
                date.year(),
                u8::from(date.month()),
                date.day(),
                time.hour(),
                time.minute(),
                time.second()
            );
            self.second = (since.as_secs(), text);
        }
        let _ = write!(out, "{}.{:06}Z", self.second.1, since.subsec_micros());
    }
}

/// A text between quotation marks, with unprintable characters escaped.
fn quote(text: &str, out: &mut Vec<u8>) {
    // `…` ends the prefix of a key.
    let is_plain = |character| matches!(character, ' '..='~' | '…') && !matches!(character, '"' | '\\');
    if text.chars().all(is_plain) {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        let _ = write!(out, "{text:?}");
    }
}

/// Appends how a line names the caller. A write into a string does not fail.
fn push_caller(caller: Option<&Caller>, into: &mut String) {
    let _ = match caller {
        None => into.write_str("-"),
        Some(Caller::Key(record)) => write!(into, "key:{} {}…", record.id, record.prefix),
        Some(Caller::Alias(record)) => write!(into, "alias:{} {}", record.id.0, record.name),
        Some(Caller::Origin(record)) => write!(into, "origin:{} {}", record.id.0, record.pattern),
        Some(Caller::Keyless) => into.write_str("keyless"),
    };
}

#[cfg(test)]
#[path = "access_log/tests.rs"]
mod tests;
