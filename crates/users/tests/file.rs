//! Users in a SQLite file.
#![allow(clippy::unwrap_used)]

mod support;

use paraffin_users::{DatabaseLocation, Role, SignIn, UserStore, UsersError};
use support::{CLIENT, NOW, PASSWORD, add_second_factor, database, owned};

#[tokio::test]
async fn the_file_holds_digests_and_no_credentials() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    let link = store.invite(Role::Member, Some(7), NOW).await.unwrap();
    let (_, codes) = add_second_factor(&store, &olga.session, NOW).await;
    let SignIn::SecondFactorNeeded(pending) = store.sign_in("Olga", PASSWORD, CLIENT, NOW).await.unwrap() else {
        panic!("signed in without a second factor")
    };
    let rotated = store.rotate(&olga.token, NOW).await.unwrap();
    store.close().await;
    let mut secrets = vec![
        PASSWORD.to_owned(),
        olga.token.reveal(),
        rotated.token.reveal(),
        rotated.session.csrf.reveal().to_owned(),
        link.token.reveal(),
        pending.reveal(),
    ];
    secrets.extend(codes.codes.iter().map(paraffin_users::RecoveryCode::reveal));
    let decoded = |secret: &String| data_encoding::BASE64URL_NOPAD.decode(secret.as_bytes()).unwrap_or_default();
    let mut searched: Vec<Vec<u8>> = secrets.iter().map(|secret| secret.as_bytes().to_vec()).collect();
    searched.extend(secrets[1..6].iter().map(decoded));
    // The halves of session tokens.
    searched.extend(
        secrets[1..3].iter().flat_map(|secret| decoded(secret).chunks(16).map(<[u8]>::to_vec).collect::<Vec<_>>()),
    );
    searched.extend(
        secrets[6..].iter().map(|code| data_encoding::BASE32_NOPAD.decode(code.replace('-', "").as_bytes()).unwrap()),
    );
    assert!(searched.iter().all(|secret| secret.len() >= 10), "{searched:?}");
    let mut seen = 0;
    for entry in std::fs::read_dir(database.path().parent().unwrap()).unwrap() {
        let content = match std::fs::read(entry.unwrap().path()) {
            Ok(content) => content,
            // SQLite's journal, which goes with its last connection.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => panic!("{error}"),
        };
        seen += content.len();
        for secret in &searched {
            assert!(!content.windows(secret.len()).any(|window| window == secret), "{secret:?}");
        }
    }
    assert!(seen > 4_096, "the store was not where the test looked");
}

#[tokio::test]
async fn users_are_there_after_a_restart() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    store.close().await;
    let store = database.open().await;
    assert_eq!(store.users().await.unwrap(), [olga.session.user]);
    assert!(store.session(&olga.token, NOW).await.unwrap().is_some());
}

#[tokio::test]
async fn a_file_that_is_no_database_or_is_closed_refuses_every_sign_in() {
    let Some(database) = database() else { return };
    let (store, olga) = owned(&database).await;
    store.close().await;
    assert!(matches!(store.session(&olga.token, NOW).await, Err(UsersError::Unavailable(_))));
    assert!(matches!(store.sign_in("Olga", PASSWORD, CLIENT, NOW).await, Err(UsersError::Unavailable(_))));
    let other = database.folder.path().join("other.sqlite");
    std::fs::write(&other, "this is not a database, only text that is long enough to be a header ".repeat(4)).unwrap();
    assert!(matches!(UserStore::open(&DatabaseLocation::File(other)).await, Err(UsersError::Unavailable(_))));
}

#[tokio::test]
async fn a_file_of_a_newer_program_is_refused_with_both_versions() {
    let Some(database) = database() else { return };
    database.open().await.close().await;
    database.number("INSERT INTO users_schema_version (version) VALUES (99) RETURNING version AS number").await;
    let Err(error) = UserStore::open(&database.location()).await else { panic!("opened a newer store") };
    assert!(matches!(error, UsersError::NewerSchema { found: 99, known: 1 }), "{error}");
}
