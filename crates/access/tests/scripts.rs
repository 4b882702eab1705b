//! Saved scripts, through the public interface.
#![allow(clippy::unwrap_used)]

mod support;

use std::net::IpAddr;

use paraffin_access::{
    AccessError, AccountId, ClientNet, DatabaseKeyStore, ScriptHash, ScriptLimits, ScriptOwner, ScriptStore,
};
use support::database;

const LIMITS: ScriptLimits = ScriptLimits { scripts_max: 3, bytes_max: 30 };
const ONE: ScriptOwner = ScriptOwner::Keys(AccountId(1));

fn anonymous(last: u8) -> ScriptOwner {
    ScriptOwner::Anonymous(ClientNet::from(IpAddr::from([192, 0, 2, last])))
}

fn hash(first: u8) -> ScriptHash {
    [first; 32]
}

async fn stored(store: &DatabaseKeyStore) -> Vec<u8> {
    let mut stored = Vec::new();
    for first in 0..20 {
        if store.find_script(hash(first)).await.unwrap().is_some() {
            stored.push(first);
        }
    }
    stored
}

#[tokio::test]
async fn scripts_are_there_after_a_restart() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    store.save_script(ONE, hash(1), "return 'a\0\u{e9}'", LIMITS).await.unwrap();
    drop(store);
    let store = database.open().await;
    assert_eq!(store.find_script(hash(1)).await.unwrap().as_deref(), Some("return 'a\0\u{e9}'"));
    assert_eq!(store.find_script(hash(2)).await.unwrap(), None);
}

#[tokio::test]
async fn the_oldest_scripts_of_an_account_are_evicted_and_those_of_other_accounts_stay() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let two = ScriptOwner::Keys(AccountId(2));
    for first in [1, 2, 3] {
        store.save_script(ONE, hash(first), "x", LIMITS).await.unwrap();
    }
    store.save_script(two, hash(2), "x", LIMITS).await.unwrap();
    store.save_script(anonymous(1), hash(9), "x", LIMITS).await.unwrap();
    // Saved again, 1 is the newest; 2 goes first, but the other account has it still.
    store.save_script(ONE, hash(1), "x", LIMITS).await.unwrap();
    store.save_script(ONE, hash(4), "x", LIMITS).await.unwrap();
    assert_eq!(stored(&store).await, [1, 2, 3, 4, 9]);
    store.save_script(ONE, hash(5), "x", LIMITS).await.unwrap();
    assert_eq!(stored(&store).await, [1, 2, 4, 5, 9]);
    // By their bytes: 20 and 10 fit, the one-byte ones before them do not.
    store.save_script(ONE, hash(6), &"x".repeat(20), LIMITS).await.unwrap();
    store.save_script(ONE, hash(7), &"x".repeat(10), LIMITS).await.unwrap();
    assert_eq!(stored(&store).await, [2, 6, 7, 9]);
    // One that alone is too large evicts no other.
    store.save_script(two, hash(8), &"x".repeat(31), LIMITS).await.unwrap();
    assert_eq!(stored(&store).await, [2, 6, 7, 9]);
}

#[tokio::test]
async fn savers_at_once_stay_within_the_limits() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let savers = (0..20).map(|first| {
        let store = store.clone();
        tokio::spawn(async move { store.save_script(ONE, hash(first), "x", LIMITS).await })
    });
    for saver in savers.collect::<Vec<_>>() {
        saver.await.unwrap().unwrap();
    }
    assert_eq!(stored(&store).await.len(), 3);
}

/// Aliases and origins are public, so any caller could otherwise evict what an account has saved with its keys.
#[tokio::test]
async fn what_is_saved_without_a_key_takes_nothing_from_what_was_saved_with_one() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    for first in [1, 2, 3] {
        store.save_script(ONE, hash(first), "x", LIMITS).await.unwrap();
    }
    for (owner, first) in [(ScriptOwner::Public(AccountId(1)), 4), (anonymous(1), 10)] {
        for index in 0..6 {
            store.save_script(owner, hash(first + index), "x", LIMITS).await.unwrap();
        }
    }
    // An address has an eighth, and at least one.
    assert_eq!(stored(&store).await, [1, 2, 3, 7, 8, 9, 15]);
}

/// An attacker cannot evict an anonymous caller's script by saving others, from however many addresses.
#[tokio::test]
async fn what_a_stranger_saves_takes_nothing_of_another_stranger() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    store.save_script(anonymous(0), hash(0), "x", LIMITS).await.unwrap();
    // Sixteen times three for all of them.
    let mut refused = 0;
    for number in 1..100_u8 {
        match store.save_script(anonymous(number), hash(number), "x", LIMITS).await {
            Ok(()) => assert_eq!(refused, 0, "{number} was saved after the limit was reached"),
            Err(AccessError::ScriptsFull) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(refused, 99 - 47);
    assert!(
        store.find_script(hash(0)).await.unwrap().is_some() && store.find_script(hash(47)).await.unwrap().is_some()
    );
    assert!(store.find_script(hash(48)).await.unwrap().is_none(), "a refused script is not stored");
    // A script that was saved before can be saved again, and a key has limits of its own.
    store.save_script(anonymous(3), hash(3), "x", LIMITS).await.unwrap();
    store.save_script(ONE, hash(200), "x", LIMITS).await.unwrap();
    assert!(store.find_script(hash(200)).await.unwrap().is_some());
}
