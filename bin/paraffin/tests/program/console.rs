//! The console of an instance: through its forms, in a real browser, and by the command that lets an owner in again.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use thirtyfour::prelude::ElementQueryable as _;
use thirtyfour::{By, WebDriver};
use totp_rs::{Builder, Secret};

use crate::support::browser::Chromium;
use crate::support::dev::Dev;
use crate::support::devnet::DevnetNode;
use crate::support::http;
use crate::support::instance::Instance;
use crate::support::node::TestNode as _;
use crate::support::page::{check, fill, press, sign_in, submit};
use crate::support::process::paraffin;

/// row CL03
#[test]
fn a_key_is_made_used_limited_and_revoked_in_a_browser() {
    let Some(chromium) = Chromium::start() else { return };
    let dev = Dev::start();
    let base = dev.text("/base_url").to_owned();
    assert_eq!(dev.text("/console_url"), format!("{base}/console"));
    let (name, password) = (dev.text("/console/name").to_owned(), dev.text("/console/password").to_owned());
    let count = |key: &str| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "btc_getblockcount", "params": [] });
        http::post(dev.listen(), &format!("/v4/{key}"), &body).status
    };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        // As narrow as a phone and dark, wide and light.
        for (width, height, scheme) in [(390, 844, 0), (1280, 900, 1)] {
            let browser = chromium.open_with(&[&format!("--blink-settings=preferredColorScheme={scheme}")]).await;
            let is_dark = "return matchMedia('(prefers-color-scheme: dark)').matches";
            assert_eq!(browser.execute(is_dark, Vec::new()).await.unwrap().json(), &json!(scheme == 0));
            browser.set_window_rect(0, 0, width, height).await.unwrap();
            browser.goto(format!("{base}/console")).await.unwrap();
            check(&browser, "without a session").await;
            sign_in(&browser, &base, &name, &password).await;
            for page in ["keys", "origins", "aliases", "usage", "accounts", "people", "audit", "profile", "webhooks"] {
                browser.goto(format!("{base}/console/{page}")).await.unwrap();
                check(&browser, page).await;
            }
            fill(&browser, "url", &format!("https://hooks.example.com/{}", "long-".repeat(40))).await;
            submit(&browser, "form[action='/console/webhooks'] button").await;
            let secret = browser.query(By::Id("new-secret")).first().await.unwrap().text().await.unwrap();
            assert!(secret.starts_with("whsec_"), "{secret}");
            press(&browser, "details summary").await;
            check(&browser, "a new webhook").await;
            submit(&browser, "tbody th a").await;
            check(&browser, "a webhook").await;
            submit(&browser, ".who button").await;
            browser.quit().await.unwrap();
        }
        let browser = chromium.open().await;
        sign_in(&browser, &base, &name, "not the password").await;
        let alert = browser.query(By::Css("[role=alert]")).first().await.unwrap().text().await.unwrap();
        assert_eq!(alert, "wrong name or password");
        // The browser's own console names every answer that is no success.
        let said = browser.browser_log().await.unwrap();
        assert!(said.iter().all(|entry| entry.message.contains("422")), "{said:?}");
        sign_in(&browser, &base, &name, &password).await;

        browser.goto(format!("{base}/console/accounts")).await.unwrap();
        press(&browser, "tbody tr:last-child th a").await;
        fill(&browser, "name", "from a browser").await;
        fill(&browser, "per_minute", "3").await;
        submit(&browser, "form[action='/console/keys'] button").await;
        let key = browser.query(By::Id("new-key")).first().await.unwrap().text().await.unwrap();
        let curl = browser.query(By::Id("curl")).first().await.unwrap().text().await.unwrap();
        assert!(curl.starts_with(&format!("curl -s {base}/v4/{key} ")), "{curl}");
        check(&browser, "a new key").await;
        let answers: Vec<u16> = (0..5).map(|_| count(&key)).collect();
        assert!(answers[0] == 200 && answers.contains(&429), "{answers:?}");
        press(&browser, "nav a[href^='/console/usage']").await;
        check(&browser, "usage").await;
        // Every bar has its colour and a height, and the refused ones stand beside the others.
        let bars = "return [...document.querySelectorAll('.usage-chart rect')].map((bar) => \
                    [bar.getAttribute('class'), getComputedStyle(bar).fill, bar.getBoundingClientRect().height > 0])";
        let bars = browser.execute(bars, Vec::new()).await.unwrap().json().clone();
        let bars = bars.as_array().unwrap();
        assert!(bars.iter().any(|bar| bar[0] == "series-limited") && bars.iter().any(|bar| bar[0] == "series-0"));
        assert!(bars.iter().all(|bar| bar[1] != "rgb(0, 0, 0)" && bar[2] == true), "{bars:?}");
        press(&browser, "nav a[href^='/console/keys']").await;
        submit(&browser, "form[action$='/revoke'] button").await;
        let text = browser.query(By::Css("tbody")).first().await.unwrap().text().await.unwrap();
        assert!(text.contains("revoked"), "{text}");
        assert_eq!(count(&key), 401);
        browser.quit().await.unwrap();
    });
}

/// Keys by their code points (`WebDriver`, "keyboard actions").
const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";

/// Goes forward through what takes the focus, which shows it, until it is what is looked for.
async fn tab_to(browser: &WebDriver, selector: &str) {
    for _ in 0..200 {
        browser.action_chain().send_keys(TAB).perform().await.unwrap();
        let focused = "const element = document.activeElement; \
                       return [element.matches(arguments[0]), element === document.body || getComputedStyle(element).outlineStyle !== 'none', element.outerHTML.slice(0, 80)]";
        let answer = browser.execute(focused, vec![json!(selector)]).await.unwrap().json().clone();
        // Beyond the last one the page itself has the focus, then the first one.
        assert_eq!(answer[1], true, "the focus is not seen: {answer}");
        if answer[0] == true {
            return;
        }
    }
    panic!("no key leads to {selector}");
}

async fn type_keys(browser: &WebDriver, keys: &str) {
    browser.action_chain().send_keys(keys).perform().await.unwrap();
}

/// Presses Enter and waits for what the next page has.
async fn enter(browser: &WebDriver, next: &str) {
    type_keys(browser, ENTER).await;
    let found = browser.query(By::Css(next)).wait(Duration::from_secs(20), Duration::from_millis(50)).first().await;
    found.unwrap_or_else(|error| panic!("{next}: {error}"));
}

#[test]
fn a_key_is_made_and_revoked_and_a_trace_and_a_chart_are_found_by_keyboard_alone() {
    let Some(chromium) = Chromium::start() else { return };
    let dev = Dev::start();
    let base = dev.text("/base_url").to_owned();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let browser = chromium.open().await;
        browser.goto(format!("{base}/console/sign-in")).await.unwrap();
        tab_to(&browser, "main input[name=name]").await;
        type_keys(&browser, dev.text("/console/name")).await;
        tab_to(&browser, "main input[name=password]").await;
        type_keys(&browser, dev.text("/console/password")).await;
        enter(&browser, "nav a[href^='/console/accounts']").await;
        tab_to(&browser, "nav a[href^='/console/accounts']").await;
        enter(&browser, "tbody tr:last-child th a").await;
        tab_to(&browser, "tbody tr:last-child th a").await;
        enter(&browser, "form[action='/console/keys']").await;
        tab_to(&browser, "form[action='/console/keys'] input[name=name]").await;
        type_keys(&browser, "by keyboard").await;
        tab_to(&browser, "form[action='/console/keys'] button").await;
        enter(&browser, "#new-key").await;
        let key = browser.query(By::Id("new-key")).first().await.unwrap().text().await.unwrap();
        let status = |key: &str| http::get(dev.listen(), &format!("/v4/{key}/esplora/blocks/tip/height")).status;
        assert_eq!(status(&key), 200);
        tab_to(&browser, "nav a[href^='/console/keys']").await;
        enter(&browser, "form[action$='/revoke'] button").await;
        tab_to(&browser, "form[action$='/revoke'] button").await;
        type_keys(&browser, ENTER).await;
        for attempt in 0.. {
            if status(&key) == 401 {
                break;
            }
            assert!(attempt < 200, "the key is not revoked");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }

        // A trace by the search box, opened and closed; a pool by the list, its chart nearer.
        browser.goto(format!("{base}/explorer")).await.unwrap();
        tab_to(&browser, "form[role=search] input").await;
        type_keys(&browser, dev.text("/samples/unwrap_txid")).await;
        enter(&browser, "li > details > summary").await;
        let is_open = "return document.activeElement.parentElement.open";
        tab_to(&browser, "li > details > summary").await;
        let before = browser.execute(is_open, Vec::new()).await.unwrap().json().clone();
        type_keys(&browser, ENTER).await;
        assert_ne!(&before, browser.execute(is_open, Vec::new()).await.unwrap().json());
        tab_to(&browser, "a[href='/explorer/pools']").await;
        enter(&browser, "tbody a[href^='/explorer/pool/']").await;
        tab_to(&browser, "tbody a[href^='/explorer/pool/']").await;
        enter(&browser, "[data-zoom=in]").await;
        let chart = "return document.querySelector('.chart-figure .plot').getAttribute('viewBox')";
        let whole = browser.execute(chart, Vec::new()).await.unwrap().json().clone();
        tab_to(&browser, "[data-zoom=in]").await;
        type_keys(&browser, ENTER).await;
        assert_ne!(&whole, browser.execute(chart, Vec::new()).await.unwrap().json());
        browser.quit().await.unwrap();
    });
}

#[test]
fn an_owner_who_lost_everything_gets_a_link_from_the_command_line() {
    let dev = Dev::start();
    let output = paraffin().args(["account", "reset-owner", "--data-dir"]).arg(dev.folder()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let link = String::from_utf8(output.stdout).unwrap();
    let path = link.trim().strip_prefix("http://ADDRESS").unwrap();
    let page = http::get(dev.listen(), path);
    assert!(page.status == 200 && page.text().contains("Choose a new password for an owner"), "{}", page.text());
    let form = "name=owner&password=another+password&again=another+password";
    let headers = [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin")];
    let send = || http::try_request(dev.listen(), "POST", path, &headers, form.as_bytes()).unwrap();
    let joined = send();
    assert_eq!((joined.status, joined.header("location")), (303, Some("/console/keys")), "{}", joined.text());
    let cookie = joined.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let page = http::try_request(dev.listen(), "GET", "/console/keys", &[("cookie", &cookie)], b"").unwrap();
    assert!(page.status == 200 && page.text().contains("Keys"), "{}", page.text());
    // The link is used up.
    assert_eq!(send().status, 422);
}

/// The code of an authenticator, so many seconds from now.
fn code(secret: &str, seconds: u64) -> String {
    let totp = Builder::new().with_secret(Secret::try_from_base32(secret).unwrap()).build().unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    totp.generate(now.as_secs() + seconds).to_string()
}

/// Serves a page at every path, and at that of the proof what is put in here.
fn page_server(proof: &Arc<Mutex<String>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let proof = Arc::clone(proof);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let proof = Arc::clone(&proof);
            // A browser opens connections before it needs them.
            std::thread::spawn(move || {
                let mut request = [0; 4096];
                let read = stream.read(&mut request).unwrap_or(0);
                let is_proof = request[..read].starts_with(b"GET /.well-known/paraffin-verify.txt");
                let page = || "<!doctype html><title>app</title>".to_owned();
                let body = if is_proof { proof.lock().unwrap().clone() } else { page() };
                let kind = if is_proof { "text/plain" } else { "text/html" };
                let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n", body.len());
                let _ = stream.write_all(format!("{head}connection: close\r\n\r\n{body}").as_bytes());
            });
        }
    });
    port
}

/// A name server to which every name is this machine's.
fn name_server() -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut question = [0; 512];
        while let Ok((bytes, client)) = socket.recv_from(&mut question) {
            // The name ends with an empty label; then the type and the class have two bytes each.
            let name = 12 + question[12..bytes].iter().position(|byte| *byte == 0).unwrap() + 1;
            let is_address = question[name..name + 2] == [0, 1];
            let mut answer = question[..2].to_vec();
            answer.extend([0x81, 0x80, 0, 1, 0, u8::from(is_address), 0, 0, 0, 0]);
            answer.extend(&question[12..name + 4]);
            if is_address {
                answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
            }
            let _ = socket.send_to(&answer, client);
        }
    });
    port
}

/// What a page of the origin gets for one call without a key: the status, or 0 where the browser keeps the answer from it.
async fn call_from(browser: &WebDriver, origin: &str, url: &str) -> u64 {
    browser.goto(origin).await.unwrap();
    let script = r#"
        const [url, done] = arguments;
        const body = '{"jsonrpc":"2.0","id":1,"method":"btc_getblockcount","params":[]}';
        fetch(url, { method: "POST", body }).then((answer) => done(answer.status)).catch(() => done(0));
    "#;
    browser.execute_async(script, vec![json!(url)]).await.unwrap().convert().unwrap()
}

async fn text(browser: &WebDriver, selector: &str) -> String {
    browser.query(By::Css(selector)).first().await.unwrap().text().await.unwrap()
}

async fn join(browser: &WebDriver, link: &str, name: &str, password: &str) {
    browser.goto(link).await.unwrap();
    for (field, typed) in [("name", name), ("password", password), ("again", password)] {
        fill(browser, field, typed).await;
    }
    check(browser, "a link").await;
    submit(browser, "main button").await;
}

/// From the owner's link of a new instance to a page of a customer's origin that calls the API.
#[test]
fn an_owner_invites_a_customer_who_signs_in_with_two_factors_and_proves_an_origin() {
    let Some(chromium) = Chromium::start() else { return };
    let node = DevnetNode::start();
    node.mine(1, "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080");
    let proof = Arc::default();
    let port = page_server(&proof);
    let origin = format!("http://shop.test:{port}");
    let folder = tempfile::tempdir().unwrap();
    let servers = format!("name_servers = [\"127.0.0.1:{}\"]", name_server());
    let settings = format!("[access.proof]\ndns = false\nprivate_addresses = true\n{servers}");
    let mut instance = Instance::prepare(folder.path(), &node.config(), &settings);
    instance.start();
    let process = instance.process.as_mut().unwrap();
    process.wait_for_output("/console/link/", Duration::from_secs(20));
    let output = process.output();
    let link = output.split_whitespace().find(|word| word.contains("/console/link/")).unwrap().to_owned();
    let base = format!("http://{}", instance.address);
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let owner = chromium.open().await;
        join(&owner, &link, "olga", "a long password of olga").await;
        owner.goto(format!("{base}/console/accounts")).await.unwrap();
        fill(&owner, "name", "shop").await;
        submit(&owner, "form[action='/console/accounts'] button").await;
        owner.goto(format!("{base}/console/people")).await.unwrap();
        press(&owner, "select[name=account] option:last-child").await;
        submit(&owner, "form[action='/console/people'] button").await;
        let invitation = text(&owner, "#new-link").await;
        owner.quit().await.unwrap();

        let customer = chromium.open_with(&["--host-resolver-rules=MAP shop.test 127.0.0.1"]).await;
        join(&customer, &invitation, "carl", "a long password of carl").await;
        customer.goto(format!("{base}/console/people")).await.unwrap();
        assert_eq!(text(&customer, "h1").await, "Not allowed");
        let said = customer.browser_log().await.unwrap();
        assert!(said.iter().all(|entry| entry.message.contains("403")), "{said:?}");
        customer.goto(format!("{base}/console/profile")).await.unwrap();
        fill(&customer, "password", "a long password of carl").await;
        submit(&customer, "form[action='/console/profile/second-factor'] button").await;
        let secret = text(&customer, "#secret").await;
        fill(&customer, "code", &code(&secret, 0)).await;
        submit(&customer, "form[action$='/confirm'] button").await;
        check(&customer, "recovery codes").await;
        let recovery = text(&customer, "#code-list").await.lines().next().unwrap().to_owned();
        submit(&customer, ".who button").await;

        sign_in(&customer, &base, "carl", "a long password of carl").await;
        assert_eq!(text(&customer, "h1").await, "Second factor");
        // A code works once, so it is that of the next half minute.
        fill(&customer, "code", &code(&secret, 30)).await;
        submit(&customer, "main button").await;
        assert_eq!(text(&customer, "h1").await, "Keys");
        submit(&customer, ".who button").await;
        sign_in(&customer, &base, "carl", "a long password of carl").await;
        fill(&customer, "code", &recovery).await;
        submit(&customer, "main button").await;
        assert_eq!(text(&customer, "h1").await, "Keys");

        assert_eq!(call_from(&customer, &origin, &format!("{base}/v4/api")).await, 0);
        // The browser's console names the answer that was kept from the page.
        let said = customer.browser_log().await.unwrap();
        assert!(said.iter().any(|entry| entry.message.contains("CORS")), "{said:?}");
        customer.goto(format!("{base}/console/origins")).await.unwrap();
        fill(&customer, "origin", &origin).await;
        submit(&customer, "form[action='/console/origins'] button").await;
        submit(&customer, "form[action$='/verify'] button").await;
        let said = customer.browser_log().await.unwrap();
        assert!(said.iter().all(|entry| entry.message.contains("422")), "{said:?}");
        customer.goto(format!("{base}/console/origins")).await.unwrap();
        let instructions = text(&customer, "tbody tr td").await;
        let token = instructions.split("that holds ").nth(1).unwrap().split_whitespace().next().unwrap();
        token.clone_into(&mut proof.lock().unwrap());
        submit(&customer, "form[action$='/verify'] button").await;
        assert!(text(&customer, "tbody tr td").await.contains("served"), "{}", text(&customer, "main").await);
        assert_eq!(call_from(&customer, &origin, &format!("{base}/v4/api")).await, 200);
        customer.quit().await.unwrap();
    });
}

#[test]
fn a_backup_is_made_while_the_instance_runs_and_restored_into_a_stopped_one() {
    let dev = Dev::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backup");
    let other = folder.path().join("other");
    let run = |action: &str, more: &[&str], instance: &Path| {
        let mut command = paraffin();
        command.args(["account", action]).arg(&file).args(more).arg("--data-dir").arg(instance);
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(run("backup", &[], dev.folder()), (true, String::new()));
    let (is_done, said) = run("backup", &[], dev.folder());
    assert!(!is_done && said.contains("nothing is written over it"), "{said}");
    for (more, reason) in [(&[][..], "with --replace"), (&["--replace"][..], "stop the instance first")] {
        let (is_done, said) = run("restore", more, dev.folder());
        assert!(!is_done && said.contains(reason), "{said}");
    }
    let (is_done, said) = run("restore", &[], &other);
    assert!(is_done && said.contains("works again"), "{said}");
    let keys = |instance: &Path| {
        let output = paraffin().args(["keys", "list", "--json", "--data-dir"]).arg(instance).output().unwrap();
        let listed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        listed["keys"].as_array().unwrap().iter().map(|key| key["prefix"].clone()).collect::<Vec<_>>()
    };
    let of_backup = keys(&other);
    assert!(!of_backup.is_empty() && of_backup == keys(dev.folder()));
    // Another key, which the backup does not have; the accounts with it are kept.
    let created = paraffin().args(["keys", "create", "short", "--expires", "30d", "--data-dir"]).arg(&other).output();
    assert!(String::from_utf8(created.unwrap().stderr).unwrap().contains("it expires at "));
    assert_eq!(keys(&other).len(), of_backup.len() + 1);
    let (is_done, said) = run("restore", &["--replace"], &other);
    assert!(is_done && said.contains("accounts.sqlite.before-"), "{said}");
    assert_eq!(keys(&other), of_backup);
    for days in ["0d", "d", "36501", "-1"] {
        let expires = format!("--expires={days}");
        let refused = paraffin().args(["keys", "create", "x", &expires, "--data-dir"]).arg(&other).output().unwrap();
        assert!(!refused.status.success(), "{days}");
    }
}
