//! Pictures of the main pages for the documentation, in both themes and as wide as a phone: `cargo xtask screenshots`.

use std::path::Path;

use serde_json::Value;

use crate::support::browser::Chromium;
use crate::support::dev::Dev;
use crate::support::page::{check, sign_in};

/// A picture: its name, the path of the page, width and height in pixels, and whether it is dark.
struct Picture {
    name: &'static str,
    path: String,
    size: (u32, u32),
    is_dark: bool,
}

const DESK: (u32, u32) = (1280, 900);
const PHONE: (u32, u32) = (390, 844);

fn pictures(described: &Value) -> Vec<Picture> {
    let text = |pointer: &str| described.pointer(pointer).and_then(Value::as_str).unwrap().to_owned();
    let trace = format!("/explorer/tx/{}", text("/samples/unwrap_txid"));
    let pool = format!("/explorer/pool/{}", text("/alkanes/pools/0"));
    let contract = format!("/explorer/contract/{}", text("/alkanes/btcusd_pool"));
    let of = |name, path: &str, size, is_dark| Picture { name, path: path.to_owned(), size, is_dark };
    vec![
        of("explorer", "/explorer", DESK, false),
        of("explorer-dark", "/explorer", DESK, true),
        of("explorer-phone", "/explorer", PHONE, true),
        of("trace", &trace, DESK, false),
        of("pool", &pool, DESK, true),
        of("pool-phone", &pool, PHONE, true),
        of("contract", &contract, DESK, false),
        of("console", "/console/keys", DESK, false),
    ]
}

#[test]
#[ignore = "cargo xtask screenshots writes docs/images"]
fn pictures_of_the_main_pages() {
    let folder = std::env::var("PARAFFIN_SCREENSHOTS").expect("`cargo xtask screenshots` says where pictures go");
    let chromium = Chromium::start().expect("Chromium is needed");
    let dev = Dev::start();
    let base = dev.text("/base_url").to_owned();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        for is_dark in [false, true] {
            let scheme = format!("--blink-settings=preferredColorScheme={}", u8::from(!is_dark));
            let browser = chromium.open_with(&[&scheme, "--hide-scrollbars"]).await;
            sign_in(&browser, &base, dev.text("/console/name"), dev.text("/console/password")).await;
            for picture in pictures(&dev.described).into_iter().filter(|picture| picture.is_dark == is_dark) {
                browser.set_window_rect(0, 0, picture.size.0, picture.size.1).await.unwrap();
                browser.goto(format!("{base}{}", picture.path)).await.unwrap();
                check(&browser, picture.name).await;
                browser.screenshot(&Path::new(&folder).join(format!("{}.png", picture.name))).await.unwrap();
            }
            browser.quit().await.unwrap();
        }
    });
}
