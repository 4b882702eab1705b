//! Connections to a server by TLS.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Stdio};

use paraffin_database::{Database, DatabaseLocation, Migrations, query};
use paraffin_testkit::PostgresServer;

const MIGRATIONS: Migrations = Migrations { name: "test", is_guest: false, sqlite: &[], postgres: &[] };

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

#[tokio::test]
async fn verify_full_requires_a_certificate_of_the_given_authority() {
    let Some([openssl]) = paraffin_testkit::installed(["openssl"], "openssl") else { return };
    let folder = tempfile::tempdir().unwrap();
    certificate(&openssl, folder.path(), "server");
    certificate(&openssl, folder.path(), "other");
    let file = |name: &str| folder.path().join(name);
    let Some(mut server) = PostgresServer::prepare(folder.path()) else { return };
    server.encrypt(&file("server.pem"), &file("server.key"));
    server.run();
    let open = |mode: &str, authority: &str| {
        let url = format!("{}?sslmode={mode}&sslrootcert={}", server.url(), file(authority).display());
        async move { Database::open(&DatabaseLocation::Server(url.parse().unwrap()), MIGRATIONS).await }
    };
    let database = open("verify-full", "server.pem").await.unwrap();
    let statement =
        "SELECT CASE WHEN ssl THEN 1 ELSE 0 END::bigint AS ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let row = query(statement).fetch_one(&mut database.session().await.unwrap()).await.unwrap();
    assert!(row.get::<bool>("ssl").unwrap());
    assert!(open("verify-full", "other.pem").await.is_err(), "a server with a certificate of another authority");
}
