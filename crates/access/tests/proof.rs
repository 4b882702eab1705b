//! Ownership of a domain, proved to a DNS server and a web server of our own on loopback.
#![allow(clippy::unwrap_used)]

mod support;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use paraffin_access::{
    AccessError, AccountId, DatabaseKeyStore, KeyStore, OriginRecord, OwnershipProver, Plan, ProofSettings,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, UdpSocket};

const NOW: i64 = 1_700_000_000_000;

/// Answers TXT queries for `_paraffin.<any>` with `txt` and address queries with `address`.
struct Dns {
    address: SocketAddr,
    txt: Arc<Mutex<Vec<String>>>,
    requests: Arc<Mutex<Vec<String>>>,
}

async fn dns(points_to: [u8; 4]) -> Dns {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    let txt = Arc::new(Mutex::new(Vec::new()));
    let requests = Arc::new(Mutex::new(Vec::new()));
    let (values, names) = (Arc::clone(&txt), Arc::clone(&requests));
    tokio::spawn(async move {
        let mut question = [0; 512];
        loop {
            let Ok((length, from)) = socket.recv_from(&mut question).await else { return };
            let (name, kind, end) = parse(&question[..length]);
            names.lock().unwrap().push(name);
            let values: Vec<Vec<u8>> = match kind {
                1 => vec![points_to.to_vec()],
                16 => values.lock().unwrap().iter().map(|text: &String| text_data(text)).collect(),
                _ => Vec::new(),
            };
            let mut answer = question[..2].to_vec();
            answer.extend([0x81, 0x80, 0, 1, 0, u8::try_from(values.len()).unwrap(), 0, 0, 0, 0]);
            answer.extend(&question[12..end]);
            for value in values {
                answer.extend([0xc0, 12, 0, u8::try_from(kind).unwrap(), 0, 1, 0, 0, 0, 60]);
                answer.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
                answer.extend(value);
            }
            socket.send_to(&answer, from).await.unwrap();
        }
    });
    Dns { address, txt, requests }
}

fn text_data(text: &str) -> Vec<u8> {
    let mut data = vec![u8::try_from(text.len()).unwrap()];
    data.extend(text.as_bytes());
    data
}

/// Name, type and the end of the question.
fn parse(message: &[u8]) -> (String, u16, usize) {
    let (mut at, mut labels) = (12, Vec::new());
    while message[at] != 0 {
        let length = usize::from(message[at]);
        labels.push(String::from_utf8_lossy(&message[at + 1..at + 1 + length]).into_owned());
        at += 1 + length;
    }
    (labels.join("."), u16::from_be_bytes([message[at + 1], message[at + 2]]), at + 5)
}

/// A web server with one answer; returns its port and the requests that it receives.
async fn web(answer: Arc<Mutex<String>>) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&requests);
    tokio::spawn(async move {
        loop {
            let Ok((mut stream, _)) = listener.accept().await else { return };
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request).await.unwrap();
            received.lock().unwrap().push(String::from_utf8_lossy(&request[..length]).into_owned());
            let text = answer.lock().unwrap().clone();
            let _ = stream.write_all(text.as_bytes()).await;
        }
    });
    (port, requests)
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

struct Site {
    _database: support::TestDatabase,
    store: DatabaseKeyStore,
    account: AccountId,
}

async fn site() -> Option<Site> {
    let database = support::database()?;
    let store = database.open().await;
    let account = store.create_account("site", Plan::PRO, "test", NOW).await.unwrap().id;
    Some(Site { _database: database, store, account })
}

impl Site {
    async fn register(&self, prover: &OwnershipProver, origin: &str) -> OriginRecord {
        prover.register(&self.store, self.account, origin.parse().unwrap(), "test", NOW).await.unwrap()
    }

    async fn verify(&self, prover: &OwnershipProver, origin: &OriginRecord) -> Result<OriginRecord, AccessError> {
        prover.verify(&self.store, origin.id, "test", NOW + 1).await
    }

    async fn is_served(&self, origin: &str) -> bool {
        self.store.find_origin(origin).await.unwrap().is_some()
    }
}

/// row AU06
#[tokio::test]
async fn a_dns_record_with_the_token_proves_the_domain_of_an_origin() {
    let Some(site) = site().await else { return };
    let dns = dns([127, 0, 0, 1]).await;
    let settings = ProofSettings { well_known: false, name_servers: vec![dns.address], ..ProofSettings::default() };
    let prover = OwnershipProver::new(settings);
    let origin = site.register(&prover, "https://*.example.com").await;
    let instructions = prover.instructions(&origin).unwrap();
    assert!(
        instructions.contains("_paraffin.example.com")
            && instructions.contains(&origin.token)
            && !instructions.contains("well-known"),
        "{instructions}"
    );
    for wrong in [
        vec![],
        vec!["v=spf1 -all".to_owned()],
        vec![format!("paraffin-verify={}0", origin.token)],
        vec![origin.token.clone()],
    ] {
        *dns.txt.lock().unwrap() = wrong;
        assert!(matches!(site.verify(&prover, &origin).await, Err(AccessError::NotProved(_))));
        assert!(!site.is_served("https://app.example.com").await);
    }
    *dns.txt.lock().unwrap() = vec!["other".to_owned(), format!("paraffin-verify={}", origin.token)];
    assert_eq!(site.verify(&prover, &origin).await.unwrap().verified_at, Some(NOW + 1));
    assert!(site.is_served("https://app.example.com").await);
    assert!(dns.requests.lock().unwrap().iter().all(|name| name == "_paraffin.example.com"));
    assert_eq!(site.store.audit(1).await.unwrap()[0].detail, "by=dns");
}

/// row AU06
#[tokio::test]
async fn a_file_with_the_token_proves_the_domain_of_an_origin() {
    let Some(site) = site().await else { return };
    let dns = dns([127, 0, 0, 1]).await;
    let answer =
        Arc::new(Mutex::new("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned()));
    let (port, requests) = web(Arc::clone(&answer)).await;
    let settings = ProofSettings {
        dns: false,
        name_servers: vec![dns.address],
        http_port: port,
        private_addresses: true,
        ..ProofSettings::default()
    };
    let prover = OwnershipProver::new(settings.clone());
    let origin = site.register(&prover, "https://app.example.com").await;
    assert!(site.verify(&prover, &origin).await.is_err());
    let redirect =
        "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    for wrong in [
        redirect.to_owned(),
        ok("another"),
        ok(&format!("{} {}", origin.token, "x".repeat(100_000))),
        "nonsense".to_owned(),
        String::new(),
    ] {
        *answer.lock().unwrap() = wrong;
        let refused = site.verify(&prover, &origin).await;
        assert!(matches!(refused, Err(AccessError::NotProved(_))), "{refused:?}");
    }
    *answer.lock().unwrap() = ok(&format!("{}\n", origin.token));
    site.verify(&prover, &origin).await.unwrap();
    assert!(site.is_served("https://app.example.com").await);
    let request = requests.lock().unwrap().last().unwrap().clone();
    assert!(request.starts_with("GET /.well-known/paraffin-verify.txt HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("host: app.example.com:{port}\r\n")), "{request}");

    // A name that points into our own network is not followed, unless the operator wants it.
    let strict = OwnershipProver::new(ProofSettings { private_addresses: false, ..settings });
    let inside = site.register(&strict, "https://inside.example.com").await;
    let before = requests.lock().unwrap().len();
    let refused = site.verify(&strict, &inside).await.unwrap_err().to_string();
    assert!(refused.contains("no public address"), "{refused}");
    assert_eq!(requests.lock().unwrap().len(), before, "nothing was fetched");
}

/// row AU06
#[tokio::test]
async fn proof_can_be_switched_off_and_the_own_machine_needs_none() {
    let Some(site) = site().await else { return };
    let off = OwnershipProver::new(ProofSettings { dns: false, well_known: false, ..ProofSettings::default() });
    assert!(!off.is_required());
    let origin = site.register(&off, "https://app.example.com").await;
    assert!(site.is_served("https://app.example.com").await && off.instructions(&origin).is_none());
    let on = OwnershipProver::new(ProofSettings::default());
    let local = site.register(&on, "http://127.0.0.1:5173").await;
    assert!(site.is_served("http://127.0.0.1:5173").await && on.instructions(&local).is_none());
    // Registered while proof was required, verified after it was switched off.
    let waiting = site.register(&on, "https://later.example.com").await;
    assert!(!site.is_served("https://later.example.com").await);
    site.verify(&off, &waiting).await.unwrap();
    assert!(site.is_served("https://later.example.com").await);
}

#[tokio::test]
async fn name_servers_that_do_not_answer_are_an_error_and_not_a_proof() {
    let Some(site) = site().await else { return };
    let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let settings = ProofSettings {
        name_servers: vec![silent.local_addr().unwrap()],
        well_known: false,
        ..ProofSettings::default()
    };
    let prover = OwnershipProver::new(settings);
    let origin = site.register(&prover, "https://app.example.com").await;
    let started = std::time::Instant::now();
    assert!(matches!(site.verify(&prover, &origin).await, Err(AccessError::NotProved(_))));
    assert!(started.elapsed() < std::time::Duration::from_secs(12));
}
