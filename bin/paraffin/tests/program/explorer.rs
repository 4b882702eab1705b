//! The explorer: every page in a real browser while blocks come and are reorganised, what is shown to whom, and how fast.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use serde_json::json;
use thirtyfour::WebDriver;

use crate::support::browser::Chromium;
use crate::support::dev::Dev;
use crate::support::devnet::DevnetNode;
use crate::support::http::{self, Answer};
use crate::support::instance::Instance;
use crate::support::node::TestNode as _;
use crate::support::page::{check, sign_in};
use crate::support::{free_port, wait_for};

/// Pages of one kind that are opened in a browser.
const OF_ONE_KIND: usize = 3;
/// Kinds of pages that the explorer has, each reached by links from its first page.
const KINDS: [&str; 21] = [
    "",
    "/address",
    "/bitcoin-price",
    "/block",
    "/brc20",
    "/contract",
    "/contracts",
    "/inscription",
    "/inscriptions",
    "/markets",
    "/mempool",
    "/orderbook",
    "/pool",
    "/pools",
    "/rates",
    "/reorgs",
    "/routes",
    "/rune",
    "/runes",
    "/status",
    "/tx",
];

/// The kind of a page: the first part of its path below the explorer.
fn kind(path: &str) -> String {
    let below = path.strip_prefix("/explorer").unwrap_or(path);
    let first = below.split(['/', '?', '#']).nth(1).unwrap_or_default();
    if below.starts_with('/') && !first.is_empty() { format!("/{first}") } else { String::new() }
}

/// Paths of the explorer that a page links to.
fn links(page: &str) -> Vec<String> {
    let after = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let own = after.filter(|link| link.starts_with("/explorer") && !link.starts_with("/explorer/content"));
    own.map(|link| link.replace("&amp;", "&").replace("&#38;", "&")).collect()
}

/// Everything that is reached from the first page by links, a few of each kind.
fn walk(get: impl Fn(&str) -> Answer) -> Vec<String> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut waiting = VecDeque::from(["/explorer".to_owned()]);
    let mut walked = Vec::new();
    while let Some(path) = waiting.pop_front() {
        let of_kind = found.entry(kind(&path)).or_default();
        if *of_kind == OF_ONE_KIND {
            continue;
        }
        *of_kind += 1;
        let answer = get(&path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        for link in links(&answer.text()) {
            if seen.insert(link.clone()) {
                waiting.push_back(link);
            }
        }
        walked.push(path);
    }
    let missing: Vec<&str> = KINDS.into_iter().filter(|kind| !found.contains_key(*kind)).collect();
    assert!(missing.is_empty(), "no link leads to {missing:?}; reached {:?}", found.keys());
    walked
}

fn get_as(dev: &Dev, cookie: &str, path: &str) -> Answer {
    http::try_request(dev.listen(), "GET", path, &[("cookie", cookie)], b"").unwrap()
}

#[test]
fn every_page_opens_on_a_desk_and_on_a_phone_without_a_fault() {
    let Some(chromium) = Chromium::start() else { return };
    let dev = Dev::start();
    let cookie = dev.session();
    let pages = walk(|path| get_as(&dev, &cookie, path));
    let base = dev.text("/base_url").to_owned();
    let (name, password) = (dev.text("/console/name").to_owned(), dev.text("/console/password").to_owned());
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        for (width, height, scheme) in [(390, 844, 0), (1280, 900, 1)] {
            let browser = chromium.open_with(&[&format!("--blink-settings=preferredColorScheme={scheme}")]).await;
            browser.set_window_rect(0, 0, width, height).await.unwrap();
            sign_in(&browser, &base, &name, &password).await;
            for (number, path) in pages.iter().enumerate() {
                // Blocks come meanwhile, and some of them leave again.
                if number % 10 == 5 {
                    dev.mine(1);
                }
                if number % 20 == 15 {
                    let left = dev.node("getbestblockhash", json!([]));
                    dev.node("invalidateblock", json!([left]));
                    dev.mine(2);
                }
                browser.goto(format!("{base}{path}")).await.unwrap();
                check(&browser, &format!("{path} at {width}")).await;
            }
            browser.quit().await.unwrap();
        }
    });
}

/// What a script finds on the page. Elements that are held meanwhile may be replaced.
async fn text_of(browser: &WebDriver, what: &str) -> String {
    let script = format!("return document.querySelector('{what}').innerHTML");
    browser.execute(script, Vec::new()).await.unwrap().convert().unwrap()
}

/// Waits until the page says a height, without having been loaded again.
async fn wait_for_height(browser: &WebDriver, height: u64) {
    let begun = Instant::now();
    loop {
        let text = text_of(browser, "main footer").await;
        if text.contains(&format!("/explorer/block/{height}\"")) {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "block {height}: {text}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let marker = browser.execute("return window.marker", Vec::new()).await.unwrap();
    assert_eq!(marker.json(), &json!(7), "the page was loaded again");
}

#[test]
fn an_open_page_follows_blocks_and_reorganisations() {
    let Some(chromium) = Chromium::start() else { return };
    let dev = Dev::start();
    let base = dev.text("/base_url").to_owned();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let browser = chromium.open().await;
        browser.goto(format!("{base}/explorer")).await.unwrap();
        browser.execute("window.marker = 7", Vec::new()).await.unwrap();
        let height = dev.height();
        wait_for_height(&browser, height).await;
        dev.mine(1);
        wait_for_height(&browser, height + 1).await;
        let left = dev.node("getbestblockhash", json!([]));
        dev.node("invalidateblock", json!([left]));
        dev.mine(2);
        wait_for_height(&browser, height + 2).await;
        let text = text_of(&browser, "tbody").await;
        assert!(!text.contains(left.as_str().unwrap()), "a block that was left is shown");
        let best = dev.node("getbestblockhash", json!([]));
        assert!(text.contains(best.as_str().unwrap()), "{text}");
        check(&browser, "after a reorganisation").await;
        let listed = http::get(dev.listen(), "/explorer/reorgs").text();
        assert!(listed.contains("The index followed 1 reorganisation."), "{listed}");
        assert!(listed.contains(left.as_str().unwrap()), "{listed}");
        browser.quit().await.unwrap();
    });
}

/// The explorer of `dev` is open; what the API asks a key for is not.
#[test]
fn anonymous_callers_are_counted_and_shown_what_the_api_shows_them() {
    let dev = Dev::start();
    let open = http::get(dev.listen(), "/explorer");
    assert_eq!(open.status, 200, "{}", open.text());
    let left = |answer: &Answer| answer.header("x-ratelimit-remaining").unwrap().parse::<u32>().unwrap();
    let next = http::get(dev.listen(), "/explorer");
    let api = http::post(
        dev.listen(),
        "/v4/jsonrpc",
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "btc_getblockcount", "params": [] }),
    );
    assert!(left(&open) > left(&next) && left(&next) > left(&api), "pages and calls are counted together");

    let rates = http::get(dev.listen(), "/explorer/rates").text();
    assert!(rates.contains("Sign in to see this") && !rates.contains("EUR"), "{rates}");
    let cookie = dev.session();
    let rates = get_as(&dev, &cookie, "/explorer/rates");
    assert!(rates.status == 200 && rates.text().contains("EUR"), "{}", rates.text());
    // Who is signed in has a bucket of his own.
    assert_eq!(get_as(&dev, &cookie, "/explorer").header("x-ratelimit-remaining"), None);

    let feed = http::get(dev.listen(), "/explorer/feed");
    assert!(feed.status == 200 && feed.header("x-ratelimit-remaining").is_some(), "{}", feed.text());
    assert!(feed.text().contains(&format!("id: {}-", dev.height())), "{}", feed.text());
}

/// An instance of one's own shows the explorer to people who are signed in.
#[test]
fn pages_are_there_while_the_node_is_away_and_for_people_of_the_instance_alone() {
    let mut node = DevnetNode::start();
    node.mine(3, "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080");
    let folder = tempfile::tempdir().unwrap();
    let mut closed = Instance::prepare(&folder.path().join("closed"), &node.config(), "");
    closed.start();
    let refused = http::get(&closed.address, "/explorer/block/2");
    assert_eq!(
        (refused.status, refused.header("location").map(|to| to.starts_with("/console/sign-in"))),
        (303, Some(true))
    );
    closed.stop();

    let settings = "[console]\nexplorer = \"open\"\n[access.keyless]\nburst = 1000";
    let mut open = Instance::prepare(&folder.path().join("open"), &node.config(), settings);
    open.start();
    open.wait_for_block(node.rpc("getbestblockhash", json!([])).as_str().unwrap());
    node.stop();
    for path in ["/explorer", "/explorer/block/2", "/explorer/block/0", "/explorer/status"] {
        let answer = http::get(&open.address, path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    }
    wait_for("the pages to say that the node is away", Duration::from_secs(30), || {
        let answer = http::get(&open.address, "/explorer/mempool");
        assert!(matches!(answer.status, 200 | 503), "{}", answer.text());
        answer.text().contains("not available").then_some(())
    });
    let Some(chromium) = Chromium::start() else { return };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let browser = chromium.open().await;
        for path in ["/explorer", "/explorer/block/2", "/explorer/contracts", "/explorer/reorgs", "/explorer/status"] {
            browser.goto(format!("http://{}{path}", open.address)).await.unwrap();
            check(&browser, &format!("{path} without a node")).await;
        }
        browser.quit().await.unwrap();
    });
}

/// Whoever asks: while the accounts cannot be consulted, no page is shown and no feed is opened.
#[test]
fn without_the_key_store_no_page_is_shown() {
    let dev = Dev::start();
    let cookie = dev.session();
    assert_eq!(get_as(&dev, &cookie, "/explorer").status, 200);
    let accounts = dev.folder().join("accounts.sqlite");
    std::fs::rename(&accounts, accounts.with_extension("aside")).unwrap();
    wait_for("the key store to be missed", Duration::from_secs(20), || {
        (http::get(dev.listen(), "/explorer").status == 503).then_some(())
    });
    for path in [
        "/explorer",
        "/explorer/block/1",
        "/explorer/status",
        "/explorer/feed",
        "/explorer/search?q=1",
        "/console/keys",
    ] {
        for cookie in ["", &cookie] {
            let answer = get_as(&dev, cookie, path);
            assert_eq!(answer.status, 503, "{path}: {}", answer.text());
            assert!(!answer.text().contains("sqlite"), "{path}: {}", answer.text());
        }
    }
}

/// Paths with parts that nothing has: each is answered, by an error of the right kind.
#[test]
fn hostile_addresses_of_pages_are_refused() {
    let dev = Dev::start();
    let cookie = dev.session();
    let long = "9".repeat(4_000);
    let parts = [
        "",
        "0",
        "-1",
        "2:0:0",
        "2:340282366920938463463374607431768211455",
        "99999999999999999999",
        "%00",
        "%E2%80%AE",
        "%3Cscript%3E",
        "..%2F..",
        "%ff",
        &long,
    ];
    let kinds = ["address", "block", "brc20", "content", "contract", "inscription", "pool", "rune", "token", "tx"];
    for kind in kinds {
        for part in parts {
            for query in ["", "?page=99999999999999999999&from=-1&interval=%3Cb%3E&view=-1&inputs=x&key=%ff"] {
                let path = format!("/explorer/{kind}/{part}{query}");
                let answer = get_as(&dev, &cookie, &path);
                assert!(answer.status < 500 || answer.status == 503, "{} {path}: {}", answer.status, answer.text());
                assert!(!answer.text().contains("<script>"), "{path}: {}", answer.text());
            }
        }
    }
    for query in [&long[..], "%3Cscript%3E", "%E2%80%AEx", "%ff", "2:0", ""] {
        let answer = get_as(&dev, &cookie, &format!("/explorer/search?q={query}"));
        assert!(answer.status < 500, "{query}: {}", answer.text());
        assert!(!answer.text().contains("<script>"), "{query}: {}", answer.text());
    }
}

/// Half of the pages within 100 ms, also in a build that is not optimised.
#[test]
fn pages_come_within_a_tenth_of_a_second() {
    let dev = Dev::start();
    let cookie = dev.session();
    let pages = walk(|path| get_as(&dev, &cookie, path));
    let mut slow = Vec::new();
    for path in pages {
        let mut times: Vec<Duration> = (0..3)
            .map(|_| {
                let begun = Instant::now();
                let answer = get_as(&dev, &cookie, &path);
                assert_eq!(answer.status, 200, "{path}");
                begun.elapsed()
            })
            .collect();
        times.sort();
        if times[1] > Duration::from_millis(100) {
            slow.push(format!("{path}: {:?}", times[1]));
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

/// Point reads, scans and scanned rows that one page may take on this chain; the list of inscriptions takes most.
const READS_MAX: u64 = 1_500;

/// A page reads no more of the index than its bound, and no more when the chain grows: the lists of a page have an end.
#[test]
fn pages_read_little_of_the_index() {
    let metrics = format!("127.0.0.1:{}", free_port());
    let dev = Dev::start_with(&["--metrics-listen", &metrics]);
    let reads = || {
        let text = http::get(&metrics, "/metrics").text();
        let of_store = text.lines().filter(|line| line.starts_with("paraffin_store_reads_total{"));
        let counts: Vec<u64> =
            of_store.map(|line| line.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap()).collect();
        assert_eq!(counts.len(), 3, "{text}");
        counts.iter().sum::<u64>()
    };
    let cookie = dev.session();
    let pages = walk(|path| get_as(&dev, &cookie, path));
    // Other parts of the instance read meanwhile: a count above what is expected is taken again. Not always, since people who are
    // signed in have 300 requests a minute.
    let measure = |path: &str, expected: u64| {
        let counted = (0..4).map(|_| {
            let before = reads();
            assert_eq!(get_as(&dev, &cookie, path).status, 200, "{path}");
            reads() - before
        });
        let mut least = u64::MAX;
        for count in counted {
            least = least.min(count);
            if least <= expected {
                break;
            }
        }
        least
    };
    let counts: Vec<u64> = pages.iter().map(|path| measure(path, READS_MAX)).collect();
    println!("{:#?}", pages.iter().zip(&counts).collect::<Vec<_>>());
    assert!(counts.iter().any(|count| *count > 10), "the counter counts nothing: {counts:?}");
    dev.mine(40);
    for (path, before) in pages.iter().zip(counts) {
        assert!(before <= READS_MAX, "{path}: {before} reads");
        let expected = before + before / 2 + 100;
        let after = measure(path, expected);
        assert!(after <= expected, "{path}: {before} reads before 40 more blocks, {after} after");
    }
}

/// The script of charts: buttons and the wheel zoom, the pointer has a crosshair with what is under it.
#[test]
fn charts_can_be_zoomed_and_pointed_at() {
    let Some(chromium) = Chromium::start() else { return };
    let dev = Dev::start();
    let pool = dev.described.pointer("/alkanes/pools/0").and_then(serde_json::Value::as_str).unwrap();
    let page = format!("{}/explorer/pool/{pool}", dev.text("/base_url"));
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let browser = chromium.open().await;
        browser.goto(page).await.unwrap();
        let run = async |script: &str| browser.execute(script, Vec::new()).await.unwrap().json().clone();
        let width = async || {
            let shown = run("return document.querySelector('.chart-figure .plot').viewBox.baseVal.width").await;
            shown.as_f64().unwrap()
        };
        let pointer = |kind: &str| {
            format!(
                "const svg = document.querySelector('.chart-figure svg.chart'); const box = svg.getBoundingClientRect();
                svg.dispatchEvent(new PointerEvent('{kind}', {{ clientX: box.left + box.width / 3, clientY: box.top + 20, bubbles: true }}));
                const cross = svg.querySelector('.cross');
                return [cross.classList.contains('off'), cross.getAttribute('x1'), document.querySelector('.chart-figure .readout').textContent]"
            )
        };
        let all = width().await;
        let pressed = "document.querySelector('.chart-figure [data-zoom=in]').click()";
        run(pressed).await;
        let closer = width().await;
        assert!(closer < all * 0.7, "{all} {closer}");
        let at = run(&pointer("pointermove")).await;
        assert!(at[0] == false && at[1].is_string() && !at[2].as_str().unwrap().is_empty(), "{at}");
        assert_eq!(run(&pointer("pointerleave")).await, json!([true, at[1], ""]));
        let wheel = |keys: &str| {
            format!(
                "const svg = document.querySelector('.chart-figure svg.chart'); const box = svg.getBoundingClientRect();
                svg.dispatchEvent(new WheelEvent('wheel', {{ deltaY: -100, clientX: box.left + 50, bubbles: true, cancelable: true, {keys} }}))"
            )
        };
        run(&wheel("ctrlKey: false")).await;
        assert!((width().await - closer).abs() < 1e-6, "the wheel alone scrolls the page");
        run(&wheel("ctrlKey: true")).await;
        let closest = width().await;
        assert!(closest < closer, "{closer} {closest}");
        for _ in 0..40 {
            run(pressed).await;
        }
        let least = width().await;
        assert!(least > 0.0 && least >= all * 0.019, "{all} {least}");
        run("document.querySelector('.chart-figure [data-zoom=all]').click()").await;
        assert!((width().await - all).abs() < 1e-6);
        check(&browser, "after zooming").await;
        browser.quit().await.unwrap();
    });
}
