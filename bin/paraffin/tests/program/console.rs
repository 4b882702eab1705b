//! The console of an instance: through its forms, in a real browser, and by the command that lets an owner in again.

use std::path::Path;

use serde_json::json;
use thirtyfour::prelude::ElementQueryable as _;
use thirtyfour::{By, WebDriver};

use crate::support::browser::Chromium;
use crate::support::dev::Dev;
use crate::support::http;
use crate::support::process::paraffin;

/// What every page must have: labelled fields, one heading, no text that is hard to read, and nothing wider than the window.
const CHECK: &str = r#"
    const found = [];
    const luminance = (color) => {
        const [red, green, blue] = color.match(/[\d.]+/g).map(Number).map((value) => value / 255)
            .map((value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const paper = (element) => {
        for (let one = element; one; one = one.parentElement) {
            const color = getComputedStyle(one).backgroundColor;
            if (!/rgba\(.*, 0\)/.test(color)) return color;
        }
        return "rgb(255, 255, 255)";
    };
    for (const element of document.querySelectorAll("body *")) {
        const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!text || !element.offsetParent || element.closest(".hidden, .skip")) continue;
        const [one, other] = [luminance(getComputedStyle(element).color), luminance(paper(element))];
        const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        if (ratio < 4.5) found.push(`contrast ${ratio.toFixed(2)}: ${element.textContent.trim().slice(0, 40)}`);
    }
    for (const field of document.querySelectorAll("input:not([type=hidden]), select"))
        if (!field.labels?.length) found.push(`no label: ${field.outerHTML}`);
    if (document.querySelectorAll("h1").length !== 1) found.push("not one h1");
    if (document.documentElement.scrollWidth > innerWidth + 1) found.push(`wider than the window: ${document.documentElement.scrollWidth} of ${innerWidth}`);
    for (const table of document.querySelectorAll("table"))
        if (!table.querySelector("thead th[scope=col]")) found.push("a table without headings");
    return found;
"#;

/// Fails where a page has a fault, or its console an error.
async fn check(browser: &WebDriver, what: &str) {
    let found: Vec<String> = browser.execute(CHECK, Vec::new()).await.unwrap().convert().unwrap();
    assert!(found.is_empty(), "{what}: {found:#?}");
    let said = browser.browser_log().await.unwrap();
    let errors: Vec<String> =
        said.into_iter().filter(|entry| entry.level == "SEVERE").map(|entry| entry.message).collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}");
}

async fn fill(browser: &WebDriver, name: &str, text: &str) {
    let field = browser.query(By::Css(format!("main input[name={name}]"))).first().await.unwrap();
    field.clear().await.unwrap();
    field.send_keys(text).await.unwrap();
}

async fn press(browser: &WebDriver, selector: &str) {
    browser.query(By::Css(selector)).first().await.unwrap().click().await.unwrap();
}

async fn sign_in(browser: &WebDriver, base: &str, name: &str, password: &str) {
    browser.goto(format!("{base}/console/sign-in")).await.unwrap();
    fill(browser, "name", name).await;
    fill(browser, "password", password).await;
    check(browser, "sign-in").await;
    press(browser, "main button").await;
}

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
            for page in ["keys", "origins", "aliases", "usage", "accounts", "people", "audit", "profile"] {
                browser.goto(format!("{base}/console/{page}")).await.unwrap();
                check(&browser, page).await;
            }
            press(&browser, ".who button").await;
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
        press(&browser, "form[action='/console/keys'] button").await;
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
        press(&browser, "form[action$='/revoke'] button").await;
        let text = browser.query(By::Css("tbody")).first().await.unwrap().text().await.unwrap();
        assert!(text.contains("revoked"), "{text}");
        assert_eq!(count(&key), 401);
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
