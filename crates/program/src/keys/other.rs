//! `paraffin keys account`, `alias` and `origin`.

use paraffin_access::{AccountId, KeyStore, NewAlias, OriginId, OriginRecord};

use super::{ACTOR, KeysError, now, open, prover};
use crate::command_line::{AccountCommand, AliasCommand, OriginCommand};
use paraffin_access::time_text;

pub(super) async fn account(command: AccountCommand) -> Result<(), KeysError> {
    match command {
        AccountCommand::Create { name, plan, accounts } => {
            let store = open(&accounts, true).await?;
            let created = store.create_account(&name, plan.parse()?, ACTOR, now()).await?;
            println!("{}", created.id);
            store.close().await?;
        }
        AccountCommand::List { accounts } => {
            let store = open(&accounts, false).await?;
            println!("{:<6} {:<12} {:<20}  name", "id", "plan", "created");
            for account in store.accounts().await? {
                let created = time_text(account.created_at).unwrap_or_default();
                println!(
                    "{:<6} {:<12} {created:<20.20}  {}",
                    account.id.to_string(),
                    account.plan.name(),
                    account.name
                );
            }
            store.close().await?;
        }
        AccountCommand::Plan { id, plan, accounts } => {
            let store = open(&accounts, false).await?;
            let account = store.set_plan(AccountId(id), plan.parse()?, ACTOR, now()).await?;
            store.settle().await?;
            println!("account {} ({}) has the plan {}", account.id, account.name, account.plan);
            store.close().await?;
        }
    }
    Ok(())
}

pub(super) async fn alias(command: AliasCommand) -> Result<(), KeysError> {
    match command {
        AliasCommand::Create { name, account, surfaces, limits, accounts } => {
            let store = open(&accounts, false).await?;
            let new = NewAlias { surfaces, limits: limits.into(), ..NewAlias::named(AccountId(account), name) };
            let created = store.create_alias(new, ACTOR, now()).await?;
            println!("/v4/{} counts for account {}", created.name, created.account);
            store.close().await?;
        }
        AliasCommand::List { accounts } => {
            let store = open(&accounts, false).await?;
            println!("{:<32} {:<7} {:<12} {:>10}  surfaces", "alias", "account", "plan", "requests");
            for alias in store.aliases().await? {
                println!(
                    "{:<32} {:<7} {:<12} {:>10}  {}",
                    alias.name,
                    alias.account.to_string(),
                    alias.plan.name(),
                    alias.request_count,
                    alias.surfaces.join(",")
                );
            }
            store.close().await?;
        }
        AliasCommand::Remove { name, accounts } => {
            let store = open(&accounts, false).await?;
            let removed = store.remove_alias(&name, ACTOR, now()).await?;
            store.settle().await?;
            println!("alias {} is removed", removed.name);
            store.close().await?;
        }
    }
    Ok(())
}

pub(super) async fn origin(command: OriginCommand) -> Result<(), KeysError> {
    match command {
        OriginCommand::Add { origin, account, trust, accounts } => {
            let prover = prover(&accounts)?;
            let store = open(&accounts, false).await?;
            let pattern = origin.parse()?;
            let account = AccountId(account);
            let registered = if trust {
                store.register_origin(account, pattern, true, ACTOR, now()).await?
            } else {
                prover.register(&store, account, pattern, ACTOR, now()).await?
            };
            println!("origin {} ({}) {}", registered.id.0, registered.pattern, state(&registered));
            if let Some(instructions) = prover.instructions(&registered) {
                println!("{instructions}\nthen run: paraffin keys origin verify {}", registered.id.0);
            }
            store.close().await?;
        }
        OriginCommand::Verify { id, accounts } => {
            let prover = prover(&accounts)?;
            let store = open(&accounts, false).await?;
            let verified = prover.verify(&store, OriginId(id), ACTOR, now()).await?;
            println!("origin {} ({}) {}", verified.id.0, verified.pattern, state(&verified));
            store.close().await?;
        }
        OriginCommand::List { accounts } => {
            let prover = prover(&accounts)?;
            let store = open(&accounts, false).await?;
            println!("{:<6} {:<7} {:>10}  {:<18} origin", "id", "account", "requests", "state");
            for origin in store.origins().await? {
                println!(
                    "{:<6} {:<7} {:>10}  {:<18} {}",
                    origin.id.0,
                    origin.account.to_string(),
                    origin.request_count,
                    state(&origin),
                    origin.pattern
                );
                for line in prover.instructions(&origin).iter().flat_map(|text| text.lines()) {
                    println!("       {line}");
                }
            }
            store.close().await?;
        }
        OriginCommand::Remove { id, accounts } => {
            let store = open(&accounts, false).await?;
            let removed = store.remove_origin(OriginId(id), ACTOR, now()).await?;
            store.settle().await?;
            println!("origin {} ({}) is removed", removed.id.0, removed.pattern);
            store.close().await?;
        }
    }
    Ok(())
}

fn state(origin: &OriginRecord) -> &'static str {
    if origin.verified_at.is_some() { "is served" } else { "waits for proof" }
}
