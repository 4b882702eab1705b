//! Codes of an authenticator and recovery codes.
#![allow(clippy::unwrap_used)]

mod support;

use paraffin_users::{
    Event, NewSession, PENDING_ATTEMPTS_MAX, PENDING_LIFETIME_MS, PendingToken, SECOND_FACTOR_SETUP_MS, SignIn,
    UserStore, UsersError,
};
use support::{
    CLIENT, HOUR, MINUTE, NOW, PASSWORD, SECOND, add_second_factor, code, database, is_signed_in, member, owned,
    session, sign_in, wait,
};

/// A step of TOTP.
const STEP: i64 = 30 * SECOND;

async fn pending(store: &UserStore, name: &str, now: i64) -> PendingToken {
    match store.sign_in(name, PASSWORD, CLIENT, now).await.unwrap() {
        SignIn::SecondFactorNeeded(token) => token,
        SignIn::Session(_) => panic!("signed in without a second factor"),
    }
}

async fn both(store: &UserStore, name: &str, code: &str, now: i64) -> Result<NewSession, UsersError> {
    let token = pending(store, name, now).await;
    store.second_factor(&token, code, CLIENT, now).await
}

#[tokio::test]
async fn it_is_required_after_a_code_has_confirmed_it_and_not_before() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    // The session alone does not suffice: the browser of a user may be left open.
    let wrong = store.begin_second_factor(&olga.session, "a wrong password", NOW).await;
    assert!(matches!(wrong, Err(UsersError::WrongPassword)));
    let none = store.confirm_second_factor(&olga.session, "123456", NOW).await;
    assert!(matches!(none, Err(UsersError::NoSecondFactor)));
    let first = store.begin_second_factor(&olga.session, PASSWORD, NOW).await.unwrap();
    let setup = store.begin_second_factor(&olga.session, PASSWORD, NOW).await.unwrap();
    assert_eq!(setup.secret().len(), 32);
    assert_eq!(setup.uri(), format!("otpauth://totp/Paraffin:Olga?secret={}&issuer=Paraffin", setup.secret()));
    assert_eq!(format!("{setup:?}"), "SecondFactorSetup");
    sign_in(&store, "Olga", NOW).await;
    let stale = store.confirm_second_factor(&olga.session, &code(first.secret(), NOW), NOW).await;
    assert!(matches!(stale, Err(UsersError::WrongCode)));
    let confirmed = store.confirm_second_factor(&olga.session, &code(setup.secret(), NOW), NOW).await.unwrap();
    assert_eq!(confirmed.event, Event::SecondFactorAdded(olga.session.user.id));
    assert!(session(&store, &olga.token, NOW).await.unwrap().user.has_second_factor);
    // The code that confirmed it is used up.
    assert!(matches!(both(&store, "Olga", &code(setup.secret(), NOW), NOW).await, Err(UsersError::WrongCode)));
    let signed_in = both(&store, "Olga", &code(setup.secret(), NOW + STEP), NOW + STEP).await.unwrap();
    let expected = Event::SignedIn { user: olga.session.user.id, session: signed_in.session.id, factor: "totp" };
    assert_eq!(signed_in.event, expected);
    assert!(is_signed_in(&store, &signed_in.token, NOW + STEP).await);
}

#[tokio::test]
async fn a_set_up_ends_after_an_hour_and_there_is_one_at_a_time() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let confirm =
        async |secret: &str, now: i64| store.confirm_second_factor(&olga.session, &code(secret, now), now).await;
    let setup = store.begin_second_factor(&olga.session, PASSWORD, NOW).await.unwrap();
    let late = confirm(setup.secret(), NOW + SECOND_FACTOR_SETUP_MS).await;
    assert!(matches!(late, Err(UsersError::NoSecondFactor)));
    confirm(setup.secret(), NOW + SECOND_FACTOR_SETUP_MS - 1).await.unwrap();
    let now = NOW + SECOND_FACTOR_SETUP_MS + HOUR;
    assert!(matches!(store.begin_second_factor(&olga.session, PASSWORD, now).await, Err(UsersError::HasSecondFactor)));
    assert!(matches!(confirm(setup.secret(), now).await, Err(UsersError::HasSecondFactor)));
    let max = member(&store, "Max").await;
    let none = store.confirm_second_factor(&max.session, "123456", NOW).await;
    assert!(matches!(none, Err(UsersError::NoSecondFactor)));
    store.sign_out(&max.token, NOW).await.unwrap();
    assert!(matches!(store.begin_second_factor(&max.session, PASSWORD, NOW).await, Err(UsersError::SignedOut)));
}

#[tokio::test]
async fn a_step_is_accepted_once_and_no_older_one_after_it() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let (secret, _) = add_second_factor(&store, &olga.session, NOW).await;
    let now = NOW + 10 * STEP;
    let current = code(&secret, now);
    both(&store, "Olga", &current, now).await.unwrap();
    for (replay, at) in [(&current, now), (&current, now + STEP), (&code(&secret, now - STEP), now)] {
        assert!(matches!(both(&store, "Olga", replay, at).await, Err(UsersError::WrongCode)));
    }
    // One step before and after counts, so that clocks may differ; two do not.
    let now = NOW + 20 * STEP;
    for distance in [-2, 2] {
        let far = both(&store, "Olga", &code(&secret, now + distance * STEP), now).await;
        assert!(matches!(far, Err(UsersError::WrongCode)), "{distance}");
    }
    for distance in [-1, 0, 1] {
        let text = code(&secret, now + distance * STEP);
        both(&store, "Olga", &format!(" {} {} ", &text[..3], &text[3..]), now).await.unwrap();
    }
}

#[tokio::test]
async fn each_recovery_code_stands_in_once_and_new_ones_replace_all() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let user = olga.session.user.id;
    let (_, made) = add_second_factor(&store, &olga.session, NOW).await;
    let max = member(&store, "Max").await;
    let (_, others) = add_second_factor(&store, &max.session, NOW).await;
    let codes: Vec<String> = made.codes.iter().map(paraffin_users::RecoveryCode::reveal).collect();
    assert_eq!(codes.iter().collect::<std::collections::HashSet<_>>().len(), 10);
    assert!(!codes.iter().any(|code| format!("{made:?}").contains(code.as_str())));
    let used = both(&store, "Olga", &codes[3].to_lowercase(), NOW).await.unwrap();
    assert_eq!(used.event.detail(), format!("session:{} factor=recovery", used.session.id));
    assert_eq!(store.recovery_codes_left(user).await.unwrap(), 9);
    for wrong in [&codes[3], &others.codes[0].reveal()] {
        assert!(matches!(both(&store, "Olga", wrong, NOW).await, Err(UsersError::WrongCode)));
    }
    both(&store, "Olga", &codes[4].replace('-', " "), NOW).await.unwrap();

    let wrong = store.renew_recovery_codes(&olga.session, "a wrong password", NOW).await;
    assert!(matches!(wrong, Err(UsersError::WrongPassword)));
    let new = store.renew_recovery_codes(&olga.session, PASSWORD, NOW).await.unwrap();
    assert_eq!(new.event, Event::RecoveryCodesRenewed(user));
    assert!(matches!(both(&store, "Olga", &codes[5], NOW).await, Err(UsersError::WrongCode)));
    both(&store, "Olga", &new.codes[9].reveal(), NOW).await.unwrap();
    assert_eq!(store.recovery_codes_left(max.session.user.id).await.unwrap(), 10);
}

#[tokio::test]
async fn removing_it_takes_the_password_and_deletes_all_of_it() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let none = store.remove_second_factor(&olga.session, PASSWORD, NOW).await;
    assert!(matches!(none, Err(UsersError::NoSecondFactor)));
    assert!(matches!(store.renew_recovery_codes(&olga.session, PASSWORD, NOW).await, Err(UsersError::NoSecondFactor)));
    add_second_factor(&store, &olga.session, NOW).await;
    let wrong = store.remove_second_factor(&olga.session, "a wrong password", NOW).await;
    assert!(matches!(wrong, Err(UsersError::WrongPassword)));
    let removed = store.remove_second_factor(&olga.session, PASSWORD, NOW).await.unwrap();
    assert_eq!(removed, Event::SecondFactorRemoved(olga.session.user.id));
    assert_eq!(store.recovery_codes_left(olga.session.user.id).await.unwrap(), 0);
    sign_in(&store, "Olga", NOW).await;
    add_second_factor(&store, &olga.session, NOW + MINUTE).await;
}

#[tokio::test]
async fn half_a_sign_in_lasts_five_minutes_and_five_wrong_codes() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let (secret, _) = add_second_factor(&store, &olga.session, NOW - HOUR).await;
    let token = pending(&store, "Olga", NOW).await;
    let late = NOW + PENDING_LIFETIME_MS;
    let expired = store.second_factor(&token, &code(&secret, late), CLIENT, late).await;
    assert!(matches!(expired, Err(UsersError::SignInExpired)));
    store.second_factor(&token, &code(&secret, late - 1), CLIENT, late - 1).await.unwrap();
    let again = store.second_factor(&token, &code(&secret, late), CLIENT, late - 1).await;
    assert!(matches!(again, Err(UsersError::SignInExpired)), "used up");

    let now = NOW + HOUR;
    let token = pending(&store, "Olga", now).await;
    let hostile = ["", "12345", "1234567", "12345\u{661}", &"1".repeat(100_000)];
    assert_eq!(hostile.len(), PENDING_ATTEMPTS_MAX as usize);
    for wrong in hostile {
        let refused = store.second_factor(&token, wrong, CLIENT, now).await;
        assert!(matches!(refused, Err(UsersError::WrongCode)), "{wrong:.10}");
    }
    let ended = store.second_factor(&token, &code(&secret, now), CLIENT, now).await;
    assert!(matches!(ended, Err(UsersError::SignInExpired)));
}

#[tokio::test]
async fn beginning_again_does_not_give_more_attempts_at_the_code() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let (secret, _) = add_second_factor(&store, &olga.session, NOW - HOUR).await;
    for attempt in 0..5 {
        let token = pending(&store, "Olga", NOW).await;
        let wrong = store.second_factor(&token, "000000", &format!("198.51.100.{attempt}"), NOW).await;
        assert!(matches!(wrong, Err(UsersError::WrongCode)));
    }
    assert_eq!(wait(both(&store, "Olga", &code(&secret, NOW), NOW).await), 300);
    let later = NOW + 5 * MINUTE;
    both(&store, "Olga", &code(&secret, later), later).await.unwrap();
    assert!(matches!(both(&store, "Olga", "000000", later).await, Err(UsersError::WrongCode)));
}

#[tokio::test]
async fn ending_sessions_ends_pending_sign_ins() {
    let Some(database) = database() else { return };
    let (store, _) = owned(&database).await;
    let max = member(&store, "Max").await;
    let (secret, _) = add_second_factor(&store, &max.session, NOW - HOUR).await;
    let is_expired = async |token: &PendingToken| {
        let outcome = store.second_factor(token, &code(&secret, NOW), CLIENT, NOW).await;
        matches!(outcome, Err(UsersError::SignInExpired))
    };
    let token = pending(&store, "Max", NOW).await;
    store.change_password(&max.session, PASSWORD, PASSWORD, NOW).await.unwrap();
    assert!(is_expired(&token).await);
    let token = pending(&store, "Max", NOW).await;
    store.disable(max.session.user.id, NOW).await.unwrap();
    assert!(is_expired(&token).await);
}

#[tokio::test]
async fn a_name_with_any_letters_is_in_the_address_as_it_may_be() {
    let Some(database) = database() else { return };
    let (store, _) = owned(&database).await;
    let max = member(&store, "Max: <b>&?#/é").await;
    let setup = store.begin_second_factor(&max.session, PASSWORD, NOW).await.unwrap();
    let expected = "otpauth://totp/Paraffin:Max_%20%3Cb%3E%26%3F%23%2F%C3%A9?secret=";
    assert!(setup.uri().starts_with(expected), "{}", setup.uri());
}
