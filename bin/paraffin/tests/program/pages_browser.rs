//! The pages for browsers in a real one: `/` and `/docs`, where every entry is opened and whatever only reads is sent.

use std::time::Duration;

use crate::support::browser::Chromium;
use crate::support::dev::Dev;
use serde_json::{Value, json};
use thirtyfour::prelude::ElementQueryable as _;
use thirtyfour::{By, WebDriver};

/// Entries of `/docs` that one script opens.
const ENTRIES_OF_A_WALK: usize = 40;

/// Opens `count` entries of `/docs` as a user does, from number `from` on, and sends each where that changes nothing. Answers what
/// each of them shows.
const WALK: &str = r##"
    const [key, values, from, count, done] = arguments;
    const unsafe = /^(admin_|lua_)|send|submit|broadcast|eval|savescript|preview/;
    const within = (what, work) => Promise.race([work, new Promise((_, refuse) => setTimeout(() => refuse(`${what}: nothing in 20 s`), 20000))]);
    const changed = () => new Promise((seen) => addEventListener("hashchange", seen, { once: true }));
    const links = () => [...document.querySelectorAll("#list a")];
    (async () => {
        document.getElementById("key").value = key;
        const shown = [];
        for (const href of links().slice(from, from + count).map((link) => link.getAttribute("href"))) {
            // Chromium drops changes of the fragment beyond two hundred in ten seconds.
            await new Promise((turn) => setTimeout(turn, 60));
            const turned = changed();
            links().find((link) => link.getAttribute("href") === href).click();
            await within(href, turned);
            const detail = document.getElementById("detail");
            for (const part of detail.querySelectorAll("details")) part.open = true;
            const title = detail.querySelector("h3").textContent;
            const entry = { href, title, text: detail.innerText };
            const form = detail.querySelector("form");
            const inputs = [...form.querySelectorAll("input")];
            const [verb, path] = title.split(" ");
            for (const input of inputs) {
                const name = input.closest("label").textContent.trim();
                input.value ||= values[`${path} ${name}`] ?? values[name] ?? "";
                input.dispatchEvent(new Event("input", { bubbles: true }));
            }
            const needed = [...detail.querySelectorAll("td:first-child")].filter((cell) => cell.textContent.endsWith(" *"));
            const isFilled = needed.every((cell) => inputs.some((input) =>
                input.value && input.closest("label").textContent.trim() === cell.textContent.slice(0, -2)));
            const body = form.querySelector("textarea")?.value;
            const isRead = path ? verb === "GET" || body === "{}" || body === undefined : !unsafe.test(title);
            entry.curl = [...detail.querySelectorAll("pre")].map((line) => line.textContent).find((text) => text.startsWith("curl "));
            if (isRead && isFilled && !/^\/(verify|source|attest)/.test(path ?? "")) {
                form.requestSubmit();
                const since = performance.now();
                while (!detail.querySelector("strong, p.bad")) {
                    if (performance.now() - since > 20000) throw `${href}: no answer in 20 s`;
                    await new Promise((turn) => setTimeout(turn, 2));
                }
                entry.status = detail.querySelector("strong, p.bad").textContent;
                entry.answer = [...detail.querySelectorAll("pre")].at(-2)?.textContent.slice(0, 400);
            }
            shown.push(entry);
        }
        done(shown);
    })().catch((error) => done(String(error)));
"##;

/// What the page makes of a description whose paths say something for all of their operations.
const OF_PATHS: &str = r##"
    const api = {
        info: { title: "Example" },
        servers: [{ url: "/whole" }],
        components: { parameters: { page: { name: "page", in: "query", schema: { type: "integer", examples: [7] } } } },
        paths: {
            "/one/{id}": {
                summary: "Of the path", description: "x", "x-further": { get: {} },
                servers: [{ url: "/path/{key}" }, { url: "/path/" }],
                parameters: [
                    { name: "id", in: "path", required: true, schema: { type: "string", examples: ["of the path"] } },
                    { $ref: "#/components/parameters/page" },
                ],
                get: { responses: {} },
                post: {
                    summary: "Of the operation", servers: [{ url: "/operation/{key}" }], responses: {},
                    parameters: [{ name: "id", in: "path", required: true, schema: { type: "string", examples: ["own"] } }],
                },
            },
            "/two": { get: { operationId: "two", tags: ["Second"], responses: {} } },
        },
    };
    document.getElementById("key").value = "";
    return restItems(api).map((item) => {
        const parts = item.show();
        const rows = parts.flatMap((part) => [...part.querySelectorAll("tbody td:first-child")]).map((cell) => cell.textContent);
        const curl = parts.flatMap((part) => [...part.querySelectorAll("pre")]).map((line) => line.textContent).at(-1);
        return [item.verb, item.group, item.summary, rows, curl.replace(location.origin, "")];
    });
"##;

/// Fails with what the console has said since the last look, if any of it is an error.
async fn check_console(browser: &WebDriver, what: &str) {
    let said = browser.browser_log().await.unwrap();
    let errors: Vec<String> =
        said.into_iter().filter(|entry| entry.level == "SEVERE").map(|entry| entry.message).collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}");
}

/// The addresses that the links of a page lead to.
async fn links(browser: &WebDriver) -> Vec<String> {
    let script = "return [...document.querySelectorAll('a[href]')].map((link) => link.href).filter((href) => !href.includes('#'))";
    browser.execute(script, Vec::new()).await.unwrap().convert().unwrap()
}

/// Values for the inputs of forms, by name, and by path where a name means several things.
fn values(dev: &Dev) -> Value {
    let (samples, pool) = (&dev.described["samples"], dev.text("/alkanes/pools/0"));
    let order = &samples["order"];
    json!({
        "address": dev.text("/accounts/0/address"),
        "pkscript": dev.text("/accounts/0/script"),
        "ticker": samples["brc20_ticker"],
        "inscription_id": samples["inscription_id"],
        "block_height": "150",
        "height": "150",
        "market": samples["market"],
        "days": "7",
        "id": "2:0",
        "/pools/{id} id": pool,
        "/pools/{id}/history id": pool,
        "/pools/{id}/swaps id": pool,
        "/dexscreener/pair id": pool,
        "/dexscreener/events fromBlock": "120",
        "/dexscreener/events toBlock": "125",
        "/udf/symbols symbol": pool,
        "/udf/history symbol": pool,
        "/udf/history resolution": "60",
        "/udf/history to": "2000000000",
        "/orderbook/order/{source}/{id} source": order["source"],
        "/orderbook/order/{source}/{id} id": order["id"],
        "outpoint": format!("{}:0", samples["txid"].as_str().unwrap()),
    })
}

#[test]
fn every_entry_of_the_pages_opens_and_answers_without_an_error_of_the_console() {
    let Some(chromium) = Chromium::start() else { return };
    let dev = Dev::start();
    let base = dev.text("/base_url").to_owned();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let browser = chromium.open().await;
        browser.set_script_timeout(Duration::from_secs(120)).await.unwrap();

        browser.goto(format!("{base}/")).await.unwrap();
        assert_eq!(browser.title().await.unwrap(), "Paraffin");
        let mut status = String::new();
        for _ in 0..200 {
            status = browser.find(By::Id("status")).await.unwrap().text().await.unwrap();
            if !status.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        assert_eq!(status, format!("regtest, block {}, ok", dev.height()));
        let example = browser.find(By::Tag("pre")).await.unwrap().text().await.unwrap();
        assert!(example.starts_with(&format!("curl -s {base}/v4/jsonrpc ")), "{example}");
        check_console(&browser, "/").await;
        let mut all = links(&browser).await;
        assert!(all.contains(&format!("{base}/docs")), "{all:?}");

        browser.goto(format!("{base}/docs")).await.unwrap();
        let detail = browser.query(By::Css("#detail h3")).first().await.unwrap();
        assert!(!detail.text().await.unwrap().is_empty());
        all.extend(links(&browser).await);
        // In parts: the driver answers no request that takes longer than two minutes.
        let mut shown = Vec::new();
        loop {
            let arguments =
                vec![json!(dev.text("/keys/business")), values(&dev), json!(shown.len()), json!(ENTRIES_OF_A_WALK)];
            let part = browser.execute_async(WALK, arguments).await.unwrap().json().clone();
            let part = part.as_array().unwrap_or_else(|| panic!("{part}"));
            shown.extend(part.iter().cloned());
            if part.len() < ENTRIES_OF_A_WALK {
                break;
            }
        }
        assert!(shown.len() > 200, "{} entries", shown.len());
        let mut sent = 0;
        for entry in &shown {
            let curl = entry["curl"].as_str().unwrap_or_else(|| panic!("{entry}"));
            assert!(curl.starts_with("curl -sS ") && curl.contains(&base), "{entry}");
            for part in [curl, entry["text"].as_str().unwrap()] {
                assert!(!part.contains("undefined") && !part.contains("[object Object]"), "{entry}");
            }
            if let Some(status) = entry["status"].as_str() {
                assert_eq!(status, "200 OK", "{entry}");
                sent += 1;
            }
        }
        assert!(sent > 90, "{sent} of {} entries were sent", shown.len());
        let curl = |title: &str| {
            let entry = shown.iter().find(|entry| entry["title"] == title);
            entry.unwrap_or_else(|| panic!("{title}"))["curl"].as_str().unwrap()
        };
        // What the path of a description says about its server holds for the request.
        assert!(curl("GET /opi/v1/brc20/block_height").ends_with(&format!("'{base}/v4/opi/v1/brc20/block_height'")));
        assert!(curl("GET /blockhash").ends_with(&format!("'{base}/v4/api/blockhash'")));
        assert!(curl("GET /orderbook/markets").ends_with(&format!("'{base}/v4/YOUR_KEY/orderbook/markets'")));
        assert!(curl("GET /verify").ends_with(&format!("'{base}/api/v1/YOUR_KEY/verify'")));
        check_console(&browser, "/docs").await;

        let of_paths = browser.execute(OF_PATHS, Vec::new()).await.unwrap().json().clone();
        assert_eq!(
            of_paths,
            json!([
                ["GET", "Example", "Of the path", ["id *", "page"], "curl -sS '/path/one/of%20the%20path?page=7'"],
                [
                    "POST",
                    "Example",
                    "Of the operation",
                    ["page", "id *"],
                    "curl -sS -X POST '/operation/YOUR_KEY/one/own?page=7'"
                ],
                ["GET", "Second", "", [], "curl -sS '/whole/two'"],
            ])
        );

        all.sort();
        all.dedup();
        assert!(all.len() > 8, "{all:?}");
        for link in all {
            browser.goto(&link).await.unwrap();
            check_console(&browser, &link).await;
        }
        browser.quit().await.unwrap();
    });
}
