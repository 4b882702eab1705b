//! Who the gateway is to the server, and who the server is to the gateway.

use std::path::Path;
use std::process::{Command, Stdio};

use paraffin_orderbook::{Login, NatsOptions, StreamState, TlsFiles};

use crate::Harness;
use crate::server::Server;
use crate::support::listing;

fn takes(options: NatsOptions) -> bool {
    let (harness, folder) = (Harness::new(), tempfile::tempdir().unwrap());
    let orderbook = harness.open(folder.path(), options);
    let is_taken = harness.ingest(&orderbook, &listing("clx1", "open", 1, 1)).is_ok();
    assert_eq!(is_taken, orderbook.stream_state() == StreamState::Ready);
    orderbook.close();
    is_taken
}

#[test]
fn user_and_password_are_given_and_a_wrong_one_is_refused() {
    let Some(server) = Server::start("authorization { user: bookkeeper, password: \"rust and bytes\" }") else {
        return;
    };
    let of = |password: &str| Login::Password { user: "bookkeeper".to_owned(), password: password.to_owned() };
    assert!(takes(NatsOptions { login: of("rust and bytes"), ..server.options() }));
    assert!(!takes(NatsOptions { login: of("wrong"), ..server.options() }));
    assert!(!takes(server.options()));
}

#[test]
fn a_token_is_given() {
    let Some(server) = Server::start("authorization { token: \"s3cret\" }") else { return };
    assert!(takes(NatsOptions { login: Login::Token("s3cret".to_owned()), ..server.options() }));
    assert!(!takes(NatsOptions { login: Login::Token("other".to_owned()), ..server.options() }));
}

/// A self-signed certificate for this host.
fn certificate(openssl: &Path, folder: &Path, name: &str) {
    let file = |ending: &str| folder.join(format!("{name}.{ending}")).display().to_string();
    let made = Command::new(openssl)
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", &format!("/CN={name}"), "-addext", "subjectAltName=IP:127.0.0.1"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout", &file("key"), "-out", &file("pem")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(made.success());
}

#[test]
fn the_connection_is_encrypted_and_the_server_must_be_trusted() {
    let Some([openssl]) = paraffin_testkit::installed(["openssl"], "openssl") else { return };
    let folder = tempfile::tempdir().unwrap();
    certificate(&openssl, folder.path(), "server");
    certificate(&openssl, folder.path(), "other");
    let file = |name: &str| folder.path().join(name);
    let lines = format!(
        "tls {{ cert_file: \"{}\", key_file: \"{}\", ca_file: \"{}\", verify: true }}",
        file("server.pem").display(),
        file("server.key").display(),
        file("other.pem").display()
    );
    let Some(server) = Server::start(&lines) else { return };
    let options = |authority: &str, certificate: Option<&str>| NatsOptions {
        tls: TlsFiles {
            authorities: Some(file(authority)),
            certificate: certificate.map(|name| (file(&format!("{name}.pem")), file(&format!("{name}.key")))),
        },
        ..server.options()
    };
    assert!(takes(options("server.pem", Some("other"))));
    assert!(!takes(options("other.pem", Some("other"))), "a server with an untrusted certificate");
    assert!(!takes(options("server.pem", None)), "a client without a certificate");
}
