//! One run of `tx`: whose coins, on which network, and what is said to the person.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bitcoin::{Psbt, ScriptBuf, Transaction, Txid, XOnlyPublicKey};
use paraffin_alkanes::Parameters;
use paraffin_alkanes::codec::{Cellpack, pack_chunks, unpack_chunks};
use paraffin_primitives::Network;
use paraffin_wallet::{AddressKind, Coin, DeploymentPlan, FeeRate, Funds, Key, Ordinals, Plan, PlanError};
use serde_json::{Value, json};

use super::TxError;
use super::arguments::{CommonArguments, KindName};
use super::instance::{self, Attempt, Endpoint};
use super::message_route;
use super::outcome::{Simulation, TraceReport};
use super::report;

/// The environment variable that holds a private key.
const WIF_VARIABLE: &str = "PARAFFIN_WIF";

/// Longest file that is read as a key.
const WIF_FILE_BYTES_MAX: u64 = 1024;

/// Confirmations that the reward of a block needs.
const COINBASE_MATURITY: u32 = 100;

/// Longest time that a block is waited for.
const WAIT_MAX: Duration = Duration::from_secs(3600);
/// Time between two looks.
const WAIT_STEP: Duration = Duration::from_secs(1);
/// Looks for the trace after the block.
const TRACE_LOOKS: u32 = 20;

/// How transactions are signed.
pub(super) enum Signer {
    /// This program signs with its key.
    Key(Box<Key>),
    /// The owner of the address, from a PSBT.
    Elsewhere,
}

/// Instance, options and owner of one `tx` command.
pub(super) struct Session<'a, E> {
    endpoint: E,
    common: &'a CommonArguments,
    network: Network,
    signer: Signer,
    owner: ScriptBuf,
}

/// Something with transactions in it.
pub(super) trait Planned {
    fn plans(&self) -> Vec<&Plan>;
}

impl Planned for Plan {
    fn plans(&self) -> Vec<&Plan> {
        vec![self]
    }
}

impl Planned for DeploymentPlan {
    fn plans(&self) -> Vec<&Plan> {
        vec![&self.commit, &self.reveal]
    }
}

impl<'a, E: Endpoint> Session<'a, E> {
    /// Asks for the network and reads the key.
    pub(super) async fn open(endpoint: E, common: &'a CommonArguments) -> Result<Self, TxError> {
        let network = instance::network(&endpoint).await?;
        let (signer, owner) = match &common.address {
            Some(address) => (Signer::Elsewhere, network.parse_address(address)?.script_pubkey()),
            None => {
                let key = read_key(common.wif_file.as_deref(), network)?;
                let kind = match common.kind {
                    KindName::Taproot => AddressKind::Taproot,
                    KindName::Witness => AddressKind::WitnessKey,
                };
                let owner = key.script(kind);
                (Signer::Key(Box::new(key)), owner)
            }
        };
        Ok(Self { endpoint, common, network, signer, owner })
    }

    #[cfg(test)]
    pub(super) fn into_endpoint(self) -> E {
        self.endpoint
    }

    pub(super) const fn endpoint(&self) -> &E {
        &self.endpoint
    }

    pub(super) const fn network(&self) -> Network {
        self.network
    }

    pub(super) const fn signer(&self) -> &Signer {
        &self.signer
    }

    pub(super) const fn owner(&self) -> &ScriptBuf {
        &self.owner
    }

    /// The untweaked key of this program; `None` when the owner signs elsewhere.
    pub(super) fn own_key(&self) -> Option<XOnlyPublicKey> {
        match &self.signer {
            Signer::Key(key) => Some(key.x_only()),
            Signer::Elsewhere => None,
        }
    }

    /// Whether this is a dry run: nothing is signed or sent.
    pub(super) const fn stops_here(&self) -> bool {
        self.common.dry_run
    }

    /// The script of an address of this network.
    pub(super) fn script(&self, address: &str) -> Result<ScriptBuf, TxError> {
        Ok(self.network.parse_address(address)?.script_pubkey())
    }

    /// The script of an address that may be absent.
    pub(super) fn other_script(&self, address: Option<&str>) -> Result<Option<ScriptBuf>, TxError> {
        address.map(|address| self.script(address)).transpose()
    }

    /// The feerate that was asked for, or the instance's estimate.
    pub(super) async fn fee_rate(&self) -> Result<FeeRate, TxError> {
        match self.common.fee_rate {
            Some(rate) => Ok(rate),
            None => Ok(instance::fee_rate(&self.endpoint).await?),
        }
    }

    /// Plans with the owner's coins, and compares what is spent with the transactions that made it.
    pub(super) async fn plan<P: Planned>(
        &self,
        make: impl Fn(&Funds) -> Result<P, PlanError>,
    ) -> Result<(P, BTreeMap<Txid, Transaction>), TxError> {
        let address = bitcoin::Address::from_script(&self.owner, self.network.bitcoin());
        let address = address.map_err(|error| format!("the coins have no address: {error}"))?.to_string();
        let mut coins = instance::coins(&self.endpoint, &address, &self.owner).await?;
        self.assume_no_ordinals_on_regtest(&mut coins);
        let mut funds = Funds {
            coins,
            owner: self.owner.clone(),
            named: self.common.coin.clone(),
            assume_plain: self.common.assume_plain,
            fee_rate: self.fee_rate().await?,
            allow_high_fee: self.common.allow_high_fee,
        };
        let mut previous = BTreeMap::new();
        loop {
            let planned = make(&funds).map_err(|error| self.with_advice(error, &funds))?;
            let spent = |coin: &&Coin| {
                let inputs = planned.plans().into_iter().flat_map(|plan| &plan.inputs);
                inputs.into_iter().any(|input| input.coin.outpoint == coin.outpoint)
            };
            let spent: BTreeSet<_> = funds.coins.iter().filter(spent).map(|coin| coin.outpoint).collect();
            let unseen = spent.iter().map(|outpoint| outpoint.txid).filter(|txid| !previous.contains_key(txid));
            let unseen: BTreeSet<Txid> = unseen.collect();
            previous.extend(instance::transactions(&self.endpoint, &unseen).await?);
            let mut immature = false;
            for coin in funds.coins.iter_mut().filter(|coin| spent.contains(&coin.outpoint)) {
                let made = &previous[&coin.outpoint.txid];
                if made.output.get(coin.outpoint.vout as usize) != Some(&coin.output) {
                    let outpoint = coin.outpoint;
                    return Err(TxError::Refused(format!(
                        "the instance reports another value or script of {outpoint} than its transaction: do not trust it"
                    )));
                }
                if made.is_coinbase() && coin.confirmations < COINBASE_MATURITY {
                    coin.immature = true;
                    immature = true;
                }
            }
            if !immature {
                return Ok((planned, previous));
            }
        }
    }

    /// Inscriptions and runes of a private chain are worth nothing, so silence about them does not hold up a developer.
    fn assume_no_ordinals_on_regtest(&self, coins: &mut [Coin]) {
        let unknown = |coin: &&mut Coin| coin.confirmations > 0 && coin.ordinals == Ordinals::Unknown;
        if self.network == Network::Regtest && !self.common.assume_plain {
            coins.iter_mut().filter(unknown).for_each(|coin| coin.ordinals = Ordinals::None);
        }
    }

    fn with_advice(&self, error: PlanError, funds: &Funds) -> TxError {
        let unknown = funds.coins.iter().any(|coin| coin.alkanes.is_none() || coin.ordinals == Ordinals::Unknown);
        let short = matches!(error, PlanError::InsufficientFunds { .. } | PlanError::InsufficientAlkanes { .. });
        if short && unknown && !self.common.assume_plain {
            return TxError::Refused(format!(
                "{error}. The instance does not report what some coins carry: name coins with --coin TXID:VOUT, or take those \
                 above 1,000 satoshis for plain bitcoin with --assume-plain"
            ));
        }
        error.into()
    }

    /// Prints a line for the user.
    pub(super) fn say(&self, line: &str) {
        if self.common.json {
            eprintln!("{line}");
        } else {
            println!("{line}");
        }
    }

    /// Prints the plan.
    pub(super) fn show(&self, plan: &Plan) {
        for line in report::lines(plan, self.network, &self.owner) {
            self.say(&line);
        }
    }

    /// Runs the message of a plan through the instance, and refuses what would revert.
    pub(super) async fn try_out(&self, plan: &Plan, transaction: &Transaction) -> Result<Value, TxError> {
        let (Some(route), Some((_, incoming)), false) = (message_route(plan), &plan.given, self.common.no_simulate)
        else {
            return Ok(Value::Null);
        };
        let (vout, pointer, refund) = route;
        let message = plan.protostones.iter().find(|stone| stone.is_alkanes_message());
        // The contract sees the zeros that fill up the last chunk, too.
        let message = message.map(|stone| unpack_chunks(&pack_chunks(&stone.message))).unwrap_or_default();
        let cellpack = Cellpack::decode(&message).map_err(|error| error.to_string())?;
        let within = Some((transaction, vout, pointer, refund));
        let attempt = Attempt { cellpack: &cellpack, incoming, within };
        let Some(answer) = instance::simulate(&self.endpoint, &attempt).await? else {
            self.say("  not tried out: this instance cannot simulate");
            return Ok(Value::Null);
        };
        let simulation = Simulation::read(&answer)?;
        for line in &simulation.lines {
            self.say(&format!("  simulated {line}"));
        }
        if let Some(reason) = simulation.reverts
            && !self.common.force
        {
            return Err(TxError::Refused(format!(
                "the call would revert: {reason}. Nothing was signed; --force sends it all the same"
            )));
        }
        self.check_fuel(simulation.fuel)?;
        Ok(simulation.json)
    }

    /// A simulation has more fuel than a message is sure to get (protocol B12).
    fn check_fuel(&self, used: Option<u128>) -> Result<(), TxError> {
        let parameters = Parameters::of(self.network);
        let sure = parameters.minimum_fuel(u64::MAX);
        let Some(used) = used.filter(|used| *used > u128::from(sure)) else { return Ok(()) };
        // Where messages get the minimum and no more, it is certain.
        if parameters.fuel_is_minimum && !self.common.force {
            return Err(TxError::Refused(format!(
                "the call needs {used} of fuel and a message gets {sure} on {}: it would revert. Nothing was signed; --force \
                 sends it all the same. A large deployment is cheaper in two steps: deploy the code with a call that does little, \
                 then create copies of it (targets 5:n and 6:n)",
                self.network
            )));
        }
        self.say(&format!(
            "  the call needs {used} of fuel; only {sure} are sure, the rest depends on what else is in the block"
        ));
        Ok(())
    }

    /// Asks whether to go on.
    pub(super) fn ask(&self) -> Result<(), TxError> {
        if self.common.yes {
            return Ok(());
        }
        let stdin = std::io::stdin();
        if !stdin.is_terminal() {
            return Err(TxError::Refused(
                "no terminal to confirm on: check it with --dry-run, then give --yes".to_owned(),
            ));
        }
        eprint!("Sign and send? [y/N] ");
        std::io::stderr().flush().ok();
        let mut answer = String::new();
        stdin.lock().take(16).read_line(&mut answer).map_err(|error| error.to_string())?;
        match answer.trim() {
            "y" | "Y" | "yes" => Ok(()),
            _ => Err(TxError::Refused("not sent".to_owned())),
        }
    }

    /// Prints a PSBT and writes it to the file that was asked for; answers it as text.
    pub(super) fn give_psbt(&self, psbt: &Psbt, suffix: &str) -> Result<String, TxError> {
        let text = psbt.to_string();
        if let Some(file) = &self.common.psbt_file {
            let mut path = file.clone().into_os_string();
            path.push(suffix);
            let path = PathBuf::from(path);
            let mut file = std::fs::File::create_new(&path)
                .map_err(|error| format!("{}: {error}; nothing is overwritten, name another file", path.display()))?;
            writeln!(file, "{text}").map_err(|error| format!("{}: {error}", path.display()))?;
            self.say(&format!("PSBT written to {}", path.display()));
        }
        if !self.common.json {
            println!("{text}");
        }
        Ok(text)
    }

    /// Waits for the block and reads the trace, when that was asked for.
    pub(super) async fn outcome(&self, plan: &Plan) -> Result<Value, TxError> {
        if !self.common.wait {
            return Ok(Value::Null);
        }
        self.say("waiting for a block");
        let started = tokio::time::Instant::now();
        while !instance::is_confirmed(&self.endpoint, plan.txid()).await? {
            if started.elapsed() > WAIT_MAX {
                return Err(TxError::Refused(format!("{} was sent but is in no block yet", plan.txid())));
            }
            tokio::time::sleep(WAIT_STEP).await;
        }
        self.say("confirmed");
        let Some(vout) = plan.message_vout() else { return Ok(json!({ "confirmed": true })) };
        for _ in 0..TRACE_LOOKS {
            if let Some(trace) = instance::trace(&self.endpoint, plan.txid(), vout).await? {
                return Ok(self.print_trace(&TraceReport::read(&trace)));
            }
            tokio::time::sleep(WAIT_STEP).await;
        }
        self.say("the instance has no trace of the call");
        Ok(json!({ "confirmed": true, "trace": null }))
    }

    fn print_trace(&self, trace: &TraceReport) -> Value {
        for line in &trace.lines {
            self.say(line);
        }
        let created: Vec<String> = trace.created.iter().map(ToString::to_string).collect();
        // The last contract is the innermost creation; the one that was asked for comes first.
        if let Some(id) = created.first() {
            self.say(&format!("contract {id}"));
        }
        match trace.succeeded {
            Some(true) => self.say("the call succeeded"),
            Some(false) => self.say("the call reverted; what it brought returned to output 0"),
            None => {}
        }
        json!({ "confirmed": true, "success": trace.succeeded, "created": created, "trace": trace.json })
    }
}

fn read_key(file: Option<&Path>, network: Network) -> Result<Key, TxError> {
    let text = match file {
        Some(path) => {
            let mut text = String::new();
            let read =
                std::fs::File::open(path).and_then(|file| file.take(WIF_FILE_BYTES_MAX).read_to_string(&mut text));
            read.map_err(|error| format!("{}: {error}", path.display()))?;
            text
        }
        None => std::env::var(WIF_VARIABLE).map_err(|_| {
            format!("no key: give --wif-file FILE or {WIF_VARIABLE} (regtest), or --address ADDR for a PSBT")
        })?,
    };
    if network != Network::Regtest {
        return Err(TxError::Refused(format!(
            "this program signs on regtest alone, and the instance is of {network}: give --address ADDR and sign the PSBT \
             with a wallet"
        )));
    }
    Key::from_wif(&text, network).map_err(|error| TxError::Refused(error.to_string()))
}
