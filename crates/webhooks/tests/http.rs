//! Requests over real connections, and refused connections.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use paraffin_webhooks::{Attempt, HttpTransport, SigningSecret, Transport as _, WebhookSettings, signature};
use support::settings;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// A server that notes requests and gives each the same bytes, after which it keeps the connection open.
struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

async fn server(answer: &'static str) -> Server {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let requests: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            noted.lock().unwrap().push(String::new());
            let index = noted.lock().unwrap().len() - 1;
            let noted = Arc::clone(&noted);
            tokio::spawn(async move {
                let mut bytes = [0; 4096];
                while let Ok(read @ 1..) = stream.read(&mut bytes).await {
                    let is_whole = {
                        let mut noted = noted.lock().unwrap();
                        noted[index].push_str(&String::from_utf8_lossy(&bytes[..read]));
                        noted[index].ends_with('}')
                    };
                    if is_whole {
                        let _ = stream.write_all(answer.as_bytes()).await;
                    }
                }
            });
        }
    });
    Server { port, requests }
}

fn attempt(url: &str) -> Attempt {
    Attempt {
        url: url.to_owned(),
        id: "msg_1".to_owned(),
        timestamp_seconds: 1_700_000_000,
        signature: "v1,aa v1,bb".to_owned(),
        body: Bytes::from_static(br#"{"type":"ping"}"#),
    }
}

async fn post(settings: WebhookSettings, url: &str) -> Result<u16, String> {
    HttpTransport::new(settings).post(attempt(url)).await
}

#[tokio::test]
async fn a_message_is_a_post_with_the_headers_of_standard_webhooks() {
    let server = server("HTTP/1.1 204 No Content\r\n\r\n").await;
    let url = format!("http://127.0.0.1:{}/in/here?x=1", server.port);
    assert_eq!(post(settings(), &url).await, Ok(204));
    let request = server.requests.lock().unwrap()[0].clone();
    let port = server.port;
    for part in [
        "POST /in/here?x=1 HTTP/1.1\r\n",
        &format!("host: 127.0.0.1:{port}\r\n"),
        "content-type: application/json\r\n",
        "webhook-id: msg_1\r\n",
        "webhook-timestamp: 1700000000\r\n",
        "webhook-signature: v1,aa v1,bb\r\n",
        "content-length: 15\r\n",
        "\r\n\r\n{\"type\":\"ping\"}",
    ] {
        assert!(request.contains(part), "{part} is missing in {request}");
    }
}

#[tokio::test]
async fn redirects_are_not_followed_and_bodies_are_not_read() {
    let moved = server("HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n").await;
    assert_eq!(post(settings(), &format!("http://127.0.0.1:{}/", moved.port)).await, Ok(307));
    assert_eq!(moved.requests.lock().unwrap().len(), 1);
    // A body that never ends does not hold up the answer.
    let endless = server("HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\nx").await;
    let began = Instant::now();
    assert_eq!(post(settings(), &format!("http://127.0.0.1:{}/", endless.port)).await, Ok(200));
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn invalid_answers_are_failures_with_a_reason() {
    let short = WebhookSettings { attempt_seconds: 1, ..settings() };
    let silent = server("").await;
    let url = format!("http://127.0.0.1:{}/", silent.port);
    assert_eq!(post(short.clone(), &url).await, Err("no answer within 1 seconds".to_owned()));
    let text = server("this is not HTTP at all\r\n\r\n").await;
    let failed = post(short.clone(), &format!("http://127.0.0.1:{}/", text.port)).await;
    assert_eq!(failed, Err("the server does not speak HTTP, or closed the connection".to_owned()));
    // Without TLS where TLS was expected.
    let failed = post(short.clone(), &format!("https://127.0.0.1:{}/", text.port)).await.unwrap_err();
    assert!(failed.starts_with("no TLS") || failed.starts_with("no answer"), "{failed}");
    let closed = paraffin_testkit::free_port();
    let failed = post(short, &format!("http://127.0.0.1:{closed}/")).await;
    assert_eq!(failed, Err("cannot connect: connection refused".to_owned()));
}

#[tokio::test]
async fn a_head_that_does_not_end_is_cut_off() {
    let long: &'static str = Box::leak(format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(100_000)).into_boxed_str());
    let server = server(long).await;
    let short = WebhookSettings { attempt_seconds: 5, ..settings() };
    let failed = post(short, &format!("http://127.0.0.1:{}/", server.port)).await;
    assert_eq!(failed, Err("the server does not speak HTTP, or closed the connection".to_owned()));
}

/// A program that ends with its test.
struct Receiver(std::process::Child);

impl Drop for Receiver {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn the_receiver_of_the_documentation_takes_what_is_signed_and_nothing_else() {
    let Some([python]) = paraffin_testkit::installed(["python3"], "python3") else { return };
    let page = include_str!("../../../docs/webhooks.md");
    let program = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let (secret, other) = (SigningSecret::generate().unwrap(), SigningSecret::generate().unwrap());
    let port = paraffin_testkit::free_port();
    let mut command = std::process::Command::new(python);
    command.arg("-c").arg(program).env("PORT", port.to_string()).env("WEBHOOK_SECRET", secret.reveal());
    let mut receiver = Receiver(command.stdout(std::process::Stdio::piped()).spawn().unwrap());
    let began = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(began.elapsed() < Duration::from_secs(30), "it does not listen");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let body = Bytes::from_static(
        br#"{"type":"events","timestamp":"","data":{"cursor":"1-a","events":[{"type":"block_connected","height":1,"block_hash":"a"}]}}"#,
    );
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs().cast_signed();
    let url = format!("http://127.0.0.1:{port}/");
    let signed = |id: &str, at: i64, secrets: &[SigningSecret]| Attempt {
        url: url.clone(),
        id: id.to_owned(),
        timestamp_seconds: at,
        signature: signature(secrets, id, at, &body),
        body: body.clone(),
    };
    let transport = HttpTransport::new(settings());
    for (attempt, status) in [
        (signed("msg_1", now, std::slice::from_ref(&other)), 401),
        (signed("msg_1", now - 1_000, std::slice::from_ref(&secret)), 401),
        (Attempt { id: "msg_2".to_owned(), ..signed("msg_1", now, std::slice::from_ref(&secret)) }, 401),
        (signed("msg_1", now, &[other, secret.clone()]), 204),
        // Repeated, and passed over.
        (signed("msg_1", now, std::slice::from_ref(&secret)), 204),
    ] {
        assert_eq!(transport.post(attempt).await, Ok(status));
    }
    let output = receiver.0.stdout.take().unwrap();
    drop(receiver);
    assert_eq!(std::io::read_to_string(output).unwrap(), "block_connected 1 a\n");
}

/// A name server that knows one address for every name.
async fn name_server(address: [u8; 4]) -> std::net::SocketAddr {
    let socket = tokio::net::UdpSocket::bind(("127.0.0.1", 0)).await.unwrap();
    let at = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut bytes = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut bytes).await {
            // The question without what may follow it.
            let name = bytes[12..length].iter().position(|byte| *byte == 0).unwrap();
            let question = bytes[12..12 + name + 5].to_vec();
            let is_v4 = question[name + 2] == 1;
            let mut answer = bytes[..2].to_vec();
            answer.extend([0x81, 0x80, 0, 1, 0, u8::from(is_v4), 0, 0, 0, 0]);
            answer.extend(&question);
            if is_v4 {
                answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
                answer.extend(address);
            }
            let _ = socket.send_to(&answer, from).await;
        }
    });
    at
}

#[tokio::test]
async fn no_connection_is_made_to_what_is_not_public_by_address_or_by_name() {
    let server = server("HTTP/1.1 204 No Content\r\n\r\n").await;
    let port = server.port;
    let public = WebhookSettings { allow_http: true, ..WebhookSettings::default() };
    for host in
        ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "10.0.0.1", "169.254.169.254", "[64:ff9b::7f00:1]"]
    {
        let failed = post(public.clone(), &format!("http://{host}:{port}/")).await;
        assert_eq!(failed, Err("the address is not public".to_owned()), "{host}");
    }
    for address in [[127, 0, 0, 1], [10, 0, 0, 1], [169, 254, 169, 254], [100, 64, 0, 1]] {
        let own = WebhookSettings { name_servers: vec![name_server(address).await], ..public.clone() };
        let failed = post(own, &format!("http://rebind.example:{port}/")).await;
        assert_eq!(failed, Err("the address is not public".to_owned()), "{address:?}");
    }
    assert!(server.requests.lock().unwrap().is_empty());
    // The same name where the operator allows it: the connection goes to what the name server said.
    let own = WebhookSettings { name_servers: vec![name_server([127, 0, 0, 1]).await], ..settings() };
    assert_eq!(post(own, &format!("http://rebind.example:{port}/x")).await, Ok(204));
    assert!(server.requests.lock().unwrap()[0].contains(&format!("host: rebind.example:{port}\r\n")));
    // Not encrypted, and not allowed.
    let failed = post(WebhookSettings::default(), "http://hooks.example/").await;
    assert_eq!(failed, Err("the address must begin with https://".to_owned()));
}
