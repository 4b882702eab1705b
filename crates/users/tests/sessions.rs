//! Lifetime of sessions, rotation of their tokens, and their end.
#![allow(clippy::unwrap_used)]

mod support;

use paraffin_users::{
    Event, ROTATION_GRACE_MS, ROTATION_INTERVAL_MS, SESSION_IDLE_MS, SESSION_LIFETIME_MS, SESSIONS_MAX, SessionId,
    SessionToken, UsersError,
};
use support::{
    CLIENT, DAY, HOUR, MINUTE, NOW, PASSWORD, database, is_signed_in, member, owned, session, sign_in, signed_in,
};

#[tokio::test]
async fn a_token_opens_its_session_and_no_other_text_does() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let max = member(&store, "Max").await;
    let found = session(&store, &olga.token, NOW).await.unwrap();
    assert_eq!((found.id, &found.user), (olga.session.id, &olga.session.user));
    assert_eq!((found.created_at, found.expires_at), (NOW, NOW + 12 * HOUR));
    assert_eq!(session(&store, &max.token, NOW).await.unwrap().user.name, "Max");
    let text = olga.token.reveal();
    assert!(is_signed_in(&store, &text.parse().unwrap(), NOW).await);
    for at in [0, 20, 43, 63] {
        let other = if text.as_bytes()[at] == b'A' { "B" } else { "A" };
        let wrong: SessionToken = format!("{}{other}{}", &text[..at], &text[at + 1..]).parse().unwrap();
        assert!(!is_signed_in(&store, &wrong, NOW).await, "{at}");
    }
}

#[tokio::test]
async fn a_session_ends_twelve_hours_after_its_last_use() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    assert!(is_signed_in(&store, &olga.token, NOW + SESSION_IDLE_MS - 1).await);
    let used = NOW + SESSION_IDLE_MS - 1;
    assert_eq!(session(&store, &olga.token, used).await.unwrap().expires_at, used + SESSION_IDLE_MS);
    assert!(is_signed_in(&store, &olga.token, used + SESSION_IDLE_MS - 1).await);
    let resting = sign_in(&store, "Olga", NOW).await;
    assert!(!is_signed_in(&store, &resting.token, NOW + SESSION_IDLE_MS).await);
    assert!(matches!(store.rotate(&resting.token, NOW + SESSION_IDLE_MS).await, Err(UsersError::SignedOut)));
    let ended = store.end_other_sessions(&resting.session, NOW + SESSION_IDLE_MS).await;
    assert!(matches!(ended, Err(UsersError::SignedOut)));
}

#[tokio::test]
async fn a_session_ends_thirty_days_after_the_sign_in_however_it_is_used() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let mut now = NOW;
    let mut token = olga.token;
    while now < NOW + 29 * DAY + 20 * HOUR {
        token = store.rotate(&token, now).await.unwrap().token;
        now += 10 * HOUR;
    }
    let last = session(&store, &token, NOW + SESSION_LIFETIME_MS - 1).await.unwrap();
    assert_eq!((last.created_at, last.expires_at), (NOW, NOW + 30 * DAY));
    assert!(!is_signed_in(&store, &token, NOW + SESSION_LIFETIME_MS).await);
}

#[tokio::test]
async fn the_last_use_is_written_once_a_minute() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let user = olga.session.user.id;
    for (at, written) in [(0, 0), (59_999, 0), (60_000, 60_000), (100_000, 60_000), (120_001, 120_001), (5, 120_001)] {
        assert!(is_signed_in(&store, &olga.token, NOW + at).await);
        assert_eq!(store.sessions(user, NOW + at).await.unwrap()[0].last_used_at, NOW + written, "{at}");
    }
}

#[tokio::test]
async fn a_rotated_token_is_valid_for_a_minute_and_the_new_one_goes_on() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let at = NOW + ROTATION_INTERVAL_MS;
    assert!(!session(&store, &olga.token, at - 1).await.unwrap().must_rotate);
    let old = session(&store, &olga.token, at).await.unwrap();
    assert!(old.must_rotate);
    let rotated = store.rotate(&olga.token, at).await.unwrap();
    assert_eq!((rotated.session.id, rotated.event), (olga.session.id, Event::Rotated(olga.session.id)));
    assert_ne!(rotated.token, olga.token);
    assert!(!session(&store, &rotated.token, at).await.unwrap().must_rotate);
    // Requests that were on their way, and forms that were open.
    let late = session(&store, &olga.token, at + ROTATION_GRACE_MS - 1).await.unwrap();
    assert!(!late.must_rotate);
    assert!(rotated.session.check_csrf(old.csrf.reveal()) && late.check_csrf(rotated.session.csrf.reveal()));
    let after = at + ROTATION_GRACE_MS;
    assert!(!is_signed_in(&store, &olga.token, after).await);
    assert!(matches!(store.rotate(&olga.token, after).await, Err(UsersError::SignedOut)));
    assert!(is_signed_in(&store, &rotated.token, after).await);
    assert_eq!(store.sessions(olga.session.user.id, after).await.unwrap().len(), 1);
}

#[tokio::test]
async fn whichever_new_token_a_client_keeps_it_stays_signed_in() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let at = NOW + ROTATION_INTERVAL_MS;
    let mut tokens = Vec::new();
    for request in 0..5 {
        tokens.push(store.rotate(&olga.token, at + request).await.unwrap().token);
    }
    for token in &tokens {
        assert!(is_signed_in(&store, token, at + HOUR).await);
    }
    // With the next rotation the others end.
    let next = at + ROTATION_INTERVAL_MS + MINUTE;
    let last = store.rotate(&tokens[2], next).await.unwrap().token;
    for token in &tokens {
        assert!(!is_signed_in(&store, token, next + ROTATION_GRACE_MS).await);
    }
    assert!(is_signed_in(&store, &last, next + ROTATION_GRACE_MS).await);
}

#[tokio::test]
async fn the_tokens_of_one_session_are_bounded() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let mut tokens = Vec::new();
    for _ in 0..60 {
        tokens.push(store.rotate(&olga.token, NOW).await.unwrap().token);
    }
    let mut good = 0;
    for token in &tokens {
        good += usize::from(is_signed_in(&store, token, NOW).await);
    }
    assert!(good < 32, "{good}");
    assert!(is_signed_in(&store, &olga.token, NOW).await && is_signed_in(&store, &tokens[59], NOW).await);
}

#[tokio::test]
async fn a_form_needs_the_text_of_its_own_session() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let other = sign_in(&store, "Olga", NOW).await;
    let found = session(&store, &olga.token, NOW).await.unwrap();
    let text = found.csrf.reveal();
    assert_eq!(text.len(), 43);
    assert!(found.check_csrf(text) && olga.session.check_csrf(text));
    for wrong in
        ["", &text[1..], &format!("{text} "), &text.to_lowercase(), other.session.csrf.reveal(), &"a".repeat(100_000)]
    {
        assert!(!found.check_csrf(wrong), "{wrong:.50}");
    }
    assert!(!olga.token.reveal().contains(text));
    let shown = format!("{found:?} {olga:?} {other:?}");
    for secret in [text, &olga.token.reveal(), other.session.csrf.reveal(), &other.token.reveal()] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[tokio::test]
async fn sessions_are_listed_and_ended_one_by_one_or_all_others_at_once() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let user = olga.session.user.id;
    let client = format!("<b>phone</b>\u{7}\n{}", "é".repeat(100_000));
    let phone = signed_in(store.sign_in("Olga", PASSWORD, &client, NOW + MINUTE).await.unwrap());
    let third = sign_in(&store, "Olga", NOW + 2 * MINUTE).await;
    let max = member(&store, "Max").await;
    let now = NOW + 2 * MINUTE;
    let listed = store.sessions(user, now).await.unwrap();
    let ids: Vec<_> = listed.iter().map(|session| session.id).collect();
    assert_eq!(ids, [third.session.id, phone.session.id, olga.session.id]);
    assert!(listed[1].client.starts_with("<b>phone</b>éé") && listed[1].client.chars().count() == 64);
    assert_eq!((listed[2].client.as_str(), listed[2].expires_at), (CLIENT, NOW + 12 * HOUR));

    assert_eq!(store.end_session(user, phone.session.id).await.unwrap(), Event::SessionsEnded { user, count: 1 });
    assert!(!is_signed_in(&store, &phone.token, now).await);
    for not_hers in [phone.session.id, max.session.id, SessionId(0), SessionId(i64::MAX)] {
        assert!(matches!(store.end_session(user, not_hers).await, Err(UsersError::NoSuchSession)));
    }
    let ended = store.end_other_sessions(&olga.session, now).await.unwrap();
    assert_eq!(ended, Event::SessionsEnded { user, count: 1 });
    assert!(is_signed_in(&store, &olga.token, now).await && is_signed_in(&store, &max.token, now).await);
    assert!(!is_signed_in(&store, &third.token, now).await);

    assert_eq!(store.sign_out(&olga.token, now).await.unwrap(), Some(Event::SessionsEnded { user, count: 1 }));
    assert_eq!(store.sign_out(&olga.token, now).await.unwrap(), None);
    assert!(!is_signed_in(&store, &olga.token, now).await);
    assert!(store.sessions(user, now).await.unwrap().is_empty());
    assert!(matches!(store.end_other_sessions(&olga.session, now).await, Err(UsersError::SignedOut)));
}

#[tokio::test]
async fn the_sessions_of_a_user_are_bounded_and_the_longest_unused_ends() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let mut tokens = vec![olga.token];
    for number in 1..=i64::from(SESSIONS_MAX) + 5 {
        tokens.push(sign_in(&store, "Olga", NOW + number).await.token);
    }
    let now = NOW + i64::from(SESSIONS_MAX) + 5;
    assert_eq!(store.sessions(olga.session.user.id, now).await.unwrap().len(), SESSIONS_MAX as usize);
    for (number, token) in tokens.iter().enumerate() {
        assert_eq!(is_signed_in(&store, token, now).await, number > 5, "{number}");
    }
}

#[tokio::test]
async fn a_session_shows_a_change_of_its_user_at_once_in_every_process() {
    let Some(database) = database() else { return };
    let (store, _) = owned(&database).await;
    let max = member(&store, "Max").await;
    let other = database.open().await;
    store.set_role(max.session.user.id, paraffin_users::Role::Owner, None).await.unwrap();
    assert_eq!(session(&other, &max.token, NOW).await.unwrap().user.role, paraffin_users::Role::Owner);
    store.disable(max.session.user.id, NOW).await.unwrap();
    assert!(!is_signed_in(&other, &max.token, NOW).await);
}
