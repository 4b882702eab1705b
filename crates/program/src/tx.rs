//! `paraffin tx`: contracts are deployed and called, bitcoin and alkanes sent.
//!
//! ```text
//!  instance ─coins, feerate─▶ plan ─▶ shown ─▶ tried out ─▶ asked ─▶ signed ─▶ sent ─▶ trace
//!                                                              └─▶ PSBT, where the key is elsewhere
//! ```

mod arguments;
#[cfg(test)]
mod canned;
mod deploy;
mod instance;
mod outcome;
mod report;
mod session;

use bitcoin::ScriptBuf;
use bitcoin::key::{Secp256k1, UntweakedPublicKey};
use paraffin_alkanes::codec::Cellpack;
use paraffin_primitives::AlkaneId;
use paraffin_wallet::{Alkanes, FRBTC, Intent, Plan, PlanError, Recipient, Role, SignError, unwrap, wrap};
use serde_json::{Value, json};

pub(crate) use self::arguments::{AlkaneAmount, TxArguments};
use self::arguments::{
    ExecuteArguments, Inputs, MintArguments, SendArguments, Sent, TxCommand, UnwrapArguments, WrapArguments,
};
use self::instance::{Attempt, Endpoint};
use self::outcome::Simulation;
use self::session::{Session, Signer};
use crate::client::{CallError, Client};
use crate::command_line::CallArguments;

/// Operation of 32:0 that answers the signer's untweaked key.
const SIGNER_OPCODE: u128 = 103;

/// Satoshis of an output that carries alkanes alone.
const ALKANES_ALONE_SATS: u64 = paraffin_wallet::ALKANE_OUTPUT_SATS;

/// Least amount that is unwrapped: the signer cannot pay less than an output needs to be relayed.
const UNWRAP_MIN: u128 = 546;

/// Why nothing was sent, or what went wrong afterwards.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TxError {
    /// The instance could not be asked, or refused.
    #[error("{0}")]
    Call(#[from] CallError),
    /// There is no plan.
    #[error("{0}")]
    Plan(#[from] PlanError),
    /// The key does not fit.
    #[error("{0}")]
    Sign(#[from] SignError),
    /// An argument, a file or an answer of the person.
    #[error("{0}")]
    Refused(String),
}

impl From<String> for TxError {
    fn from(reason: String) -> Self {
        Self::Refused(reason)
    }
}

/// Runs the command.
///
/// # Errors
/// See [`TxError`]; the program ends with code 1.
pub(crate) async fn run(arguments: &TxArguments) -> Result<(), TxError> {
    let common = arguments.command.common();
    let session = Session::open(Client::new(&common.endpoint), common).await?;
    let report = perform(&session, &arguments.command).await?;
    if common.json {
        println!("{report:#}");
    }
    Ok(())
}

async fn perform<E: Endpoint>(session: &Session<'_, E>, command: &TxCommand) -> Result<Value, TxError> {
    let intent = match command {
        TxCommand::Deploy(arguments) => return deploy::run(session, arguments).await,
        TxCommand::Execute(arguments) => execute(session, arguments)?,
        TxCommand::Mint(arguments) => mint(session, arguments)?,
        TxCommand::Wrap(arguments) => wrap_intent(session, arguments).await?,
        TxCommand::Unwrap(arguments) => unwrap_intent(session, arguments).await?,
        TxCommand::Send(arguments) => send(session, arguments)?,
    };
    carry_out(session, &intent).await
}

/// `paraffin call simulate`: runs a call without a transaction and answers the text to print.
///
/// # Errors
/// The arguments are no call, or the instance cannot simulate.
pub(crate) async fn simulate_call(client: &Client, arguments: &CallArguments) -> Result<String, TxError> {
    let [target, inputs @ ..] = &arguments.parameters[..] else {
        return Err(TxError::Refused(
            "simulate takes a contract and its inputs, for example `simulate 2:0 99`".to_owned(),
        ));
    };
    let target = target.parse::<AlkaneId>().map_err(|error| error.to_string())?;
    let inputs = inputs.iter().map(|text| text.parse::<Inputs>()).collect::<Result<Vec<_>, _>>()?;
    let cellpack = Cellpack { target, inputs: integers(&inputs) };
    let incoming = alkanes(&arguments.incoming)?;
    let attempt = Attempt { cellpack: &cellpack, incoming: &incoming, within: None };
    let answer = instance::simulate(client, &attempt).await?;
    let answer = answer.ok_or_else(|| "this instance does not answer alkanes_simulate".to_owned())?;
    let simulation = Simulation::read(&answer)?;
    Ok(if arguments.json { format!("{:#}", simulation.json) } else { simulation.lines.join("\n") })
}

fn execute<E: Endpoint>(session: &Session<'_, E>, arguments: &ExecuteArguments) -> Result<Intent, TxError> {
    let mut payments = Vec::new();
    for payment in &arguments.pay {
        let (address, sats) =
            payment.split_once('=').ok_or_else(|| format!("`{payment}`: a payment is written ADDR=SATS"))?;
        let Ok(Sent::Sats(sats)) = sats.parse() else {
            return Err(TxError::Refused(format!("`{payment}`: a payment is written ADDR=SATS")));
        };
        let recipient = Recipient { script: session.script(address)?, sats, alkanes: Alkanes::default() };
        payments.push((Role::Recipient, recipient));
    }
    Ok(Intent::Call {
        cellpack: Cellpack { target: arguments.target, inputs: integers(&arguments.inputs) },
        incoming: alkanes(&arguments.incoming)?,
        results_to: session.other_script(arguments.to.as_deref())?,
        payments,
    })
}

fn mint<E: Endpoint>(session: &Session<'_, E>, arguments: &MintArguments) -> Result<Intent, TxError> {
    Ok(Intent::Call {
        cellpack: Cellpack { target: arguments.token, inputs: integers(&arguments.inputs) },
        incoming: Alkanes::default(),
        results_to: session.other_script(arguments.to.as_deref())?,
        payments: Vec::new(),
    })
}

async fn wrap_intent<E: Endpoint>(session: &Session<'_, E>, arguments: &WrapArguments) -> Result<Intent, TxError> {
    let signer = signer_script(session, arguments.signer.as_deref()).await?;
    Ok(wrap(arguments.sats, signer, session.other_script(arguments.to.as_deref())?))
}

async fn unwrap_intent<E: Endpoint>(session: &Session<'_, E>, arguments: &UnwrapArguments) -> Result<Intent, TxError> {
    if arguments.amount < UNWRAP_MIN {
        return Err(TxError::Refused(format!(
            "the signer could not pay {} satoshis: unwrap at least {UNWRAP_MIN}",
            arguments.amount
        )));
    }
    let signer = signer_script(session, arguments.signer.as_deref()).await?;
    Ok(unwrap(arguments.amount, signer, session.other_script(arguments.to.as_deref())?))
}

fn send<E: Endpoint>(session: &Session<'_, E>, arguments: &SendArguments) -> Result<Intent, TxError> {
    let (mut sats, mut sent) = (None, Alkanes::default());
    for amount in &arguments.amounts {
        match amount {
            Sent::Sats(_) if sats.is_some() => return Err(TxError::Refused("give the satoshis once".to_owned())),
            Sent::Sats(amount) => sats = Some(*amount),
            Sent::Alkane(AlkaneAmount { id, amount }) => sent.add(*id, amount.0).map_err(|error| error.to_string())?,
        }
    }
    let sats = sats.unwrap_or(ALKANES_ALONE_SATS);
    Ok(Intent::Send(vec![Recipient { script: session.script(&arguments.to)?, sats, alkanes: sent }]))
}

/// Script of the signer of wrapped bitcoin.
async fn signer_script<E: Endpoint>(session: &Session<'_, E>, given: Option<&str>) -> Result<ScriptBuf, TxError> {
    if let Some(address) = given {
        return session.script(address);
    }
    let cellpack = Cellpack { target: FRBTC, inputs: vec![SIGNER_OPCODE] };
    let attempt = Attempt { cellpack: &cellpack, incoming: &Alkanes::default(), within: None };
    let answer = instance::simulate(session.endpoint(), &attempt).await?;
    let answer =
        answer.ok_or_else(|| "this instance does not report the signer: name it with --signer ADDR".to_owned())?;
    let simulation = Simulation::read(&answer)?;
    if let Some(reason) = simulation.reverts {
        return Err(TxError::Refused(format!("32:0 does not return its signer: {reason}")));
    }
    let key = UntweakedPublicKey::from_slice(&simulation.data)
        .map_err(|_| "32:0 returns a signer that is not a key of 32 bytes: name it with --signer ADDR".to_owned())?;
    Ok(ScriptBuf::new_p2tr(&Secp256k1::verification_only(), key, None))
}

/// From an intent to a transaction that is sent, or to a PSBT.
async fn carry_out<E: Endpoint>(session: &Session<'_, E>, intent: &Intent) -> Result<Value, TxError> {
    let (plan, previous) = session.plan(|funds| paraffin_wallet::plan(intent, funds)).await?;
    session.show(&plan);
    let mut report = report::json(&plan, session.network());
    report["simulation"] = session.try_out(&plan, &plan.transaction()).await?;
    if session.stops_here() {
        return Ok(report);
    }
    match session.signer() {
        Signer::Elsewhere => {
            report["psbt"] = json!(session.give_psbt(&plan.psbt(&previous, None), "")?);
        }
        Signer::Key(key) => {
            session.ask()?;
            let transaction = key.sign(&plan)?;
            instance::accepts(session.endpoint(), &[&transaction]).await?;
            instance::broadcast(session.endpoint(), &transaction).await?;
            session.say(&format!("sent {}", plan.txid()));
            report["sent"] = json!(true);
            report["outcome"] = session.outcome(&plan).await?;
        }
    }
    Ok(report)
}

fn integers(inputs: &[Inputs]) -> Vec<u128> {
    inputs.iter().flat_map(|input| input.0.iter().copied()).collect()
}

fn alkanes(amounts: &[AlkaneAmount]) -> Result<Alkanes, String> {
    let mut sum = Alkanes::default();
    for AlkaneAmount { id, amount } in amounts {
        sum.add(*id, amount.0).map_err(|error| error.to_string())?;
    }
    Ok(sum)
}

/// Pointer and refund of the message of a plan.
fn message_route(plan: &Plan) -> Option<(u32, u32, u32)> {
    let message = plan.protostones.iter().find(|stone| stone.is_alkanes_message())?;
    Some((plan.message_vout()?, message.pointer?, message.refund?))
}

#[cfg(test)]
mod tests;
