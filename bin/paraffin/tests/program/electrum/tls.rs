//! TLS with the operator's certificate, by OpenSSL's client.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::free_port;
use crate::support::served::{Backend, Served};

#[test]
fn a_client_with_tls_is_answered_and_a_client_without_it_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = (folder.path().join("certificate.pem"), folder.path().join("key.pem"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout"])
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .stderr(Stdio::null())
        .status();
    if !made.is_ok_and(|status| status.success()) {
        return paraffin_testkit::skipped("openssl is not at hand");
    }
    let address = format!("127.0.0.1:{}", free_port());
    let further = format!(
        "[electrum]\ntls_listen = \"{address}\"\ntls_certificate = \"{}\"\ntls_key = \"{}\"\n",
        certificate.display(),
        key.display()
    );
    let mut served = Served::start_with(Backend::devnet(), &further);
    served.backend.mine(3, &served.scripts[0]);
    served.wait_for_tip();
    let mut client = Command::new("openssl")
        .args(["s_client", "-quiet", "-verify_return_error", "-connect", &address, "-CAfile"])
        .arg(&certificate)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = client.stdin.take().unwrap();
    let request = json!({"id": 1, "method": "blockchain.headers.subscribe", "params": []});
    input.write_all(format!("{request}\n").as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(client.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(answer["result"]["height"], 3, "{answer}");
    client.kill().unwrap();
    client.wait().unwrap();
    let mut plain = super::Wire::connect(&address);
    plain.send(&request.to_string());
    let answer = plain.try_text();
    assert!(
        answer.as_ref().is_none_or(|text| !text.contains("result")),
        "who speaks without TLS is not answered: {answer:?}"
    );
}
