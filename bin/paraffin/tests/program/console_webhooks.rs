//! Webhooks of the running program, managed by the forms of the console and by the API alike.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::dev::Dev;
use crate::support::http::{self, Answer};
use crate::support::wait_for;

/// A server that acknowledges messages: their bodies.
fn server() -> (String, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/in?token=in-the-query", listener.local_addr().unwrap());
    let (sender, messages) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut stream = BufReader::new(stream);
            let mut length = 0;
            loop {
                let mut line = String::new();
                if stream.read_line(&mut line).unwrap_or(0) <= 2 {
                    break;
                }
                if let Some(value) = line.strip_prefix("content-length: ") {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            if stream.read_exact(&mut body).is_ok() && sender.send(serde_json::from_slice(&body).unwrap()).is_ok() {
                let _ = stream.get_mut().write_all(b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n");
            }
        }
    });
    (url, messages)
}

struct Owner<'a> {
    dev: &'a Dev,
    cookie: String,
}

impl Owner<'_> {
    fn page(&self, path: &str) -> String {
        let page = http::try_request(self.dev.listen(), "GET", path, &[("cookie", &self.cookie)], b"").unwrap();
        assert_eq!(page.status, 200, "{path}: {}", page.text());
        page.text()
    }

    fn send(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let csrf = between(&self.page("/console/webhooks"), "name=\"csrf\" value=\"", "\"");
        let mut form = format!("csrf={csrf}");
        for (name, value) in fields {
            let _ = write!(form, "&{name}=");
            for byte in value.bytes() {
                let _ = write!(form, "%{byte:02x}");
            }
        }
        let headers = [
            ("cookie", self.cookie.as_str()),
            ("content-type", "application/x-www-form-urlencoded"),
            ("sec-fetch-site", "same-origin"),
        ];
        http::try_request(self.dev.listen(), "POST", path, &headers, form.as_bytes()).unwrap()
    }
}

fn between(text: &str, before: &str, after: &str) -> String {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}"));
    rest.split_once(after).unwrap().0.to_owned()
}

/// row CL03
#[test]
fn a_webhook_that_the_console_makes_is_delivered_and_what_is_done_to_it_stands_in_the_audit_log() {
    let dev = Dev::start();
    let owner = Owner { dev: &dev, cookie: dev.session() };
    let (url, messages) = server();
    let api =
        |method: &str, params: Value| http::result(dev.listen(), &format!("{}/webhooks", dev.path()), method, params);
    // By the API, which says whose account it is; then everything by the console.
    let by_key = api("webhooks_create", json!({ "url": url, "description": "by a key" }))["id"].clone();
    let first = wait_for("the audit line", Duration::from_secs(10), || {
        let log = owner.page("/console/audit");
        log.contains(&format!("webhook:{by_key}")).then_some(log)
    });
    let account = between(&first, &format!("<td>webhook:{by_key}</td><td>account="), " ");
    // Each name that the form has is one of the API.
    let address = dev.text("/accounts/4/address").to_owned();
    let every_kind =
        ["block", "address", "transfer", "call", "trade", "inscription", "rune"].map(|kind| ("kind", kind));
    let lists = [
        ("addresses", &*address),
        ("alkanes", "2:0\n2:1"),
        ("contracts", "2:0"),
        ("pools", "2:7"),
        ("runes", "UNCOMMON•GOODS"),
    ];
    let fields = [&[("account", &*account), ("url", &url), ("start", "1")][..], &every_kind, &lists].concat();
    let made = owner.send("/console/webhooks", &fields);
    assert_eq!(made.status, 200, "{}", made.text());
    let secret = between(&made.text(), "id=\"new-secret\">", "<");
    let number = between(&made.text(), "The secret of webhook ", "<");
    assert_eq!(messages.recv_timeout(Duration::from_secs(60)).unwrap()["type"], "events");
    let path = format!("/console/webhooks/{number}");
    wait_for("the attempt", Duration::from_secs(60), || {
        let page = owner.page(&format!("{path}?account={account}"));
        (page.contains("answered 204") && page.contains("at the newest block")).then_some(())
    });
    let act = |action: &str| owner.send(&format!("{path}/{action}"), &[("account", &account)]);
    assert!(act("test").text().contains("The test message was acknowledged"));
    assert_eq!(act("pause").status, 303);
    let id: u64 = number.parse().unwrap();
    assert_eq!(api("webhooks_get", json!({ "id": id }))["state"], "paused");
    let rotated = act("rotate-secret").text();
    assert_ne!(between(&rotated, "id=\"new-secret\">", "<"), secret);
    assert_eq!(act("resume").status, 303);
    assert_eq!(act("delete").status, 303);
    // As the API refuses it, with what was typed.
    let refused = owner.send("/console/webhooks", &[("account", &*account), ("url", &url), ("kind", "address")]);
    assert!(refused.status == 422 && refused.text().contains("Events: the kind address needs"), "{}", refused.text());
    assert!(refused.text().contains("value=\"address\" checked"), "{}", refused.text());
    api("webhooks_delete", json!({ "id": by_key }));

    let log = owner.page("/console/audit");
    for (actor, action, subject) in [
        ("key:", "create", &format!("webhook:{by_key}")),
        ("key:", "delete", &format!("webhook:{by_key}")),
        ("user:1", "create", &format!("webhook:{number}")),
        ("user:1", "pause", &format!("webhook:{number}")),
        ("user:1", "rotate-secret", &format!("webhook:{number}")),
        ("user:1", "resume", &format!("webhook:{number}")),
        ("user:1", "delete", &format!("webhook:{number}")),
    ] {
        let lines = log.split("<tr>").filter(|line| line.contains(&format!("<td>{subject}</td>")));
        let has_line = lines
            .into_iter()
            .any(|line| line.contains(&format!("<td>{action}</td>")) && line.contains(&format!("<td>{actor}")));
        assert!(has_line, "{actor} {action} {subject}: {log}");
    }
    assert!(
        !log.contains("whsec_") && !log.contains("in-the-query") && !log.contains(secret.trim_start_matches("whsec_"))
    );
}
