//! `paraffin tx deploy`: commit and reveal, and what to do when the reveal does not come through.

use std::path::Path;

use bitcoin::{OutPoint, TxOut, XOnlyPublicKey};
use paraffin_alkanes::codec::{CODE_LEN_MAX_BYTES, gunzip, gzip};
use paraffin_wallet::{Deployment, Funds, Plan, Role, parse_public_key, plan_deployment, plan_recovery, plan_reveal};
use serde_json::{Value, json};

use super::arguments::DeployArguments;
use super::instance::{self, Endpoint};
use super::session::{Session, Signer};
use super::{TxError, alkanes, integers, report};

/// Magic bytes of gzip.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// Magic bytes of a WebAssembly module.
const WASM_MAGIC: [u8; 4] = *b"\0asm";

/// Deploys, reveals again, or recovers.
pub(super) async fn run<E: Endpoint>(session: &Session<'_, E>, arguments: &DeployArguments) -> Result<Value, TxError> {
    let key = match (session.own_key(), &arguments.public_key) {
        (Some(key), _) => key,
        (None, Some(text)) => owner_key(session, text)?,
        (None, None) => {
            return Err(TxError::Refused(
                "a deployment by PSBT needs --public-key, the untweaked key of a taproot address".to_owned(),
            ));
        }
    };
    let deployment = Deployment {
        payload: payload(&arguments.file)?,
        reserved: arguments.reserved,
        inputs: integers(&arguments.init),
        incoming: alkanes(&arguments.incoming)?,
        results_to: None,
        key,
    };
    if let Some(commit) = arguments.recover {
        return recover(session, &deployment, commit).await;
    }
    if let Some(commit) = arguments.resume {
        return reveal(session, &deployment, commit).await;
    }
    deploy(session, &deployment).await
}

async fn deploy<E: Endpoint>(session: &Session<'_, E>, deployment: &Deployment) -> Result<Value, TxError> {
    let (plans, previous) = session.plan(|funds: &Funds| plan_deployment(deployment, funds)).await?;
    let commit = OutPoint { txid: plans.commit.txid(), vout: plans.commit.position(Role::Commit).unwrap_or_default() };
    session.say(&format!("contract code: {} bytes packed", deployment.payload.len()));
    session.say("1 of 2, the commit:");
    session.show(&plans.commit);
    session.say("2 of 2, the reveal:");
    session.show(&plans.reveal);
    let mut summary = json!({
        "commit": report::json(&plans.commit, session.network()),
        "reveal": report::json(&plans.reveal, session.network()),
        "commit_outpoint": commit.to_string(),
    });
    match session.signer() {
        Signer::Elsewhere => {
            // The code stands in the witness, which only the signer completes; so nothing can be tried out here.
            if !session.stops_here() {
                session.say("the PSBT of the commit, then that of the reveal; send both in this order:");
                summary["commit_psbt"] =
                    json!(session.give_psbt(&plans.commit.psbt(&previous, Some(deployment.key)), "")?);
                summary["reveal_psbt"] =
                    json!(session.give_psbt(&plans.reveal.psbt(&previous, Some(deployment.key)), ".reveal")?);
                session.say(&after_a_failed_reveal(commit));
            }
        }
        Signer::Key(key) => {
            let signed = (key.sign(&plans.commit)?, key.sign(&plans.reveal)?);
            summary["simulation"] = session.try_out(&plans.reveal, &signed.1).await?;
            if session.stops_here() {
                return Ok(summary);
            }
            session.ask()?;
            instance::accepts(session.endpoint(), &[&signed.0, &signed.1]).await?;
            instance::broadcast(session.endpoint(), &signed.0).await?;
            session.say(&format!("commit sent {}", commit.txid));
            if let Err(error) = instance::broadcast(session.endpoint(), &signed.1).await {
                return Err(TxError::Refused(format!(
                    "the reveal was not sent: {error}\n{}",
                    after_a_failed_reveal(commit)
                )));
            }
            session.say(&format!("reveal sent {}", plans.reveal.txid()));
            session.say(&after_a_failed_reveal(commit));
            summary["sent"] = json!(true);
            summary["outcome"] = session.outcome(&plans.reveal).await?;
        }
    }
    Ok(summary)
}

/// What to do about a commit whose reveal never confirms.
fn after_a_failed_reveal(commit: OutPoint) -> String {
    format!(
        "if the reveal never confirms, nothing is lost: run the same command with --resume {commit} to reveal again, or with \
         --recover {commit} to take the satoshis back; both need this file and this key"
    )
}

async fn reveal<E: Endpoint>(
    session: &Session<'_, E>,
    deployment: &Deployment,
    commit: OutPoint,
) -> Result<Value, TxError> {
    let output = output_of(session, commit).await?;
    let make = |funds: &Funds| plan_reveal(deployment, funds, commit, &output);
    let (plan, previous) = session.plan(make).await?;
    session.show(&plan);
    let mut summary =
        json!({ "reveal": report::json(&plan, session.network()), "commit_outpoint": commit.to_string() });
    match session.signer() {
        Signer::Elsewhere if !session.stops_here() => {
            summary["reveal_psbt"] = json!(session.give_psbt(&plan.psbt(&previous, Some(deployment.key)), "")?);
        }
        Signer::Elsewhere => {}
        Signer::Key(key) => {
            let signed = key.sign(&plan)?;
            summary["simulation"] = session.try_out(&plan, &signed).await?;
            send(session, &plan, &signed, &mut summary).await?;
        }
    }
    Ok(summary)
}

async fn recover<E: Endpoint>(
    session: &Session<'_, E>,
    deployment: &Deployment,
    commit: OutPoint,
) -> Result<Value, TxError> {
    let output = output_of(session, commit).await?;
    let plan = plan_recovery(deployment, commit, &output, session.owner(), session.fee_rate().await?)?;
    session.show(&plan);
    let mut summary = json!({ "recovery": report::json(&plan, session.network()) });
    match session.signer() {
        Signer::Elsewhere if !session.stops_here() => {
            let psbt = plan.psbt(&std::collections::BTreeMap::new(), Some(deployment.key));
            summary["psbt"] = json!(session.give_psbt(&psbt, "")?);
        }
        Signer::Elsewhere => {}
        Signer::Key(key) => {
            let signed = key.sign(&plan)?;
            send(session, &plan, &signed, &mut summary).await?;
        }
    }
    Ok(summary)
}

async fn send<E: Endpoint>(
    session: &Session<'_, E>,
    plan: &Plan,
    signed: &bitcoin::Transaction,
    summary: &mut Value,
) -> Result<(), TxError> {
    if session.stops_here() {
        return Ok(());
    }
    session.ask()?;
    instance::accepts(session.endpoint(), &[signed]).await?;
    instance::broadcast(session.endpoint(), signed).await?;
    session.say(&format!("sent {}", plan.txid()));
    summary["sent"] = json!(true);
    summary["outcome"] = session.outcome(plan).await?;
    Ok(())
}

async fn output_of<E: Endpoint>(session: &Session<'_, E>, outpoint: OutPoint) -> Result<TxOut, TxError> {
    let found = instance::transactions(session.endpoint(), &std::collections::BTreeSet::from([outpoint.txid])).await?;
    let output = found[&outpoint.txid].output.get(outpoint.vout as usize);
    Ok(output.cloned().ok_or_else(|| format!("{} has no output {}", outpoint.txid, outpoint.vout))?)
}

/// The key of `--public-key`, which must be that of the address.
fn owner_key<E: Endpoint>(session: &Session<'_, E>, text: &str) -> Result<XOnlyPublicKey, TxError> {
    let key = parse_public_key(text)?;
    let script = bitcoin::ScriptBuf::new_p2tr(&bitcoin::key::Secp256k1::verification_only(), key, None);
    if script != *session.owner() {
        return Err(TxError::Refused(
            "--public-key is not the untweaked key of --address; only taproot addresses without scripts can deploy"
                .to_owned(),
        ));
    }
    Ok(key)
}

/// Reads a module and packs it; a packed one is taken as it is, after a look inside.
fn payload(path: &Path) -> Result<Vec<u8>, TxError> {
    let name = path.display();
    let size = std::fs::metadata(path).map_err(|error| format!("{name}: {error}"))?.len();
    if size > CODE_LEN_MAX_BYTES as u64 {
        return Err(TxError::Refused(format!("{name} has {size} bytes; contracts have up to {CODE_LEN_MAX_BYTES}")));
    }
    let file = std::fs::read(path).map_err(|error| format!("{name}: {error}"))?;
    let packed = file.starts_with(&GZIP_MAGIC);
    let module = if packed {
        gunzip(&file, CODE_LEN_MAX_BYTES).map_err(|error| format!("{name}: {error}"))?
    } else {
        file.clone()
    };
    if !module.starts_with(&WASM_MAGIC) {
        return Err(TxError::Refused(format!("{name} is no WebAssembly module (nor one packed with gzip)")));
    }
    Ok(if packed { file } else { gzip(&module) })
}
