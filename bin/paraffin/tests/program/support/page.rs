//! What holds of every page of the site in a browser.

use serde_json::json;
use thirtyfour::prelude::ElementQueryable as _;
use thirtyfour::{By, WebDriver};

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
    for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
        if (!field.labels?.length) found.push(`no label: ${field.outerHTML}`);
    if (document.querySelectorAll("h1").length !== 1) found.push("not one h1");
    if (document.documentElement.scrollWidth > innerWidth + 1) found.push(`wider than the window: ${document.documentElement.scrollWidth} of ${innerWidth}`);
    for (const table of document.querySelectorAll("table"))
        if (!table.querySelector("thead th[scope=col]")) found.push("a table without headings");
    // What moved without a reason of the reader's; the observer has what came before it too.
    let moved = 0;
    const what = [];
    const add = (list) => {
        for (const entry of list.getEntries().filter((entry) => !entry.hadRecentInput)) {
            moved += entry.value;
            for (const { node } of entry.sources) what.push((node?.outerHTML ?? node?.textContent ?? "").slice(0, 80));
        }
    };
    new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
    const done = arguments[arguments.length - 1];
    setTimeout(() => {
        if (moved > 0.05) found.push(`the content moved by ${moved}: ${what.join(" | ")}`);
        done(found);
    }, 60);
"#;

/// Fails where a page has a fault, or its console an error.
pub async fn check(browser: &WebDriver, what: &str) {
    let found: Vec<String> = browser.execute_async(CHECK, Vec::new()).await.unwrap().convert().unwrap();
    assert!(found.is_empty(), "{what}: {found:#?}");
    let said = browser.browser_log().await.unwrap();
    let errors: Vec<String> =
        said.into_iter().filter(|entry| entry.level == "SEVERE").map(|entry| entry.message).collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}");
}

pub async fn fill(browser: &WebDriver, name: &str, text: &str) {
    let field = browser.query(By::Css(format!("main input[name={name}]"))).first().await.unwrap();
    field.clear().await.unwrap();
    field.send_keys(text).await.unwrap();
}

/// Presses a button that sends a form, and waits for the page that answers.
pub async fn submit(browser: &WebDriver, selector: &str) {
    browser.execute("window.isBeforeAnswer = true", Vec::new()).await.unwrap();
    press(browser, selector).await;
    let is_there = "return document.readyState === 'complete' && !window.isBeforeAnswer";
    for _ in 0..400 {
        // Between two pages there may be none to ask.
        if browser.execute(is_there, Vec::new()).await.is_ok_and(|answer| answer.json() == &json!(true)) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("no page answers {selector}");
}

pub async fn press(browser: &WebDriver, selector: &str) {
    browser.query(By::Css(selector)).first().await.unwrap().click().await.unwrap();
}

pub async fn sign_in(browser: &WebDriver, base: &str, name: &str, password: &str) {
    browser.goto(format!("{base}/console/sign-in")).await.unwrap();
    fill(browser, "name", name).await;
    fill(browser, "password", password).await;
    check(browser, "sign-in").await;
    submit(browser, "main button").await;
}
