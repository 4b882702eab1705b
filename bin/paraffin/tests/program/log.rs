//! The log beside requests.

use std::process::Stdio;
use std::time::Duration;

use super::support::process::{paraffin, write_config};
use super::support::served::Backend;
use super::support::{free_port, http, wait_for};

/// Lines of the access log that no pipe takes unread: Linux keeps 64 KiB, and a line has more than a hundred bytes.
const REQUESTS: usize = 1_500;

#[test]
fn an_unread_log_delays_no_request() {
    let backend = Backend::devnet();
    let folder = tempfile::tempdir().unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let text = format!(
        "network = \"regtest\"\ndata_dir = \"{}\"\n{}\n[gateway]\nlisten = \"{address}\"\n",
        folder.path().join("data").display(),
        backend.config()
    );
    let config = write_config(folder.path(), &text);
    let mut command = paraffin();
    command.args(["serve", "--config"]).arg(config).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let answered = std::panic::catch_unwind(|| {
        wait_for("the program to listen", Duration::from_secs(30), || std::net::TcpStream::connect(&address).ok());
        (0..REQUESTS).filter(|_| http::get(&address, "/v4/api/health").status == 200).count()
    });
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    let written = output.stderr.split(|byte| *byte == b'\n').count();
    assert!((100..REQUESTS).contains(&written), "{written} lines: the log was off, or its pipe never full");
    assert_eq!(answered.unwrap(), REQUESTS);
}
