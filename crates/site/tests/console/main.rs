//! The pages over real accounts and users in a file, requested as by a browser.
#![allow(clippy::unwrap_used)]

mod webhooks;
mod world;

use bytes::Bytes;
use hyper::header::{COOKIE, LOCATION, SET_COOKIE};
use hyper::{Request, StatusCode};
use paraffin_access::{
    AccountId, KeyId, KeySelector, KeyStore as _, NewAlias, NewKey, Outcome, Plan, RecordedRequest, Subject, Used,
    WindowLimits, Windows as _,
};
use world::{Browser, DAY_MS, NOW, PASSWORD, World};

/// row CL03
#[tokio::test]
async fn the_owner_makes_a_key_which_works_until_it_is_revoked() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    assert_eq!(world.get(&mut owner, "/console/keys").await, StatusCode::OK);
    assert!(owner.page.contains("No account yet"));
    assert_eq!(world.get(&mut owner, "/console/accounts").await, StatusCode::OK);
    let made = world.send(&mut owner, "/console/accounts", &[("name", "First"), ("plan", "pro")]).await;
    assert_eq!(made.status(), StatusCode::SEE_OTHER);
    assert_eq!(world.get(&mut owner, "/console/keys").await, StatusCode::OK);
    let fields = [("account", "1"), ("name", "production <b>"), ("per_minute", "1,000"), ("per_day", "")];
    assert_eq!(world.send(&mut owner, "/console/keys", &fields).await.status(), StatusCode::OK);
    let key = owner.between("id=\"new-key\">", "<");
    assert!(owner.page.contains(&format!("curl -s http://node:8080/v4/{key}")), "{}", owner.page);
    assert!(owner.page.contains("production &#60;b&#62;") && !owner.page.contains("<b>"));
    let key = key.parse().unwrap();
    let record = world.keys.authenticate(&key, NOW).await.unwrap().unwrap();
    assert_eq!((record.limits.per_minute, record.limits.per_day, record.admin), (Some(1_000), None, false));
    // The page that is read again does not have it.
    assert_eq!(world.get(&mut owner, "/console/keys?account=1").await, StatusCode::OK);
    assert!(!owner.page.contains("new-key") && owner.page.contains("active"));
    let revoked = world.send(&mut owner, "/console/keys/1/revoke", &[("account", "1")]).await;
    assert_eq!(revoked.status(), StatusCode::SEE_OTHER);
    assert!(world.keys.authenticate(&key, NOW).await.unwrap().is_none());
    assert_eq!(world.get(&mut owner, "/console/audit").await, StatusCode::OK);
    for line in ["user:1", "join", "create", "revoke"] {
        assert!(owner.page.contains(line), "{line}: {}", owner.page);
    }
}

#[tokio::test]
async fn a_rerolled_key_goes_on_for_the_hours_that_were_given() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    let account = world.account("First", Plan::PRO).await;
    world.get(&mut owner, "/console/keys").await;
    world.send(&mut owner, "/console/keys", &[("account", &account), ("name", "one")]).await;
    let old = owner.between("id=\"new-key\">", "<").parse().unwrap();
    let rerolled =
        world.send(&mut owner, "/console/keys/1/reroll", &[("account", &account), ("grace_hours", "2")]).await;
    assert_eq!(rerolled.status(), StatusCode::OK);
    let new = owner.between("id=\"new-key\">", "<").parse().unwrap();
    for (key, at, works) in [(&old, NOW, true), (&old, NOW + 2 * 3_600_000, false), (&new, NOW + 2 * 3_600_000, true)] {
        assert_eq!(world.keys.authenticate(key, at).await.unwrap().is_some(), works, "{at}");
    }
    let refused =
        world.send(&mut owner, "/console/keys/2/reroll", &[("account", &account), ("grace_hours", "soon")]).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(owner.page.contains("Hours must be a number"), "{}", owner.page);
}

#[tokio::test]
async fn a_key_expires_after_the_days_that_were_given_and_so_does_its_successor() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    let account = world.account("First", Plan::PRO).await;
    world.get(&mut owner, "/console/keys").await;
    for days in ["0", "-1", "36501", "4294967296", "1e3", "soon"] {
        let fields = [("account", &*account), ("name", "short"), ("per_day", "9"), ("expires_days", days)];
        let refused = world.send(&mut owner, "/console/keys", &fields).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{days}");
        assert!(owner.page.contains(&format!("name=\"expires_days\" value=\"{days}\"")), "{}", owner.page);
        assert!(owner.page.contains("value=\"short\"") && owner.page.contains("value=\"9\""), "{}", owner.page);
        let alert = owner.between("role=\"alert\"", "</p>").to_lowercase();
        assert!(alert.contains("expires"), "{days}: {alert}");
    }
    assert!(world.keys.list().await.unwrap().is_empty());
    let fields = [("account", &*account), ("name", "short"), ("expires_days", "30")];
    assert_eq!(world.send(&mut owner, "/console/keys", &fields).await.status(), StatusCode::OK);
    assert!(owner.page.contains("active until 2027-02-14 08:00 UTC"), "{}", owner.page);
    let first = owner.between("id=\"new-key\">", "<").parse().unwrap();
    let fields = [("account", &*account), ("grace_hours", "2")];
    assert_eq!(world.send(&mut owner, "/console/keys/1/reroll", &fields).await.status(), StatusCode::OK);
    let second = owner.between("id=\"new-key\">", "<").parse().unwrap();
    assert!(owner.page.contains("rerolled, works until 2027-01-15 10:00 UTC"), "{}", owner.page);
    let end = NOW + 30 * DAY_MS;
    for (key, at, works) in
        [(&first, NOW + 1, true), (&first, end - 1, false), (&second, end - 1, true), (&second, end, false)]
    {
        assert_eq!(world.keys.authenticate(key, at).await.unwrap().is_some(), works, "{at}");
    }
}

/// row CL03
#[tokio::test]
async fn aliases_and_origins_are_made_and_removed_and_what_was_typed_stays() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    let account = world.account("First", Plan::PRO).await;
    assert_eq!(world.get(&mut owner, "/console/aliases").await, StatusCode::OK);
    let wrong = [("account", &*account), ("name", "Not An Alias"), ("surface", "main"), ("per_day", "7")];
    assert_eq!(world.send(&mut owner, "/console/aliases", &wrong).await.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(owner.page.contains("value=\"Not An Alias\"") && owner.page.contains("value=\"7\""), "{}", owner.page);
    assert!(owner.page.contains("value=\"main\" checked") && !owner.page.contains("value=\"rest\" checked"));
    let right = [("account", &*account), ("name", "my-app"), ("surface", "main"), ("surface", "rest")];
    assert_eq!(world.send(&mut owner, "/console/aliases", &right).await.status(), StatusCode::SEE_OTHER);
    let alias = world.keys.find_alias("my-app").await.unwrap().unwrap();
    assert_eq!(alias.surfaces, ["main", "rest"]);
    world.get(&mut owner, "/console/aliases").await;
    let removed = world.send(&mut owner, "/console/aliases/my-app/remove", &[("account", &account)]).await;
    assert_eq!(removed.status(), StatusCode::SEE_OTHER);
    assert!(world.keys.find_alias("my-app").await.unwrap().is_none());

    assert_eq!(world.get(&mut owner, "/console/origins").await, StatusCode::OK);
    let wrong =
        world.send(&mut owner, "/console/origins", &[("account", &account), ("origin", "app.example.com")]).await;
    assert_eq!(wrong.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(owner.page.contains("value=\"app.example.com\"") && owner.page.contains("role=\"alert\""));
    for origin in ["http://localhost:3000", "https://app.example.com"] {
        let made = world.send(&mut owner, "/console/origins", &[("account", &account), ("origin", origin)]).await;
        assert_eq!(made.status(), StatusCode::SEE_OTHER, "{origin}: {}", owner.page);
        world.get(&mut owner, "/console/origins").await;
    }
    assert!(owner.page.contains("served since") && owner.page.contains("_paraffin.app.example.com"), "{}", owner.page);
    let removed = world.send(&mut owner, "/console/origins/2/remove", &[("account", &account)]).await;
    assert_eq!(removed.status(), StatusCode::SEE_OTHER);
    assert_eq!(world.keys.origins().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_member_sees_and_changes_its_own_account_alone() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    let (first, second) = (world.account("First", Plan::PRO).await, world.account("Second", Plan::PRO).await);
    world.get(&mut owner, "/console/people").await;
    world.send(&mut owner, "/console/people", &[("role", "member"), ("account", &second)]).await;
    let link = owner.between("/console/link/", "<");
    let mut member = world.join("Member", &link).await;
    assert_eq!(world.get(&mut member, "/console/keys").await, StatusCode::OK);
    assert!(member.page.contains("Account Second") && !member.page.contains("First"), "{}", member.page);
    // Not the member's: pages of the owner, pages and forms of another account, rights beyond requests.
    for path in ["/console/accounts", "/console/people", "/console/audit", &*format!("/console/keys?account={first}")] {
        let mut other = Browser { cookie: member.cookie.clone(), ..Browser::default() };
        assert_eq!(world.get(&mut other, path).await, StatusCode::FORBIDDEN, "{path}");
    }
    let foreign = world.send(&mut member, "/console/keys", &[("account", &first), ("name", "x")]).await;
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    world.get(&mut owner, &format!("/console/keys?account={first}")).await;
    world.send(&mut owner, "/console/keys", &[("account", &first), ("name", "of the first")]).await;
    world.get(&mut member, "/console/keys").await;
    let revoked = world.send(&mut member, "/console/keys/1/revoke", &[("account", &second)]).await;
    assert_eq!(revoked.status(), StatusCode::NOT_FOUND);
    world.get(&mut member, "/console/keys").await;
    let fields = [("account", &*second), ("name", "mine"), ("admin", "1"), ("management", "1")];
    assert_eq!(world.send(&mut member, "/console/keys", &fields).await.status(), StatusCode::OK);
    let keys = world.keys.list().await.unwrap();
    assert_eq!(keys.len(), 2);
    assert!(keys.iter().all(|key| !key.admin && !key.management && key.revoked_at.is_none()));
    for path in ["/console/accounts", "/console/people", "/console/people/1/disable", "/console/accounts/2/plan"] {
        world.get(&mut member, "/console/keys").await;
        let refused = world.send(&mut member, path, &[("plan", "business"), ("role", "owner"), ("name", "x")]).await;
        assert_eq!(refused.status(), StatusCode::FORBIDDEN, "{path}");
    }
}

#[tokio::test]
async fn forms_without_the_token_of_the_session_or_of_other_sites_change_nothing() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    let account = world.account("First", Plan::PRO).await;
    let fields = [("account", &*account), ("name", "x")];
    assert_eq!(world.post(&mut owner, "/console/keys", &fields).await.status(), StatusCode::FORBIDDEN);
    let forged = [&fields[..], &[("csrf", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")]].concat();
    assert_eq!(world.post(&mut owner, "/console/keys", &forged).await.status(), StatusCode::FORBIDDEN);
    world.get(&mut owner, "/console/keys").await;
    let csrf = owner.between("name=\"csrf\" value=\"", "\"");
    for (header, value) in [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")] {
        let request = Request::post("/console/keys")
            .header("host", "node:8080")
            .header(header, value)
            .header("content-type", "application/x-www-form-urlencoded")
            .header(COOKIE, &owner.cookie)
            .body(Bytes::from(format!("account={account}&name=x&csrf={csrf}")))
            .unwrap();
        assert_eq!(world.ask(&mut Browser::default(), request).await.status(), StatusCode::FORBIDDEN, "{header}");
    }
    assert!(world.keys.list().await.unwrap().is_empty());
    // Without a session every page leads to the sign-in.
    let mut anonymous = Browser::default();
    for path in [
        "/console/keys",
        "/console/origins",
        "/console/aliases",
        "/console/webhooks",
        "/console/webhooks/1",
        "/console/usage",
        "/console/people",
        "/console/profile",
    ] {
        assert_eq!(world.get(&mut anonymous, path).await, StatusCode::SEE_OTHER, "{path}");
    }
}

#[tokio::test]
async fn signing_in_takes_the_password_and_signing_out_ends_the_session() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    world.get(&mut owner, "/console/profile").await;
    let signed_in = owner.cookie.clone();
    assert_eq!(world.send(&mut owner, "/console/sign-out", &[]).await.status(), StatusCode::SEE_OTHER);
    let mut late = Browser { cookie: signed_in, ..Browser::default() };
    assert_eq!(world.get(&mut late, "/console/keys").await, StatusCode::SEE_OTHER);
    let mut browser = Browser::default();
    let wrong =
        world.post(&mut browser, "/console/sign-in", &[("name", "owner"), ("password", "wrong password")]).await;
    assert_eq!(wrong.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(browser.page.contains("wrong name or password") && browser.page.contains("value=\"owner\""));
    for (next, path) in
        [("/explorer/tx/ab?inputs=50", "/explorer/tx/ab?inputs=50"), ("//host/explorer", "/console/keys")]
    {
        let fields = [("name", "owner"), ("password", PASSWORD), ("next", next)];
        let led = world.post(&mut Browser::default(), "/console/sign-in", &fields).await;
        assert_eq!(led.headers()[LOCATION].to_str().unwrap(), path);
    }
    let right = world.post(&mut browser, "/console/sign-in", &[("name", "Owner"), ("password", PASSWORD)]).await;
    assert_eq!(right.status(), StatusCode::SEE_OTHER);
    let cookie = right.headers()[SET_COOKIE].to_str().unwrap();
    assert!(cookie.contains("HttpOnly; SameSite=Strict") && !cookie.contains("Secure"), "{cookie}");
    assert_eq!(world.get(&mut browser, "/console/keys").await, StatusCode::OK);
    // Many wrong passwords: the form is refused for a while, also with the right one.
    let mut last = StatusCode::OK;
    for _ in 0..40 {
        let fields = [("name", "owner"), ("password", "wrong password")];
        last = world.post(&mut Browser::default(), "/console/sign-in", &fields).await.status();
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn with_a_public_address_over_tls_the_cookie_is_for_tls_alone() {
    let world = World::new(Some("https://api.example.com")).await;
    let mut owner = world.owner().await;
    assert!(owner.cookie.starts_with("__Host-paraffin="), "{}", owner.cookie);
    let account = world.account("First", Plan::PRO).await;
    world.get(&mut owner, "/console/keys").await;
    world.send(&mut owner, "/console/keys", &[("account", &account), ("name", "x")]).await;
    assert!(owner.page.contains("curl -s https://api.example.com/v4/"));
    world.get(&mut owner, "/console/people").await;
    world.send(&mut owner, "/console/people", &[("role", "owner")]).await;
    assert!(owner.page.contains("https://api.example.com/console/link/"));
}

#[tokio::test]
async fn pages_allow_nothing_inline_and_hostile_names_are_text() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    for name in ["<script>alert(1)</script>", "\" onmouseover=\"x", "\u{202e}reversed", "{{ 7*7 }}"] {
        let account = world.account(name, Plan::PRO).await;
        world.get(&mut owner, &format!("/console/keys?account={account}")).await;
        world.send(&mut owner, "/console/keys", &[("account", &account), ("name", name)]).await;
        for page in ["keys", "origins", "aliases", "webhooks", "usage"] {
            assert_eq!(world.get(&mut owner, &format!("/console/{page}?account={account}")).await, StatusCode::OK);
            assert!(!owner.page.contains("<script>alert") && !owner.page.contains("\" onmouseover"), "{}", owner.page);
        }
    }
    let request = Request::get("/console/sign-in").header("host", "node").body(Bytes::new()).unwrap();
    let page = world.ask(&mut Browser::default(), request).await;
    let policy = page.headers()["content-security-policy"].to_str().unwrap();
    assert!(
        policy.contains("default-src 'none'")
            && !policy.contains("unsafe")
            && policy.contains("frame-ancestors 'none'")
    );
    for header in ["x-content-type-options", "referrer-policy", "cache-control"] {
        assert!(page.headers().contains_key(header), "{header}");
    }
    for path in ["/console/nothing", "/console/keys/x/revoke", "/console/link/x"] {
        let status = world.get(&mut owner, path).await;
        assert!(status.is_client_error(), "{path}: {status}");
    }
}

#[tokio::test]
async fn a_password_change_and_a_reset_end_other_sessions() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    let mut other = Browser::default();
    world.post(&mut other, "/console/sign-in", &[("name", "owner"), ("password", PASSWORD)]).await;
    world.get(&mut owner, "/console/profile").await;
    let differing = [("old", PASSWORD), ("new", "another password"), ("again", "a third password")];
    let refused = world.send(&mut owner, "/console/profile/password", &differing).await;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let fields = [("old", PASSWORD), ("new", "another password"), ("again", "another password")];
    assert_eq!(world.send(&mut owner, "/console/profile/password", &fields).await.status(), StatusCode::OK);
    assert!(owner.page.contains("The password is changed"), "{}", owner.page);
    assert_eq!(world.get(&mut other, "/console/keys").await, StatusCode::SEE_OTHER);
    assert_eq!(world.get(&mut owner, "/console/keys").await, StatusCode::OK);
    let link = world.users.reset_owner(NOW).await.unwrap().token.reveal();
    let _fresh = world.join("owner", &link).await;
    assert_eq!(world.get(&mut owner, "/console/keys").await, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_member_gains_no_right_and_no_quota_beyond_the_plan() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    let account = world.account("First", Plan::FREE).await;
    world.get(&mut owner, "/console/keys").await;
    let fields = [("account", &*account), ("name", "strong"), ("admin", "1"), ("management", "1")];
    assert_eq!(world.send(&mut owner, "/console/keys", &fields).await.status(), StatusCode::OK);
    world.get(&mut owner, "/console/people").await;
    world.send(&mut owner, "/console/people", &[("role", "member"), ("account", &account)]).await;
    let link = owner.between("/console/link/", "<");
    let mut member = world.join("member", &link).await;
    for action in ["reroll", "revoke"] {
        world.get(&mut member, "/console/keys").await;
        assert!(!member.page.contains("/console/keys/1/"), "{}", member.page);
        let refused = world.send(&mut member, &format!("/console/keys/1/{action}"), &[("account", &account)]).await;
        assert_eq!(refused.status(), StatusCode::FORBIDDEN, "{action}");
    }
    // As many aliases as the plan has keys: one.
    for (name, expected) in [("first", StatusCode::SEE_OTHER), ("second", StatusCode::UNPROCESSABLE_ENTITY)] {
        world.get(&mut member, "/console/aliases").await;
        let fields = [("account", &*account), ("name", name), ("surface", "main")];
        assert_eq!(world.send(&mut member, "/console/aliases", &fields).await.status(), expected, "{name}");
    }
    assert!(member.page.contains("allows 1 aliases"), "{}", member.page);
}

#[tokio::test]
async fn one_rerolled_key_at_a_time_goes_on_working() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    let account = world.account("First", Plan::PRO).await;
    world.get(&mut owner, "/console/people").await;
    world.send(&mut owner, "/console/people", &[("role", "member"), ("account", &account)]).await;
    let link = owner.between("/console/link/", "<");
    let mut member = world.join("member", &link).await;
    world.get(&mut member, "/console/keys").await;
    world.send(&mut member, "/console/keys", &[("account", &account), ("name", "one")]).await;
    for (key, hours, expected) in [
        ("1", "721", StatusCode::UNPROCESSABLE_ENTITY),
        ("1", "24", StatusCode::OK),
        ("2", "24", StatusCode::UNPROCESSABLE_ENTITY),
        ("1", "0", StatusCode::UNPROCESSABLE_ENTITY),
        ("2", "0", StatusCode::OK),
    ] {
        world.get(&mut member, "/console/keys").await;
        let fields = [("account", &*account), ("grace_hours", hours)];
        let status = world.send(&mut member, &format!("/console/keys/{key}/reroll"), &fields).await.status();
        assert_eq!(status, expected, "{key} {hours}: {}", member.page);
    }
}

#[tokio::test]
async fn an_owner_who_is_let_in_no_longer_has_no_link_left() {
    let world = World::new(None).await;
    let mut first = world.owner().await;
    world.get(&mut first, "/console/people").await;
    world.send(&mut first, "/console/people", &[("role", "owner")]).await;
    let link = first.between("/console/link/", "<");
    let mut second = world.join("second", &link).await;
    // Users change their own sign-in on the profile, with the password.
    world.get(&mut second, "/console/people").await;
    assert_eq!(world.send(&mut second, "/console/people/2/reset", &[]).await.status(), StatusCode::FORBIDDEN);
    world.get(&mut second, "/console/people").await;
    world.send(&mut second, "/console/people", &[("role", "owner")]).await;
    let kept = second.between("/console/link/", "<");
    world.get(&mut first, "/console/people").await;
    assert_eq!(world.send(&mut first, "/console/people/2/disable", &[]).await.status(), StatusCode::OK);
    assert_eq!(world.get(&mut second, "/console/keys").await, StatusCode::SEE_OTHER);
    let status = world.get(&mut Browser::default(), &format!("/console/link/{kept}")).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn a_wrong_first_code_leaves_the_form_for_the_next_one() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    world.get(&mut owner, "/console/profile").await;
    for password in ["", "a wrong password"] {
        let refused = world.send(&mut owner, "/console/profile/second-factor", &[("password", password)]).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY, "{}", owner.page);
        assert!(!owner.page.contains("id=\"secret\"") && owner.page.contains("Set one up"), "{}", owner.page);
    }
    let begun = world.send(&mut owner, "/console/profile/second-factor", &[("password", PASSWORD)]).await;
    assert_eq!(begun.status(), StatusCode::OK);
    assert!(owner.page.contains("id=\"secret\"") && owner.page.contains("otpauth://totp/"), "{}", owner.page);
    let wrong = world.send(&mut owner, "/console/profile/second-factor/confirm", &[("code", "000000")]).await;
    assert_eq!(wrong.status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert!(owner.page.contains("name=\"code\"") && !owner.page.contains("Set one up"), "{}", owner.page);
}

#[tokio::test]
async fn a_page_shows_the_keys_that_work_and_the_newest_of_the_others() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    let account = world.account("First", Plan::BUSINESS).await;
    let id = AccountId(account.parse().unwrap());
    for number in 0..203 {
        let new = NewKey::in_account(format!("key {number}."), id);
        let made = world.keys.create(new, "test", NOW).await.unwrap();
        if number > 0 {
            world.keys.revoke(KeySelector::Id(made.record.id), "test", NOW).await.unwrap();
        }
    }
    assert_eq!(world.get(&mut owner, "/console/keys").await, StatusCode::OK);
    assert!(owner.page.contains("key 0.") && owner.page.contains("key 202.") && !owner.page.contains("key 1."));
    assert!(owner.page.contains("3 more are not shown"), "{}", owner.page);
}

#[tokio::test]
async fn the_usage_of_an_account_is_a_chart_and_tables_with_what_is_left() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    assert_eq!(world.get(&mut owner, "/console/usage").await, StatusCode::OK);
    assert!(owner.page.contains("No account yet"));
    let (account, other) = (world.account("First", Plan::FREE).await, world.account("Second", Plan::FREE).await);
    let id = AccountId(account.parse().unwrap());
    let key = world.keys.create(NewKey::in_account("<b>hostile</b>", id), "test", NOW).await.unwrap().record.id;
    assert_eq!(world.get(&mut owner, &format!("/console/usage?account={account}")).await, StatusCode::OK);
    assert!(owner.page.contains("0 requests in the last 30") && !owner.page.contains("<rect"), "{}", owner.page);
    let alias = world.keys.create_alias(NewAlias::named(id, "my-app"), "test", NOW).await.unwrap().id;
    world.keys.create_alias(NewAlias::named(id, "unused"), "test", NOW).await.unwrap();
    let (key, alias) = (Used::Key(key), Used::Alias(alias));
    for (used, surface, outcome, at, times) in [
        (key, "main", Outcome::Answered, NOW, 1_200),
        (key, "rest", Outcome::RateLimited, NOW, 30),
        (key, "rest", Outcome::Failed, NOW - 2 * DAY_MS, 4),
        (key, "rest", Outcome::Answered, NOW - 30 * DAY_MS, 7),
        (alias, "rest", Outcome::Answered, NOW, 5),
    ] {
        for _ in 0..times {
            world.keys.record_use(RecordedRequest { used, account: id, surface, outcome }, at);
        }
    }
    for _ in 0..17 {
        world.keys.admit(Subject::Key(KeyId(1)), WindowLimits::NONE, NOW).await.unwrap();
    }
    world.keys.remove_alias("my-app", "test", NOW).await.unwrap();
    assert_eq!(world.get(&mut owner, &format!("/console/usage?account={account}")).await, StatusCode::OK);
    for expected in [
        "1,239 requests in the last 30 UTC days; 30 were refused by a limit (429) and 4 failed",
        "role=\"img\"",
        "<title id=\"usage-title\">",
        "<desc id=\"usage-description\">",
        "class=\"series-0\"",
        "<title>2027-01-15, main: 1,200</title>",
        "<title>2027-01-13, errors: 4</title>",
        "aria-current=\"page\">Usage",
        // Of 60 a minute and 1,000 a day 17 are gone; the alias has been removed, and another one was never used.
        "&#60;b&#62;hostile&#60;/b&#62;</th><td>key</td><td class=\"number\">1,234</td><td class=\"number\">30</td><td class=\"number\">4</td><td>2027-01-15 08:00 UTC</td><td class=\"number\">43</td><td class=\"number\">983</td>",
        "removed, number 1</th><td>alias</td><td class=\"number\">5</td>",
        "unused</th><td>alias</td><td class=\"number\">0</td><td class=\"number\">0</td><td class=\"number\">0</td><td>never</td><td class=\"number\">60</td><td class=\"number\">1,000</td>",
    ] {
        assert!(owner.page.contains(expected), "{expected}: {}", owner.page);
    }
    // The Content-Security-Policy forbids both.
    assert!(!owner.page.contains("style=") && !owner.page.contains("<style") && !owner.page.contains("<b>"));
    world.get(&mut owner, &format!("/console/usage?account={other}")).await;
    assert!(owner.page.contains("0 requests in the last 30") && !owner.page.contains("hostile"));
    // A member sees its own account alone.
    world.get(&mut owner, "/console/people").await;
    world.send(&mut owner, "/console/people", &[("role", "member"), ("account", &account)]).await;
    let link = owner.between("/console/link/", "<");
    let mut member = world.join("member", &link).await;
    assert_eq!(world.get(&mut member, "/console/usage").await, StatusCode::OK);
    assert!(member.page.contains("1,239 requests"));
    let foreign = world.get(&mut member, &format!("/console/usage?account={other}")).await;
    assert_eq!(foreign, StatusCode::FORBIDDEN);
    let nonsense = world.get(&mut owner, "/console/usage?account=9223372036854775808").await;
    assert_eq!(nonsense, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn accounts_stand_on_pages_whose_addresses_stay_true() {
    let world = World::new(None).await;
    let mut owner = world.owner().await;
    for number in 1..=101 {
        world.account(&format!("account {number}."), Plan::PRO).await;
    }
    let mut address = "/console/accounts".to_owned();
    for (first, last) in [(1, 50), (51, 100), (101, 101)] {
        assert_eq!(world.get(&mut owner, &address).await, StatusCode::OK);
        for (number, is_there) in [(first - 1, false), (first, true), (last, true), (last + 1, false)] {
            assert_eq!(owner.page.contains(&format!("account {number}.</a>")), is_there, "{address} {number}");
        }
        if last == 50 {
            assert!(!owner.page.contains("First accounts"));
        }
        if last < 101 {
            address = owner.between("rel=\"next\" href=\"", "\"");
        }
    }
    assert!(!owner.page.contains("rel=\"next\"") && owner.page.contains("First accounts"));
    // A change leads back to its page.
    let set = world.send(&mut owner, "/console/accounts/101/plan", &[("plan", "free"), ("after", "100")]).await;
    assert_eq!(set.headers()[LOCATION], "/console/accounts?after=100");
    world.get(&mut owner, "/console/accounts").await;
    let made = world.send(&mut owner, "/console/accounts", &[("name", "new"), ("plan", "pro")]).await;
    assert_eq!(made.headers()[LOCATION], "/console/accounts?after=101");
    for (after, expected) in [(i64::MAX.to_string(), true), ("-1".to_owned(), true), ("x".to_owned(), false)] {
        let status = world.get(&mut owner, &format!("/console/accounts?after={after}")).await;
        assert_eq!(status.is_success(), expected, "{after}: {status}");
    }
}
