//! The console of an instance: through its forms, in a real browser, and by the command that lets an owner in again.

use serde_json::json;
use thirtyfour::By;
use thirtyfour::prelude::ElementQueryable as _;

use crate::support::browser::Chromium;
use crate::support::dev::Dev;
use crate::support::http;
use crate::support::page::{check, fill, press, sign_in};
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
            for page in ["keys", "origins", "aliases", "accounts", "people", "audit", "profile"] {
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
