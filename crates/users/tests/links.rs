//! Links make users and give new passwords, once each.
#![allow(clippy::unwrap_used)]

mod support;

use paraffin_users::{
    Event, INVITATION_LIFETIME_MS, LINKS_MAX, LinkKind, OWNER_RESET_LIFETIME_MS, RESET_LIFETIME_MS, Role,
    SETUP_LIFETIME_MS, UserId, UsersError,
};
use support::{
    CLIENT, NOW, PASSWORD, accept, add_second_factor, another_owner, database, is_open, is_signed_in, member, owned,
    owner, session, sign_in,
};

#[tokio::test]
async fn the_first_link_makes_the_owner_and_there_is_none_after() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let link = store.setup_link(NOW).await.unwrap().unwrap();
    assert_eq!((link.record.kind, link.record.expires_at), (LinkKind::Setup, NOW + SETUP_LIFETIME_MS));
    // Looking at it does not use it up.
    for _ in 0..3 {
        assert_eq!(store.look_at_link(&link.token, NOW).await.unwrap().unwrap(), link.record);
    }
    let made = accept(&store, &link, "  Olga ").await;
    let user = &made.session.user;
    assert_eq!((user.name.as_str(), user.role, user.account), ("Olga", Role::Owner, None));
    assert_eq!((user.created_at, user.last_sign_in_at), (NOW, Some(NOW)));
    assert!(!user.has_second_factor && !user.is_disabled);
    assert_eq!(made.event, Event::Joined { user: user.id, link: link.record.id, role: Role::Owner, account: None });
    assert!(is_signed_in(&store, &made.token, NOW).await);
    assert_eq!(store.users().await.unwrap(), std::slice::from_ref(user));
    assert!(store.setup_link(NOW).await.unwrap().is_none());
    assert!(!is_open(&store, &link.token, NOW).await);
    let again = store.accept_link(&link.token, "Mallory", PASSWORD, CLIENT, NOW).await;
    assert!(matches!(again, Err(UsersError::InvalidLink)));
}

#[tokio::test]
async fn a_new_first_link_replaces_the_one_before() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let old = store.setup_link(NOW).await.unwrap().unwrap();
    let new = store.setup_link(NOW).await.unwrap().unwrap();
    assert!(!is_open(&store, &old.token, NOW).await && is_open(&store, &new.token, NOW).await);
    assert_eq!(store.links(NOW).await.unwrap(), [new.record]);
}

#[tokio::test]
async fn a_first_link_is_invalid_after_an_invitation_has_made_an_owner() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let setup = store.setup_link(NOW).await.unwrap().unwrap();
    another_owner(&store, "Olga").await;
    assert!(!is_open(&store, &setup.token, NOW).await);
    let late = store.accept_link(&setup.token, "Mallory", PASSWORD, CLIENT, NOW).await;
    assert!(matches!(late, Err(UsersError::InvalidLink)));
}

#[tokio::test]
async fn an_invitation_makes_a_member_of_an_account_or_an_owner() {
    let Some(database) = database() else { return };
    let (store, _) = owned(&database).await;
    let member = member(&store, "Max").await.session.user;
    assert_eq!((member.role, member.account), (Role::Member, Some(7)));
    let link = store.invite(Role::Owner, Some(8), NOW).await.unwrap();
    assert_eq!(link.record.kind, LinkKind::Invitation { role: Role::Owner, account: Some(8) });
    assert_eq!(link.event.detail(), "kind=invitation role=owner account:8");
    let owner = accept(&store, &link, "Oskar").await.session.user;
    assert_eq!((owner.role, owner.account), (Role::Owner, Some(8)));
    assert!(matches!(store.invite(Role::Member, None, NOW).await, Err(UsersError::AccountNeeded)));
}

#[tokio::test]
async fn every_link_ends_with_its_time() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let setup = store.setup_link(NOW).await.unwrap().unwrap();
    assert!(is_open(&store, &setup.token, NOW + SETUP_LIFETIME_MS - 1).await);
    let late = NOW + SETUP_LIFETIME_MS;
    assert!(!is_open(&store, &setup.token, late).await && store.links(late).await.unwrap().is_empty());
    let refused = store.accept_link(&setup.token, "Olga", PASSWORD, CLIENT, late).await;
    assert!(matches!(refused, Err(UsersError::InvalidLink)));
    let olga = owner(&store).await.session.user.id;
    for (link, lifetime) in [
        (store.invite(Role::Member, Some(1), NOW).await.unwrap(), INVITATION_LIFETIME_MS),
        (store.reset_link(olga, NOW).await.unwrap(), RESET_LIFETIME_MS),
        (store.reset_owner(NOW).await.unwrap(), OWNER_RESET_LIFETIME_MS),
    ] {
        assert_eq!(link.record.expires_at, NOW + lifetime);
        assert!(is_open(&store, &link.token, NOW + lifetime - 1).await);
        assert!(!is_open(&store, &link.token, NOW + lifetime).await);
    }
}

#[tokio::test]
async fn an_invalid_form_does_not_use_up_the_link() {
    let Some(database) = database() else { return };
    let (store, _) = owned(&database).await;
    let link = store.invite(Role::Member, Some(7), NOW).await.unwrap();
    let refused = async |name: &str, password: &str| {
        store.accept_link(&link.token, name, password, CLIENT, NOW).await.unwrap_err().to_string()
    };
    let names = ["", " ", "a\u{202e}b", "a\0b", "line\nbreak", &"é".repeat(65), &"a".repeat(100_000)];
    for name in names {
        assert!(refused(name, PASSWORD).await.starts_with("a name has 1 to 64 characters"), "{name:.20}");
    }
    for taken in ["Olga", "oLGA", "  OLGA  "] {
        assert_eq!(refused(taken, PASSWORD).await, "this name is taken");
    }
    for password in ["", "123456789", &"a".repeat(1_025), &"a".repeat(100_000)] {
        assert_eq!(refused("Max", password).await, "a password has 10 to 1024 bytes");
    }
    assert_eq!(refused("Max Mustermann", "max mustermann").await, "the password must not be the name");
    assert_eq!(store.users().await.unwrap().len(), 1);
    accept(&store, &link, "<b>Max</b> & \u{645}\u{62d}\u{645}\u{62f}").await;
}

#[tokio::test]
async fn a_reset_gives_a_password_removes_the_second_factor_and_ends_all_sessions() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let max = member(&store, "Max").await;
    add_second_factor(&store, &max.session, NOW).await;
    let before = store.reset_link(max.session.user.id, NOW).await.unwrap();
    let link = store.reset_link(max.session.user.id, NOW).await.unwrap();
    assert!(!is_open(&store, &before.token, NOW).await, "the one before is replaced");
    assert_eq!(
        (link.record.kind, &link.record.names[..]),
        (LinkKind::Reset { user: max.session.user.id }, &["Max".to_owned()][..])
    );
    // Until it is used nothing changes.
    assert!(is_signed_in(&store, &max.token, NOW).await);
    let equal = store.accept_link(&link.token, "", "Max", CLIENT, NOW).await;
    assert!(matches!(equal, Err(UsersError::PasswordLength)));
    let reset = store.accept_link(&link.token, "not looked at \0", "another password", CLIENT, NOW).await.unwrap();
    assert_eq!(reset.event, Event::Reset { user: max.session.user.id, link: link.record.id });
    assert_eq!((reset.session.user.name.as_str(), reset.session.user.has_second_factor), ("Max", false));
    assert!(!is_signed_in(&store, &max.token, NOW).await);
    assert!(is_signed_in(&store, &reset.token, NOW).await && is_signed_in(&store, &olga.token, NOW).await);
    assert_eq!(store.recovery_codes_left(max.session.user.id).await.unwrap(), 0);
    assert!(matches!(store.sign_in("Max", PASSWORD, CLIENT, NOW).await, Err(UsersError::WrongNameOrPassword)));
    assert!(store.sign_in("Max", "another password", CLIENT, NOW).await.is_ok());
    assert!(matches!(store.reset_link(UserId(99), NOW).await, Err(UsersError::NoSuchUser)));
}

#[tokio::test]
async fn the_command_line_resets_the_owner_who_is_named() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    assert!(matches!(store.reset_owner(NOW).await, Err(UsersError::NoOwner)));
    let olga = owner(&store).await;
    let oskar = another_owner(&store, "Oskar").await;
    let max = member(&store, "Max").await;
    let gone = another_owner(&store, "Gone").await;
    store.disable(gone.session.user.id, NOW).await.unwrap();
    add_second_factor(&store, &oskar.session, NOW).await;
    let first = store.reset_owner(NOW).await.unwrap();
    let link = store.reset_owner(NOW).await.unwrap();
    assert!(!is_open(&store, &first.token, NOW).await);
    assert_eq!(link.record.names, ["Olga", "Oskar"]);
    for name in ["Max", "Gone", "Nobody", "", "a\0"] {
        let refused = store.accept_link(&link.token, name, "another password", CLIENT, NOW).await;
        assert!(matches!(refused, Err(UsersError::NotAnOwner)), "{name:?}");
    }
    let reset = store.accept_link(&link.token, "OSKAR", "another password", CLIENT, NOW).await.unwrap();
    assert_eq!(reset.session.user.id, oskar.session.user.id);
    assert!(!reset.session.user.has_second_factor);
    assert!(!is_signed_in(&store, &oskar.token, NOW).await);
    assert!(is_signed_in(&store, &olga.token, NOW).await && is_signed_in(&store, &max.token, NOW).await);
    assert!(!is_open(&store, &link.token, NOW).await);
}

/// All links but two, of the time when the tests begin.
const FILL_SQLITE: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 998) INSERT INTO console_link (digest, kind, created_at, expires_at) SELECT CAST(i AS BLOB), 'owner-reset', 1700000000000, 1700000000001 FROM n RETURNING id AS number";
const FILL_POSTGRES: &str = "INSERT INTO console_link (digest, kind, created_at, expires_at) SELECT CAST(CAST(i AS TEXT) AS BYTEA), 'owner-reset', 1700000000000, 1700000000001 FROM generate_series(1, 998) AS i RETURNING id AS number";

#[tokio::test]
async fn links_are_listed_withdrawn_and_bounded() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let link = store.invite(Role::Member, Some(7), NOW).await.unwrap();
    let reset = store.reset_link(olga.session.user.id, NOW).await.unwrap();
    assert_eq!(store.links(NOW).await.unwrap(), [link.record.clone(), reset.record]);
    assert_eq!(store.withdraw_link(link.record.id).await.unwrap(), Event::LinkWithdrawn(link.record.id));
    assert!(matches!(store.withdraw_link(link.record.id).await, Err(UsersError::NoSuchLink)));
    assert!(!is_open(&store, &link.token, NOW).await);
    let filled = if database.server.is_some() { FILL_POSTGRES } else { FILL_SQLITE };
    database.number(filled).await;
    assert_eq!(store.links(NOW).await.unwrap().len(), LINKS_MAX as usize - 1);
    store.invite(Role::Owner, None, NOW).await.unwrap();
    assert!(matches!(store.invite(Role::Owner, None, NOW).await, Err(UsersError::TooManyLinks)));
    // Those that have ended do not count.
    assert!(store.invite(Role::Owner, None, NOW + INVITATION_LIFETIME_MS).await.is_ok());
}

#[tokio::test]
async fn the_last_owner_stays() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let olga = olga.session.user.id;
    let max = member(&store, "Max").await.session.user.id;
    let refused = async || {
        assert!(matches!(store.remove(olga).await, Err(UsersError::LastOwner)));
        assert!(matches!(store.disable(olga, NOW).await, Err(UsersError::LastOwner)));
        assert!(matches!(store.set_role(olga, Role::Member, Some(7)).await, Err(UsersError::LastOwner)));
    };
    refused().await;
    // A disabled owner does not count as one.
    let oskar = another_owner(&store, "Oskar").await.session.user.id;
    store.disable(oskar, NOW).await.unwrap();
    refused().await;
    store.enable(oskar).await.unwrap();
    store.set_role(olga, Role::Member, Some(7)).await.unwrap();
    assert!(matches!(store.disable(oskar, NOW).await, Err(UsersError::LastOwner)));
    let event = store.set_role(max, Role::Owner, Some(7)).await.unwrap();
    assert_eq!((event.action(), event.detail()), ("role", "role=owner account:7".to_owned()));
    store.remove(oskar).await.unwrap();
    assert!(matches!(store.set_role(max, Role::Owner, None).await, Ok(Event::RoleSet { .. })));
    assert!(matches!(store.set_role(max, Role::Member, None).await, Err(UsersError::AccountNeeded)));
}

#[tokio::test]
async fn a_disabled_user_is_out_until_enabled_and_a_removed_one_for_good() {
    let Some(database) = database() else { return };
    let (store, _) = owned(&database).await;
    let max = member(&store, "Max").await;
    let id = max.session.user.id;
    let reset = store.reset_link(id, NOW).await.unwrap();
    assert_eq!(store.disable(id, NOW).await.unwrap(), Event::Disabled(id));
    assert!(!is_signed_in(&store, &max.token, NOW).await && !is_open(&store, &reset.token, NOW).await);
    assert!(store.user(id).await.unwrap().is_disabled);
    assert!(matches!(store.reset_link(id, NOW).await, Err(UsersError::Disabled)));
    assert!(matches!(store.sign_in("Max", PASSWORD, CLIENT, NOW).await, Err(UsersError::Disabled)));
    // Only the right password reveals that a user is disabled.
    let wrong = store.sign_in("Max", "a wrong password", CLIENT, NOW).await;
    assert!(matches!(wrong, Err(UsersError::WrongNameOrPassword)));
    store.enable(id).await.unwrap();
    assert!(!is_signed_in(&store, &max.token, NOW).await, "an ended session stays ended");
    let again = sign_in(&store, "Max", NOW).await;
    add_second_factor(&store, &again.session, NOW).await;
    store.reset_link(id, NOW).await.unwrap();
    assert_eq!(store.remove(id).await.unwrap(), Event::Removed(id));
    assert!(session(&store, &again.token, NOW).await.is_none());
    assert!(matches!(store.sign_in("Max", PASSWORD, CLIENT, NOW).await, Err(UsersError::WrongNameOrPassword)));
    assert!(store.links(NOW).await.unwrap().is_empty());
    for outcome in [store.remove(id).await, store.disable(id, NOW).await, store.enable(id).await] {
        assert!(matches!(outcome, Err(UsersError::NoSuchUser)));
    }
    let successor = member(&store, "Max").await.session.user.id;
    assert!(successor > id, "a number is not used again");
}
