//! A real browser: pages of a registered and of an unregistered origin call the API.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use crate::support::browser::Chromium;
use crate::support::free_port;
use crate::support::process::{Running, paraffin};
use serde_json::{Value, json};
use thirtyfour::WebDriver;

/// Serves an empty page at `http://localhost:<port>/` until the test ends.
fn page_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let body = "<!doctype html><title>page</title>";
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all((head + body).as_bytes());
        }
    });
    port
}

fn keys(folder: &Path, arguments: &[&str]) {
    let run = paraffin().arg("keys").args(arguments).arg("--data-dir").arg(folder).output().unwrap();
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
}

/// What a page at `origin` gets for one call: `{status, body, remaining}`, or `{failed}` where the browser keeps the answer
/// from it.
async fn call_from(driver: &WebDriver, origin: &str, url: &str, headers: Value) -> Value {
    driver.goto(origin).await.unwrap();
    let script = r#"
        const [url, headers, done] = arguments;
        fetch(url, {method: "POST", headers, body: '{"jsonrpc":"2.0","id":1,"method":"btc_getblockcount","params":[]}'})
            .then(async answer => done({status: answer.status, body: await answer.json(), remaining: answer.headers.get("x-ratelimit-remaining")}))
            .catch(error => done({failed: error.name}));
    "#;
    let answer = driver.execute_async(script, vec![json!(url), headers]).await.unwrap();
    answer.json().clone()
}

/// row AU06
/// row GW03
#[test]
fn a_page_of_a_registered_origin_reads_the_api_and_one_of_another_origin_does_not() {
    let Some(chromium) = Chromium::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let listen = format!("127.0.0.1:{}", free_port());
    let mut dev = Running::start(
        paraffin().args(["dev", "--blocks", "120", "--listen", &listen, "--data-dir"]).arg(folder.path()),
    );
    dev.wait_for_output("ready", Duration::from_secs(30));
    let manifest: Value = serde_json::from_slice(&std::fs::read(folder.path().join("dev.json")).unwrap()).unwrap();
    let base = manifest["base_url"].as_str().unwrap();
    let free = manifest["keys"]["free"].as_str().unwrap();

    let (registered, other) = (page_server(), page_server());
    let registered = format!("http://localhost:{registered}");
    let other = format!("http://localhost:{other}");
    keys(folder.path(), &["origin", "add", &registered, "--account", "2"]);

    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let browser = chromium.open().await;
        let plain = json!({});
        // A JSON content type is not simple, so the browser asks first.
        let preflighted = json!({"content-type": "application/json"});
        let by_origin = format!("{base}/v4/api");
        for headers in [&plain, &preflighted] {
            let served = call_from(&browser, &registered, &by_origin, headers.clone()).await;
            assert_eq!((&served["status"], &served["body"]["result"]), (&json!(200), &json!(120)), "{served}");
            assert!(served["remaining"].is_string(), "the page may read the headers of the limit: {served}");
            let refused = call_from(&browser, &other, &by_origin, headers.clone()).await;
            assert_eq!(refused, json!({"failed": "TypeError"}), "the browser keeps the answer from the page");
        }
        // With a key any page may call, in the path and in a header.
        let by_key = call_from(&browser, &other, &format!("{base}/v4/{free}"), preflighted).await;
        assert_eq!(by_key["body"]["result"], 120, "{by_key}");
        let by_header = call_from(&browser, &other, &by_origin, json!({"x-service-api-key": free})).await;
        assert_eq!(by_header["body"]["result"], 120, "{by_header}");
        browser.quit().await.unwrap();
    });
    assert!(dev.terminate(Duration::from_secs(10)).success());
}
