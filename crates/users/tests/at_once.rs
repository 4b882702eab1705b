//! Concurrent calls of several processes, each with a store of its own on one database.
#![allow(clippy::unwrap_used)]

mod support;

use paraffin_users::{Role, Session, SignIn, UserStore, UsersError};
use support::{
    CLIENT, HOUR, NOW, PASSWORD, TestDatabase, accept, add_second_factor, another_owner, code, database, is_signed_in,
    member, owner,
};

async fn three(database: &TestDatabase) -> Vec<UserStore> {
    let mut stores = Vec::new();
    for _ in 0..3 {
        stores.push(database.open().await);
    }
    stores
}

/// Runs a call `times` times on every store, all concurrently; returns the results.
async fn all_at_once<T, F>(
    stores: &[UserStore],
    times: usize,
    work: impl Fn(UserStore, usize) -> F,
) -> Vec<Result<T, UsersError>>
where
    T: Send + 'static,
    F: Future<Output = Result<T, UsersError>> + Send + 'static,
{
    let begun = (0..times).flat_map(|time| stores.iter().map(move |store| (store.clone(), time)));
    let tasks: Vec<_> = begun.map(|(store, time)| tokio::spawn(work(store, time))).collect();
    let mut done = Vec::new();
    for task in tasks {
        done.push(task.await.unwrap());
    }
    done
}

fn good<T>(done: &[Result<T, UsersError>]) -> usize {
    done.iter().filter(|one| one.is_ok()).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_who_use_a_link_wins() {
    let Some(database) = database() else { return };
    let stores = three(&database).await;
    let setup = stores[0].setup_link(NOW).await.unwrap().unwrap();
    let done = all_at_once(&stores, 4, |store, time| {
        let token = setup.token.clone();
        async move { store.accept_link(&token, &format!("Owner {time}"), PASSWORD, CLIENT, NOW).await }
    });
    let done = done.await;
    assert_eq!(good(&done), 1);
    assert!(done.iter().all(|one| matches!(one, Ok(_) | Err(UsersError::InvalidLink))), "{done:?}");
    assert_eq!(stores[1].users().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_many_with_links_of_their_own_gets_a_name() {
    let Some(database) = database() else { return };
    let stores = three(&database).await;
    owner(&stores[0]).await;
    let mut tokens = Vec::new();
    for _ in 0..4 {
        tokens.push(stores[0].invite(Role::Member, Some(7), NOW).await.unwrap().token);
    }
    let done = all_at_once(&stores[..1], 4, |store, time| {
        let token = tokens[time].clone();
        async move { store.accept_link(&token, "Max", PASSWORD, CLIENT, NOW).await }
    });
    let done = done.await;
    assert_eq!(good(&done), 1);
    assert!(done.iter().all(|one| matches!(one, Ok(_) | Err(UsersError::NameTaken))), "{done:?}");
    // The others can use theirs still, with another name.
    let links = stores[0].links(NOW).await.unwrap();
    assert_eq!(links.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_code_that_comes_many_times_at_once_signs_in_once() {
    let Some(database) = database() else { return };
    let stores = three(&database).await;
    let olga = owner(&stores[0]).await;
    let (secret, codes) = add_second_factor(&stores[0], &olga.session, NOW - HOUR).await;
    let mut pending = Vec::new();
    for _ in 0..4 {
        match stores[0].sign_in("Olga", PASSWORD, CLIENT, NOW).await.unwrap() {
            SignIn::SecondFactorNeeded(token) => pending.push(token),
            SignIn::Session(_) => panic!("signed in without a second factor"),
        }
    }
    for text in [code(&secret, NOW), codes.codes[0].reveal()] {
        let done = all_at_once(&stores[..1], 4, |store, time| {
            let (token, text) = (pending[time].clone(), text.clone());
            async move { store.second_factor(&token, &text, CLIENT, NOW).await }
        });
        let done = done.await;
        assert_eq!(good(&done), 1, "{done:?}");
        let winner = done.iter().position(Result::is_ok).unwrap();
        // The winner has no pending sign-in any more.
        let SignIn::SecondFactorNeeded(again) = stores[0].sign_in("Olga", PASSWORD, CLIENT, NOW).await.unwrap() else {
            panic!("signed in without a second factor")
        };
        pending[winner] = again;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_the_last_two_owners_stays_when_both_go_at_once() {
    let Some(database) = database() else { return };
    let stores = three(&database).await;
    for round in 0..3 {
        let ids = match stores[0].setup_link(NOW).await.unwrap() {
            Some(link) => [accept(&stores[0], &link, "Olga").await, another_owner(&stores[0], "Oskar 0").await],
            None => {
                let owners = stores[0].users().await.unwrap();
                let another = another_owner(&stores[0], &format!("Oskar {round}")).await;
                let mut first = another.clone();
                first.session.user = owners[0].clone();
                [first, another]
            }
        }
        .map(|owner| owner.session.user.id);
        let done = all_at_once(&stores[..2], 2, |store, time| {
            let id = ids[time];
            async move { store.remove(id).await }
        });
        let done = done.await;
        assert_eq!(good(&done), 1, "{done:?}");
        assert_eq!(stores[2].users().await.unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_attempts_at_once_are_no_more_than_one_after_the_other() {
    let Some(database) = database() else { return };
    let stores = three(&database).await;
    owner(&stores[0]).await;
    let done = all_at_once(&stores, 8, |store, time| async move {
        store.sign_in("Olga", "a wrong password", &format!("198.51.100.{time}"), NOW).await
    });
    let done = done.await;
    let looked_at = done.iter().filter(|one| matches!(one, Err(UsersError::WrongNameOrPassword))).count();
    let throttled = done.iter().filter(|one| matches!(one, Err(UsersError::Throttled { .. }))).count();
    assert_eq!((looked_at, throttled), (10, 14), "{done:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_rotate_at_once_all_get_a_valid_token() {
    let Some(database) = database() else { return };
    let stores = three(&database).await;
    owner(&stores[0]).await;
    let max = member(&stores[0], "Max").await;
    let done = all_at_once(&stores, 4, |store, _| {
        let token = max.token.clone();
        async move { store.rotate(&token, NOW + HOUR).await }
    });
    for rotated in done.await {
        assert!(is_signed_in(&stores[1], &rotated.unwrap().token, NOW + 2 * HOUR).await);
    }
    assert!(!is_signed_in(&stores[1], &max.token, NOW + 2 * HOUR).await);
}

/// Futures of operations are `Send`, so that a server may run them on any thread.
#[test]
fn every_operation_can_move_between_threads() {
    fn sent<T: Send>(_: impl Fn(&'static UserStore, &'static Session) -> T) {}
    sent(|store, session| store.change_password(session, "", "", 0));
    sent(|store, session| store.begin_second_factor(session, "", 0));
    sent(|store, session| store.confirm_second_factor(session, "", 0));
    sent(|store, session| store.remove_second_factor(session, "", 0));
    sent(|store, session| store.renew_recovery_codes(session, "", 0));
    sent(|store, session| store.end_other_sessions(session, 0));
    sent(|store, _| store.reset_owner(0));
    sent(|store, _| store.links(0));
}
