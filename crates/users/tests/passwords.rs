//! Sign-in by password: refusals, throttling and rehashing.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::{Duration, Instant};

use paraffin_users::{Event, PasswordCost, SignIn, UserSettings, UsersError};
use support::{
    CHEAP, CLIENT, HOUR, MINUTE, NOW, PASSWORD, SECOND, database, is_open, is_signed_in, member, owned, owner, sign_in,
    signed_in, wait,
};

const WRONG: &str = "a wrong password";
const REMEMBERED: &str = "SELECT COUNT(*) AS number FROM console_throttle";
const MEMORY: &str = "SELECT memory_kib AS number FROM console_user";

#[tokio::test]
async fn the_right_password_signs_in_whatever_the_case_of_the_name() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let later = NOW + MINUTE;
    let session = sign_in(&store, " oLGa ", later).await;
    let user = olga.session.user.id;
    assert_eq!((session.session.user.id, session.session.user.last_sign_in_at), (user, Some(later)));
    assert_eq!(session.event, Event::SignedIn { user, session: session.session.id, factor: "none" });
    assert!(is_signed_in(&store, &session.token, later).await);
    assert!(is_signed_in(&store, &olga.token, later).await);
}

#[tokio::test]
async fn an_unknown_name_and_a_wrong_password_are_the_same_error() {
    let Some(database) = database() else { return };
    let (store, _) = owned(&database).await;
    let hostile = "\u{202e}".repeat(100_000);
    let long = "a".repeat(100_000);
    for (name, password) in [
        ("Olga", WRONG),
        ("Olga", ""),
        ("Olga", &long),
        ("Nobody", PASSWORD),
        ("", PASSWORD),
        ("a\0b", PASSWORD),
        (&long, PASSWORD),
        (&hostile, &hostile),
    ] {
        let refused = store.sign_in(name, password, CLIENT, NOW).await.unwrap_err();
        assert!(matches!(refused, UsersError::WrongNameOrPassword), "{name:.20} {refused}");
    }
}

/// The time of the answer does not reveal whether a name exists: a password is hashed in both cases.
#[tokio::test]
async fn an_unknown_name_takes_the_work_of_a_wrong_password() {
    let Some(database) = database() else { return };
    let cost = PasswordCost { memory_kib: 16 * 1_024, passes: 3, lanes: 1 };
    let store = database.open_with(UserSettings { password_cost: cost, ..UserSettings::default() }).await;
    owner(&store).await;
    let mut quickest = [Duration::MAX; 2];
    for _ in 0..4 {
        for (quickest, name) in quickest.iter_mut().zip(["Olga", "Nobody"]) {
            let began = Instant::now();
            store.sign_in(name, WRONG, CLIENT, NOW).await.unwrap_err();
            *quickest = began.elapsed().min(*quickest);
        }
    }
    let [known, unknown] = quickest;
    assert!(unknown > known / 2 && known > unknown / 2, "{known:?} {unknown:?}");
}

#[tokio::test]
async fn a_name_has_ten_attempts_and_one_more_each_minute_from_wherever_they_come() {
    let Some(database) = database() else { return };
    let (store, _) = owned(&database).await;
    for name in ["olga", "Nobody"] {
        for attempt in 0..10 {
            let refused = store.sign_in(name, WRONG, &format!("198.51.100.{attempt}"), NOW).await;
            assert!(matches!(refused, Err(UsersError::WrongNameOrPassword)), "{attempt}");
        }
        // Even the right password is not checked, and attempts do not make the wait longer.
        for _ in 0..3 {
            assert_eq!(wait(store.sign_in(name, PASSWORD, "203.0.113.1", NOW).await), 60);
        }
        assert_eq!(wait(store.sign_in(name, PASSWORD, "203.0.113.1", NOW + 59_999).await), 1);
        let again = store.sign_in(name, WRONG, "203.0.113.1", NOW + MINUTE).await;
        assert!(matches!(again, Err(UsersError::WrongNameOrPassword)));
        assert_eq!(wait(store.sign_in(name, PASSWORD, "203.0.113.1", NOW + MINUTE).await), 60);
    }
    // Another name is not concerned, and in ten minutes all is as before.
    assert!(matches!(store.sign_in("Max", WRONG, CLIENT, NOW).await, Err(UsersError::WrongNameOrPassword)));
    assert!(store.sign_in("Olga", PASSWORD, "203.0.113.1", NOW + 11 * MINUTE).await.is_ok());
}

#[tokio::test]
async fn guesses_from_other_clients_do_not_lock_the_user_out() {
    let Some(database) = database() else { return };
    let (store, _) = owned(&database).await;
    for attempt in 0..10 {
        store.sign_in("Olga", WRONG, &format!("198.51.100.{attempt}"), NOW).await.unwrap_err();
    }
    wait(store.sign_in("Olga", PASSWORD, "203.0.113.1", NOW).await);
    // Olga has been here before.
    sign_in(&store, "Olga", NOW).await;
    // Attempts from a known client are counted as well.
    for _ in 0..10 {
        store.sign_in("Olga", WRONG, CLIENT, NOW).await.unwrap_err();
    }
    assert_eq!(wait(store.sign_in("Olga", PASSWORD, CLIENT, NOW).await), 60);
    // Clients of other users are not known for her.
    member(&store, "Max").await;
    store.sign_in("Max", PASSWORD, "203.0.113.9", NOW).await.unwrap();
    wait(store.sign_in("Olga", PASSWORD, "203.0.113.9", NOW).await);
}

#[tokio::test]
async fn after_a_change_of_the_password_the_client_that_made_it_alone_is_known() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    store.sign_in("Olga", PASSWORD, "203.0.113.1", NOW).await.unwrap();
    for attempt in 0..10 {
        store.sign_in("Olga", WRONG, &format!("198.51.100.{attempt}"), NOW).await.unwrap_err();
    }
    store.sign_in("Olga", PASSWORD, "203.0.113.1", NOW).await.unwrap();
    store.change_password(&olga.session, PASSWORD, "another password", NOW).await.unwrap();
    wait(store.sign_in("Olga", "another password", "203.0.113.1", NOW).await);
    store.sign_in("Olga", "another password", CLIENT, NOW).await.unwrap();
}

#[tokio::test]
async fn the_clients_that_are_known_of_a_user_are_bounded() {
    let Some(database) = database() else { return };
    let (store, _) = owned(&database).await;
    for number in 0..40 {
        store.sign_in("Olga", PASSWORD, &format!("198.51.100.{number}"), NOW + number).await.unwrap();
    }
    assert_eq!(database.number("SELECT COUNT(*) AS number FROM console_known_client").await, 16);
}

#[tokio::test]
async fn a_client_has_thirty_attempts_and_one_more_each_ten_seconds_for_all_names() {
    let Some(database) = database() else { return };
    let (store, _) = owned(&database).await;
    let client = |host: u32| format!("2001:db8::{host:x}");
    for attempt in 0..30 {
        let refused = store.sign_in(&format!("name {attempt}"), WRONG, &client(attempt), NOW).await;
        assert!(matches!(refused, Err(UsersError::WrongNameOrPassword)), "{attempt}");
    }
    assert_eq!(wait(store.sign_in("Olga", PASSWORD, &client(99), NOW).await), 10);
    // A refused attempt is not charged to the name.
    for _ in 0..20 {
        wait(store.sign_in("Olga", PASSWORD, &client(99), NOW).await);
    }
    assert!(store.sign_in("Olga", PASSWORD, "2001:db8:0:1::1", NOW).await.is_ok());
    assert!(store.sign_in("Olga", PASSWORD, &client(99), NOW + 10 * SECOND).await.is_ok());
}

#[tokio::test]
async fn right_passwords_are_not_counted() {
    let Some(database) = database() else { return };
    let (store, _) = owned(&database).await;
    for _ in 0..40 {
        sign_in(&store, "Olga", NOW).await;
    }
    // A clock that steps back does not lengthen the wait.
    for _ in 0..10 {
        store.sign_in("Olga", WRONG, CLIENT, NOW + HOUR).await.unwrap_err();
    }
    assert_eq!(wait(store.sign_in("Olga", WRONG, CLIENT, NOW).await), 60);
}

#[tokio::test]
async fn buckets_of_attempts_are_bounded_and_the_most_tried_name_stays() {
    let Some(database) = database() else { return };
    let store = database.open_with(UserSettings { password_cost: CHEAP, remembered_max: 40 }).await;
    owner(&store).await;
    for attempt in 0..10 {
        store.sign_in("Olga", WRONG, &format!("198.51.100.{attempt}"), NOW).await.unwrap_err();
    }
    for number in 0..150 {
        store.sign_in(&format!("name {number}"), WRONG, &format!("client {number}"), NOW).await.unwrap_err();
        if number % 10 == 0 {
            assert!(database.number(REMEMBERED).await <= 40);
        }
    }
    assert!(database.number(REMEMBERED).await <= 40);
    wait(store.sign_in("Olga", PASSWORD, "203.0.113.1", NOW).await);
}

#[tokio::test]
async fn other_processes_and_later_ones_count_the_same_attempts() {
    let Some(database) = database() else { return };
    let (store, _) = owned(&database).await;
    let other = database.open().await;
    for attempt in 0..10 {
        let store = if attempt % 2 == 0 { &store } else { &other };
        store.sign_in("Olga", WRONG, &format!("198.51.100.{attempt}"), NOW).await.unwrap_err();
    }
    store.close().await;
    other.close().await;
    assert_eq!(wait(database.open().await.sign_in("Olga", PASSWORD, "203.0.113.1", NOW).await), 60);
}

#[tokio::test]
async fn a_password_of_other_parameters_is_hashed_anew_when_it_is_given() {
    let Some(database) = database() else { return };
    let (store, _) = owned(&database).await;
    store.close().await;
    let dearer = PasswordCost { memory_kib: 16, passes: 2, lanes: 1 };
    let store = database.open_with(UserSettings { password_cost: dearer, ..UserSettings::default() }).await;
    assert_eq!(database.number(MEMORY).await, 8);
    store.sign_in("Olga", WRONG, CLIENT, NOW).await.unwrap_err();
    assert_eq!(database.number(MEMORY).await, 8);
    sign_in(&store, "Olga", NOW).await;
    assert_eq!(database.number(MEMORY).await, 16);
    sign_in(&store, "Olga", NOW).await;
}

#[tokio::test]
async fn a_new_password_ends_the_other_sessions_and_open_resets() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let here = sign_in(&store, "Olga", NOW).await;
    let max = member(&store, "Max").await;
    let reset = store.reset_link(olga.session.user.id, NOW).await.unwrap();
    let change = async |old: &str, new: &str| store.change_password(&here.session, old, new, NOW).await;
    assert!(matches!(change(WRONG, "another password").await, Err(UsersError::WrongPassword)));
    assert!(matches!(change(PASSWORD, "short").await, Err(UsersError::PasswordLength)));
    assert!(is_signed_in(&store, &olga.token, NOW).await);
    let user = olga.session.user.id;
    assert_eq!(change(PASSWORD, "another password").await.unwrap(), Event::PasswordChanged { user, ended: 1 });
    assert!(is_signed_in(&store, &here.token, NOW).await && is_signed_in(&store, &max.token, NOW).await);
    assert!(!is_signed_in(&store, &olga.token, NOW).await);
    assert!(!is_open(&store, &reset.token, NOW).await);
    assert!(matches!(change(PASSWORD, "a third password").await, Err(UsersError::WrongPassword)));
    assert!(matches!(store.sign_in("Olga", PASSWORD, CLIENT, NOW).await, Err(UsersError::WrongNameOrPassword)));
    assert!(matches!(store.sign_in("Olga", "another password", CLIENT, NOW).await, Ok(SignIn::Session(_))));
    // An ended session changes nothing.
    let ended = store.change_password(&olga.session, "another password", "a third password", NOW).await;
    assert!(matches!(ended, Err(UsersError::SignedOut)));
}

#[tokio::test]
async fn a_session_without_the_password_has_ten_attempts_at_it() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    for _ in 0..10 {
        let wrong = store.change_password(&olga.session, WRONG, "another password", NOW).await;
        assert!(matches!(wrong, Err(UsersError::WrongPassword)));
    }
    assert_eq!(wait(store.change_password(&olga.session, PASSWORD, "another password", NOW).await), 60);
    assert_eq!(wait(store.remove_second_factor(&olga.session, PASSWORD, NOW).await), 60);
    // Sign-ins are counted separately.
    signed_in(store.sign_in("Olga", PASSWORD, "203.0.113.1", NOW).await.unwrap());
    assert!(store.change_password(&olga.session, PASSWORD, "another password", NOW + MINUTE).await.is_ok());
}
