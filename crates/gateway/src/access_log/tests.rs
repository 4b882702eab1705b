use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use paraffin_access::{AccountId, KeyId, KeyRecord, Plan, WindowLimits};
use parking_lot::Mutex;
use proptest::prelude::*;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

use super::*;

/// Captures the output of a subscriber.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A fixed clock with the library's format.
struct Moment(SystemTime);

impl FormatTime for Moment {
    fn format_time(&self, writer: &mut Writer<'_>) -> std::fmt::Result {
        let moment = OffsetDateTime::from(self.0);
        write!(
            writer,
            "{}T{}.{:06}Z",
            moment.date(),
            moment
                .time()
                .replace_nanosecond(0)
                .unwrap()
                .to_string()
                .split('.')
                .next()
                .map(|time| format!("{time:0>8}"))
                .unwrap(),
            moment.microsecond()
        )
    }
}

/// The line that `tracing-subscriber` writes of an event with the same fields.
fn traced(form: LogForm, line: &RequestLine, id: &str, path: &str) -> String {
    let written = Written::default();
    let writer = written.clone();
    let lines =
        tracing_subscriber::fmt().with_writer(move || writer.clone()).with_target(false).with_timer(Moment(line.at));
    let dispatch: tracing::Dispatch =
        if form.is_json { lines.json().finish().into() } else { lines.with_ansi(form.is_colored).finish().into() };
    tracing::dispatcher::with_default(&dispatch, || {
        let span =
            form.has_connection.then(|| tracing::error_span!("connection", id = ascii(&line.connection)).entered());
        tracing::info!(
            request_id = id,
            peer = %line.peer,
            verb = line.verb,
            surface = line.surface,
            path = %redacted_path(path),
            caller = caller_name(line.caller.as_ref()),
            status = line.status,
            elapsed_us = line.elapsed_us,
            "request"
        );
        drop(span);
    });
    let bytes = written.0.lock().clone();
    String::from_utf8(bytes).unwrap()
}

fn caller_name(caller: Option<&Caller>) -> String {
    let mut name = String::new();
    push_caller(caller, &mut name);
    name
}

fn key(prefix: String) -> Caller {
    Caller::Key(Arc::new(KeyRecord {
        id: KeyId(7),
        account: AccountId(3),
        name: String::new(),
        prefix,
        plan: Plan::BUSINESS,
        limits: WindowLimits::default(),
        admin: false,
        management: false,
        created_at: 0,
        last_used_at: None,
        request_count: 0,
        expires_at: None,
        own_expires_at: None,
        is_replaced: false,
        revoked_at: None,
    }))
}

fn any_line() -> impl Strategy<Value = RequestLine> {
    let peer = prop_oneof![
        any::<u32>().prop_map(|bits| IpAddr::from(Ipv4Addr::from(bits))),
        any::<u128>().prop_map(|bits| IpAddr::from(Ipv6Addr::from(bits))),
    ];
    // Names of aliases and patterns of origins are written between quotation marks as a key's digits are here.
    let caller = prop_oneof![Just(None), Just(Some(Caller::Keyless)), any::<String>().prop_map(|text| Some(key(text)))];
    let at = (0u64..4_000_000_000, 0u32..1_000_000_000).prop_map(|(s, n)| UNIX_EPOCH + Duration::new(s, n));
    (at, "[0-9a-f]{12}", peer, caller, any::<u16>(), any::<u64>()).prop_map(
        |(at, digits, peer, caller, status, elapsed_us)| {
            let connection = digits.into_bytes().try_into().unwrap();
            RequestLine { at, connection, peer, verb: "POST", surface: "main", caller, status, elapsed_us }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_line_is_that_of_a_tracing_event(
        lines in prop::collection::vec((any_line(), "[A-Za-z0-9._-]{1,64}", "(/[ -~]{0,20}){0,4}|(/\\PC{0,20}){0,4}"), 1..4),
        is_json: bool, is_colored: bool, has_connection: bool,
    ) {
        let form = LogForm { is_json, is_colored, has_connection };
        // One renderer for all, as in the thread: state of one line must not leak into the next.
        let mut renderer = Renderer::new(form);
        for (line, id, path) in &lines {
            let mut out = Vec::new();
            renderer.render(line, id, path, &mut out);
            prop_assert_eq!(String::from_utf8(out).unwrap(), traced(form, line, id, path));
        }
    }
}

#[test]
fn the_line_of_a_request_is_this() {
    let line = RequestLine {
        at: UNIX_EPOCH + Duration::new(1_795_000_000, 42_000),
        connection: *b"0123456789ab",
        peer: Ipv4Addr::LOCALHOST.into(),
        verb: "GET",
        surface: "health",
        caller: Some(key("0123".to_owned())),
        status: 200,
        elapsed_us: 17,
    };
    let render = |is_json| {
        let mut out = Vec::new();
        let form = LogForm { is_json, is_colored: false, has_connection: true };
        Renderer::new(form).render(
            &line,
            "0123456789ab00000001",
            "/v4/0123456789abcdef0123456789abcdef/health",
            &mut out,
        );
        String::from_utf8(out).unwrap()
    };
    assert_eq!(
        render(false),
        "2026-11-18T11:06:40.000042Z  INFO connection{id=\"0123456789ab\"}: request request_id=\"0123456789ab00000001\" \
         peer=127.0.0.1 verb=\"GET\" surface=\"health\" path=/v4/0123…/health caller=\"key:7 0123…\" status=200 elapsed_us=17\n"
    );
    let json: serde_json::Value = serde_json::from_str(&render(true)).unwrap();
    assert_eq!(json["fields"]["path"], "/v4/0123…/health");
    assert_eq!(json["spans"][0]["id"], "0123456789ab");
}
