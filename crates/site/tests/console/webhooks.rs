//! The pages of webhooks.

use std::sync::{Arc, Mutex};

use hyper::StatusCode;
use hyper::header::LOCATION;
use paraffin_access::{AccountId, KeyStore as _, Plan};
use paraffin_webhooks::{
    Attempt, BoxFuture, EndpointState, EventPage, EventSource, Owner, SourceError, Transport, WebhookError,
};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::world::{Browser, NOW, World};

/// Positions are heights; the newest block has the height 20.
pub(crate) struct NumberedBlocks;

impl EventSource for NumberedBlocks {
    fn check<'a>(&'a self, filter: &'a RawValue) -> BoxFuture<'a, Result<Box<RawValue>, String>> {
        let value: Value = serde_json::from_str(filter.get()).unwrap();
        let is_wrong = value.get("alkanes").is_some_and(|ids| ids.to_string().contains("wrong"));
        let checked =
            if is_wrong { Err("alkanes: wrong is no id of an alkane".to_owned()) } else { Ok(filter.to_owned()) };
        Box::pin(std::future::ready(checked))
    }

    fn tip(&self) -> BoxFuture<'_, Result<String, SourceError>> {
        Box::pin(std::future::ready(Ok("20".to_owned())))
    }

    fn before_height(&self, height: u32) -> BoxFuture<'_, Result<String, SourceError>> {
        let is_known = height <= 21;
        let unknown = || SourceError::UnknownCursor("the newest block is 20".to_owned());
        Box::pin(std::future::ready(is_known.then(|| (height - 1).to_string()).ok_or_else(unknown)))
    }

    fn blocks_behind(&self, cursor: &str) -> Option<u32> {
        Some(20 - cursor.parse::<u32>().ok()?)
    }

    fn after<'a>(
        &'a self,
        _cursor: &'a str,
        _filter: &'a RawValue,
        _count_max: usize,
    ) -> BoxFuture<'a, Result<EventPage, SourceError>> {
        Box::pin(std::future::ready(Ok(EventPage { events: Vec::new(), cursor: "20".to_owned(), is_at_tip: true })))
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// Answers with the status that is set, at first 204.
#[derive(Clone, Default)]
pub(crate) struct Receiver(Arc<Mutex<Option<String>>>);

impl Transport for Receiver {
    fn post(&self, _attempt: Attempt) -> BoxFuture<'static, Result<u16, String>> {
        let failure = self.0.lock().unwrap().clone();
        Box::pin(std::future::ready(failure.map_or(Ok(204), Err)))
    }
}

const URL: &str = "https://hooks.example/in?token=hidden";

/// row CL03
#[tokio::test]
async fn a_webhook_is_made_tried_paused_changed_and_deleted_by_forms() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    assert_eq!(world.get(&mut owner, "/console/webhooks").await, StatusCode::OK);
    assert!(owner.page.contains("No account yet"));
    let account = world.account("First", Plan::PRO).await;
    assert_eq!(world.get(&mut owner, "/console/webhooks").await, StatusCode::OK);
    let fields = [
        ("account", &*account),
        ("url", URL),
        ("description", "deposits"),
        ("kind", "block"),
        ("kind", "trade"),
        ("pools", "2:7\r\n2:8"),
        ("start", "5"),
    ];
    assert_eq!(world.send(&mut owner, "/console/webhooks", &fields).await.status(), StatusCode::OK);
    let secret = owner.between("id=\"new-secret\">", "<");
    assert!(secret.starts_with("whsec_") && owner.page.contains("16 blocks"), "{}", owner.page);
    let webhooks = world.webhooks.clone().unwrap();
    let made = webhooks.list(AccountId(account.parse().unwrap())).await.unwrap().remove(0);
    assert_eq!((made.url.as_str(), made.cursor.as_str()), (URL, "4"));
    assert_eq!(made.filter, r#"{"kinds":["block","trade"],"pools":["2:7","2:8"]}"#);
    // Shown only once.
    let path = format!("/console/webhooks/{}", made.id.0);
    let page = format!("{path}?account={account}");
    for read_again in ["/console/webhooks", &page] {
        assert_eq!(world.get(&mut owner, read_again).await, StatusCode::OK);
        assert!(!owner.page.contains("whsec_") && owner.page.contains("token=hidden"), "{}", owner.page);
    }
    assert!(owner.page.contains("2:7\n2:8</textarea>"), "{}", owner.page);

    let act = async |browser: &mut Browser, action: &str| {
        let answer = world.send(browser, &format!("{path}/{action}"), &[("account", &account)]).await;
        let leads_to = answer.headers().get(LOCATION).map(|to| to.to_str().unwrap().to_owned());
        let page = browser.page.clone();
        world.get(browser, &format!("/console/webhooks?account={account}")).await;
        (answer.status(), leads_to, page)
    };
    let state = async || webhooks.get(made.account, made.id).await.map(|endpoint| endpoint.state);
    assert!(act(&mut owner, "test").await.2.contains("acknowledged in 0 ms"));
    *world.receiver.0.lock().unwrap() = Some("no <b>connection</b>".to_owned());
    let failed = act(&mut owner, "test").await.2;
    assert!(failed.contains("role=\"alert\"") && failed.contains("no &#60;b&#62;connection"), "{failed}");
    assert_eq!(act(&mut owner, "pause").await.1.as_ref(), Some(&page));
    assert_eq!(state().await.unwrap(), EndpointState::Paused);
    assert!(owner.page.contains("paused by its owner"), "{}", owner.page);
    assert_eq!(act(&mut owner, "resume").await.0, StatusCode::SEE_OTHER);
    assert_eq!(state().await.unwrap(), EndpointState::Active);
    let rotated = act(&mut owner, "rotate-secret").await;
    assert!(rotated.2.contains("id=\"new-secret\">whsec_") && !rotated.2.contains(&secret), "{}", rotated.2);
    assert_eq!(act(&mut owner, "nothing").await.0, StatusCode::NOT_FOUND);

    let changes = [
        ("account", &*account),
        ("url", "https://other.example/"),
        ("description", "deposits"),
        ("kind", "trade"),
        ("kind", "block"),
        ("pools", "2:7 2:8"),
    ];
    assert_eq!(world.send(&mut owner, &path, &changes).await.status(), StatusCode::SEE_OTHER);
    let changed = webhooks.get(made.account, made.id).await.unwrap();
    assert_eq!((changed.url.as_str(), changed.cursor.as_str()), ("https://other.example/", "4"));
    world.get(&mut owner, "/console/webhooks").await;
    assert_eq!(act(&mut owner, "delete").await.1, Some(format!("/console/webhooks?account={account}")));
    assert!(matches!(state().await, Err(WebhookError::NoSuchEndpoint)));
    assert_eq!(world.get(&mut owner, &page).await, StatusCode::NOT_FOUND);

    let log = world.keys.audit(100).await.unwrap();
    let lines: Vec<String> = log
        .iter()
        .rev()
        .filter(|line| line.subject == format!("webhook:{}", made.id.0))
        .map(|line| format!("{} {} {}", line.actor, line.action, line.detail))
        .collect();
    assert_eq!(
        lines,
        [
            format!("user:1 create account={account} to=hooks.example"),
            format!("user:1 pause account={account}"),
            format!("user:1 resume account={account}"),
            format!("user:1 rotate-secret account={account}"),
            format!("user:1 update account={account} to=other.example"),
            format!("user:1 delete account={account} to=other.example"),
        ]
    );
    assert!(log.iter().all(|line| line.at == NOW && !line.detail.contains("hidden")));
}

#[tokio::test]
async fn a_refused_form_names_its_field_and_keeps_what_was_typed() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    let account = world.account("First", Plan::PRO).await;
    world.get(&mut owner, "/console/webhooks").await;
    let hostile = "\"><script>alert(1)</script>";
    for (url, description, alkanes, start, named) in [
        ("", "", "", "", "Address: it is missing"),
        ("http://hooks.example/", "", "", "", "Address: the address must begin with https://"),
        ("https://127.0.0.1/", "", "", "", "Address: the address is not public"),
        (hostile, "", "", "", "Address: "),
        (URL, &"x".repeat(201), "", "", "Description: "),
        (URL, hostile, "wrong", "", "Events: alkanes: wrong is no id"),
        (URL, hostile, "</textarea><script>alert(1)</script> wrong", "", "Events: alkanes"),
        (URL, "", "2:0", "22", "Begin with: the newest block is 20"),
        (URL, "", "2:0", "99999999999", "Begin with: no block has this height"),
    ] {
        let fields = [
            ("account", &*account),
            ("url", url),
            ("description", description),
            ("kind", "transfer"),
            ("alkanes", alkanes),
            ("start", start),
        ];
        let refused = world.send(&mut owner, "/console/webhooks", &fields).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{named}: {}", owner.page);
        let alert = owner.between("role=\"alert\"", "</p>");
        assert!(alert.contains(named), "{named}: {alert}");
        assert!(!owner.page.contains("<script>alert"), "{}", owner.page);
        assert!(owner.page.contains("value=\"transfer\" checked") && !owner.page.contains("value=\"block\" checked"));
        assert!(owner.page.contains(&format!("name=\"start\" value=\"{start}\"")), "{}", owner.page);
    }
    assert!(owner.page.contains(&format!("value=\"{URL}\"")) && owner.page.contains("\n2:0</textarea>"));
    let id = AccountId(account.parse().unwrap());
    let webhooks = world.webhooks.clone().unwrap();
    assert!(webhooks.list(id).await.unwrap().is_empty());

    // A change is refused in the same way, and the endpoint stays as it is.
    let fields = [("account", &*account), ("url", URL), ("description", hostile), ("kind", "block")];
    world.send(&mut owner, "/console/webhooks", &fields).await;
    assert!(!owner.page.contains("<script>alert") && owner.page.contains("&#60;script&#62;"), "{}", owner.page);
    let made = webhooks.list(id).await.unwrap().remove(0);
    let path = format!("/console/webhooks/{}", made.id.0);
    let fields = [("account", &*account), ("url", "http://x/"), ("description", "kept"), ("kind", "block")];
    assert_eq!(world.send(&mut owner, &path, &fields).await.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(owner.page.contains("value=\"http://x/\"") && owner.page.contains("value=\"kept\""), "{}", owner.page);
    assert_eq!(webhooks.get(id, made.id).await.unwrap(), made);
    // At most as many as the API allows.
    for expected in [StatusCode::OK, StatusCode::OK, StatusCode::UNPROCESSABLE_ENTITY] {
        let fields = [("account", &*account), ("url", URL), ("kind", "block")];
        assert_eq!(world.send(&mut owner, "/console/webhooks", &fields).await.status(), expected);
    }
    assert!(owner.page.contains("at most 3 endpoints"), "{}", owner.page);
}

#[tokio::test]
async fn members_have_the_webhooks_of_their_account_alone_and_forms_need_the_token() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    let (first, second) = (world.account("First", Plan::PRO).await, world.account("Second", Plan::PRO).await);
    let webhooks = world.webhooks.clone().unwrap();
    let by = Owner { account: AccountId(first.parse().unwrap()), actor: "test" };
    let request = paraffin_webhooks::EndpointRequest { url: Some(URL.to_owned()), ..Default::default() };
    let (made, _) = webhooks.create(by, request).await.unwrap();
    world.get(&mut owner, "/console/people").await;
    world.send(&mut owner, "/console/people", &[("role", "member"), ("account", &second)]).await;
    let link = owner.between("/console/link/", "<");
    let mut member = world.join("member", &link).await;
    let path = format!("/console/webhooks/{}", made.id.0);
    for (page, expected) in [
        (format!("/console/webhooks?account={first}"), StatusCode::FORBIDDEN),
        (format!("{path}?account={first}"), StatusCode::FORBIDDEN),
        (format!("{path}?account={second}"), StatusCode::NOT_FOUND),
        (path.clone(), StatusCode::NOT_FOUND),
    ] {
        assert_eq!(world.get(&mut member, &page).await, expected, "{page}");
    }
    for (account, expected) in [(&first, StatusCode::FORBIDDEN), (&second, StatusCode::NOT_FOUND)] {
        for action in ["", "/pause", "/resume", "/rotate-secret", "/test", "/delete"] {
            world.get(&mut member, "/console/webhooks").await;
            let fields = [("account", &**account), ("url", URL)];
            let refused = world.send(&mut member, &format!("{path}{action}"), &fields).await;
            assert_eq!(refused.status(), expected, "{action}");
        }
    }
    // Without the token of the session nothing is changed.
    for action in ["", "/pause", "/delete"] {
        let refused = world.post(&mut owner, &format!("{path}{action}"), &[("account", &first)]).await;
        assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    }
    assert_eq!(webhooks.get(by.account, made.id).await.unwrap(), made);
    let mut without = World::new(None).await;
    without.webhooks = None;
    let mut owner = without.owner().await;
    assert_eq!(without.get(&mut owner, "/console/webhooks").await, StatusCode::SERVICE_UNAVAILABLE);
}
