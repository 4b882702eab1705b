//! From an intent and coins to a transaction in which everything has a destination.
//!
//! ```text
//!  output 0        the owner's alkanes: results, refunds, what is left over   (when there can be any)
//!  next            the recipient of results, recipients, payments
//!  next to last    change, when it is worth an output
//!  last            the runestone, when there is one
//! ```

use std::collections::BTreeSet;

use bitcoin::absolute::LockTime;
use bitcoin::taproot::ControlBlock;
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, OutPoint, ScriptBuf, Sequence, TapNodeHash, Transaction, TxIn, TxOut, Txid, Witness, XOnlyPublicKey,
};
use paraffin_alkanes::codec::{ALKANES_PROTOCOL, Edict, Protostone, Runestone, encode_protostones, shadow_vout};
use paraffin_primitives::AlkaneId;

use crate::alkanes::Alkanes;
use crate::coin::{Coin, Ordinals, SMALL_OUTPUT_MAX_SATS};
use crate::error::PlanError;
use crate::fee_rate::FeeRate;
use crate::intent::Intent;
use crate::ledger;
use crate::select::{Chosen, Funds};
use crate::weight::{dust_limit, of_transaction};
use crate::{
    ALKANE_OUTPUT_SATS, FEE_UNQUESTIONED_SATS, OLD_OP_RETURN_MAX_BYTES, OP_RETURN_MAX_BYTES, STANDARD_WEIGHT_MAX,
};

/// How an input is unlocked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpendPath {
    /// By the key whose hash the script names (p2wpkh).
    WitnessKey,
    /// By the key of a taproot output.
    TaprootKey {
        /// Root of the scripts that the output commits to.
        merkle_root: Option<TapNodeHash>,
    },
    /// By a script of a taproot output.
    TaprootScript {
        /// The leaf.
        script: ScriptBuf,
        /// The proof that the output commits to it.
        control_block: ControlBlock,
        /// Key whose signature the leaf requires.
        key: XOnlyPublicKey,
        /// Root of the scripts.
        merkle_root: Option<TapNodeHash>,
    },
}

/// An input with what it spends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedInput {
    /// The coin.
    pub coin: Coin,
    /// How it is unlocked.
    pub path: SpendPath,
}

/// The purpose of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The owner's alkanes: results, refunds and what is left over.
    Owner,
    /// A third party receives the results of a call.
    Results,
    /// A recipient is paid.
    Recipient,
    /// The signer of wrapped bitcoin is paid, or gets the output that its payment will spend.
    Signer,
    /// Contract code is committed to.
    Commit,
    /// Change.
    Change,
    /// The runestone with the protostones.
    Runestone,
}

/// An output with its purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedOutput {
    /// Value and script.
    pub output: TxOut,
    /// Its purpose.
    pub role: Role,
    /// Alkanes that certainly arrive; results of a call come on top.
    pub alkanes: Alkanes,
}

/// A warning for the person who signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// Nodes before Bitcoin Core 30 do not relay so long an `OP_RETURN` output.
    LongOpReturn {
        /// Bytes of the script.
        bytes: usize,
    },
    /// A named coin carries inscriptions or runes; they are kept together in the owner's first output.
    CarriesOrdinals {
        /// The coin.
        outpoint: OutPoint,
        /// What it carries.
        what: Vec<String>,
    },
    /// A coin of unknown content is spent because it was named or assumed to be plain.
    UnknownContent {
        /// The coin.
        outpoint: OutPoint,
    },
}

/// A transaction that is ready to be reviewed and signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The inputs, in order.
    pub inputs: Vec<PlannedInput>,
    /// The outputs, in order.
    pub outputs: Vec<PlannedOutput>,
    /// The protostones, in order.
    pub protostones: Vec<Protostone>,
    /// The id of the called contract, and the alkanes that it receives.
    pub given: Option<(AlkaneId, Alkanes)>,
    /// Satoshis for the miner.
    pub fee: u64,
    /// Weight units once it is signed; never less than the true figure.
    pub weight: u64,
    /// Warnings for the person who signs.
    pub warnings: Vec<Warning>,
}

impl Plan {
    /// The unsigned transaction.
    pub fn transaction(&self) -> Transaction {
        let input = self.inputs.iter().map(|input| TxIn {
            previous_output: input.coin.outpoint,
            script_sig: ScriptBuf::new(),
            sequence: Sequence::ENABLE_RBF_NO_LOCKTIME,
            witness: Witness::new(),
        });
        Transaction {
            version: Version::TWO,
            lock_time: LockTime::ZERO,
            input: input.collect(),
            output: self.outputs.iter().map(|planned| planned.output.clone()).collect(),
        }
    }

    /// Its id; signatures do not change it, because every input is a witness program.
    pub fn txid(&self) -> Txid {
        self.transaction().compute_txid()
    }

    /// The shadow output of the message, where its trace is found.
    pub fn message_vout(&self) -> Option<u32> {
        let index = self.protostones.iter().position(Protostone::is_alkanes_message)?;
        Some(shadow_vout(self.outputs.len(), index))
    }

    /// Virtual bytes.
    pub const fn vsize(&self) -> u64 {
        self.weight.div_ceil(4)
    }

    /// The feerate that the fee comes to.
    pub const fn fee_rate(&self) -> FeeRate {
        FeeRate::of(self.fee, self.weight)
    }

    /// The first output of a role.
    pub fn position(&self, role: Role) -> Option<u32> {
        self.outputs.iter().position(|planned| planned.role == role).map(|index| index as u32)
    }
}

/// Plans a transaction.
///
/// # Errors
/// It cannot be done with these coins, or would not be relayed, or would lose something: see [`PlanError`].
pub fn plan(intent: &Intent, funds: &Funds) -> Result<Plan, PlanError> {
    plan_without(intent, funds, &BTreeSet::new())
}

/// Plans with coins other than `except`.
pub(crate) fn plan_without(intent: &Intent, funds: &Funds, except: &BTreeSet<OutPoint>) -> Result<Plan, PlanError> {
    funds.check()?;
    let wanted = intent.wanted()?;
    let mut chosen = funds.choose(&wanted, except)?;
    let draft = Draft::new(intent, &wanted, &chosen, funds)?;
    let plain = funds.plain(&chosen, except);
    let mut next = plain.iter();
    let change = TxOut { value: Amount::ZERO, script_pubkey: funds.owner.clone() };
    let change_min = dust_limit(&funds.owner);
    let without = draft.outputs(None)?;
    let with = draft.outputs(Some(&change))?;
    let paid = draft.paid()?;
    loop {
        let inputs = inputs_of(&chosen)?;
        let weight = |outputs: &[PlannedOutput]| {
            of_transaction(inputs.iter().map(|input| &input.path), outputs.iter().map(|planned| &planned.output))
        };
        let available = chosen.sats();
        let needed = paid.saturating_add(funds.fee_rate.fee(weight(&without)));
        if !inputs.is_empty() && available >= needed {
            let needed_with_change = paid.saturating_add(funds.fee_rate.fee(weight(&with)));
            let rest = available.saturating_sub(needed_with_change);
            let (outputs, fee) = if rest >= change_min {
                let change = TxOut { value: Amount::from_sat(rest), ..change };
                (draft.outputs(Some(&change))?, needed_with_change - paid)
            } else {
                (without, available - paid)
            };
            let weight = weight(&outputs);
            let plan = draft.finish(inputs, outputs, fee, weight);
            check_limits(&plan, funds.allow_high_fee, "move fewer coins at once, those named with --coin")?;
            return checked(plan, &draft.arrivals());
        }
        match next.next() {
            Some(coin) => Funds::add(&mut chosen, coin),
            None => {
                return Err(PlanError::InsufficientFunds { available, needed, excluded: funds.excluded(&chosen, &[]) });
            }
        }
    }
}

/// Everything about a transaction but the plain coins, the fee and the change.
pub(crate) struct Draft<'a> {
    intent: &'a Intent,
    wanted: Alkanes,
    fixed: Vec<PlannedOutput>,
    /// Whether output 0 keeps the owner's alkanes.
    keeps: bool,
    /// Whether alkanes are on the inputs that must not reach a contract or recipient.
    spare: bool,
    warnings: Vec<Warning>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(
        intent: &'a Intent,
        wanted: &Alkanes,
        chosen: &Chosen<'_>,
        funds: &Funds,
    ) -> Result<Self, PlanError> {
        let total = chosen.alkanes()?;
        let left = total.without(wanted).map_err(|id| {
            let (available, needed) = (total.amount(id), wanted.amount(id));
            PlanError::InsufficientAlkanes { id, available, needed, excluded: Vec::new() }
        })?;
        let mut warnings = Vec::new();
        let (mut held_sats, mut uncertain) = (0, false);
        for coin in &chosen.coins {
            let outpoint = coin.outpoint;
            let unseen = coin.alkanes.is_none() || coin.confirmations == 0;
            let assumed = funds.assume_plain && !(unseen && coin.sats() <= SMALL_OUTPUT_MAX_SATS);
            if let Ordinals::Held(what) = &coin.ordinals {
                held_sats += coin.sats();
                warnings.push(Warning::CarriesOrdinals { outpoint, what: what.clone() });
            } else if (unseen || coin.ordinals == Ordinals::Unknown) && !assumed {
                uncertain = true;
                warnings.push(Warning::UnknownContent { outpoint });
            }
        }
        let spare = !left.is_empty() || uncertain;
        let is_call = matches!(intent, Intent::Call { .. });
        let keeps = is_call || spare || held_sats > 0;
        let mut draft = Self { intent, wanted: wanted.clone(), fixed: Vec::new(), keeps, spare, warnings };
        if keeps {
            // Inscriptions stay with their satoshis: the inputs that carry them come first, and so does their value.
            draft.push(Role::Owner, &funds.owner, held_sats.max(ALKANE_OUTPUT_SATS))?;
        }
        match intent {
            Intent::Send(recipients) => {
                if recipients.is_empty() {
                    return Err(PlanError::Nothing);
                }
                for recipient in recipients {
                    draft.push(Role::Recipient, &recipient.script, recipient.sats)?;
                }
            }
            Intent::Call { results_to, payments, .. } => {
                if let Some(script) = results_to {
                    draft.push(Role::Results, script, ALKANE_OUTPUT_SATS)?;
                }
                for (role, payment) in payments {
                    draft.push(*role, &payment.script, payment.sats)?;
                }
            }
        }
        Ok(draft)
    }

    fn push(&mut self, role: Role, script: &ScriptBuf, sats: u64) -> Result<(), PlanError> {
        let minimum = dust_limit(script);
        if sats < minimum {
            return Err(PlanError::Dust { script: script.clone(), sats, minimum });
        }
        let output = TxOut { value: Amount::from_sat(sats), script_pubkey: script.clone() };
        self.fixed.push(PlannedOutput { output, role, alkanes: Alkanes::default() });
        Ok(())
    }

    /// Satoshis of all outputs but the change.
    pub(crate) fn paid(&self) -> Result<u64, PlanError> {
        let mut values = self.fixed.iter().map(|planned| planned.output.value.to_sat());
        values.try_fold(0_u64, u64::checked_add).ok_or(PlanError::ImpossibleValue)
    }

    /// Number of the first output behind the owner's.
    fn first_other(&self) -> u32 {
        u32::from(self.keeps)
    }

    fn protostones(&self, output_count: usize) -> Vec<Protostone> {
        let stone = |pointer| Protostone {
            protocol_tag: ALKANES_PROTOCOL,
            pointer: Some(pointer),
            refund: Some(0),
            ..Protostone::default()
        };
        let edict = |(id, amount), output| Edict { id, amount: paraffin_primitives::Amount(amount), output };
        match self.intent {
            Intent::Send(recipients) => {
                if !self.spare && self.wanted.is_empty() {
                    return Vec::new();
                }
                // Without an owner's output nothing is left over; then the pointer names a recipient and moves nothing.
                let mut transfer = stone(0);
                for (vout, recipient) in (self.first_other()..).zip(recipients) {
                    transfer.edicts.extend(recipient.alkanes.iter().map(|moved| edict(moved, vout.into())));
                }
                vec![transfer]
            }
            Intent::Call { cellpack, results_to, .. } => {
                let results = if results_to.is_some() { self.first_other() } else { 0 };
                let message = Protostone { message: cellpack.encode(), ..stone(results) };
                if !self.spare {
                    return vec![message];
                }
                let mut transfer = stone(0);
                let shadow = shadow_vout(output_count, 1);
                transfer.edicts.extend(self.wanted.iter().map(|moved| edict(moved, shadow.into())));
                vec![transfer, message]
            }
        }
    }

    /// All outputs; the runestone comes last.
    pub(crate) fn outputs(&self, change: Option<&TxOut>) -> Result<Vec<PlannedOutput>, PlanError> {
        let mut outputs = self.fixed.clone();
        if let Some(change) = change {
            outputs.push(PlannedOutput { output: change.clone(), role: Role::Change, alkanes: Alkanes::default() });
        }
        let count = outputs.len() + 1;
        let stones = self.protostones(count);
        if stones.is_empty() && !self.keeps {
            return Ok(outputs);
        }
        let mut runestone = Runestone { protocol: encode(&stones), ..Runestone::default() };
        // Unknown runes go where the owner's alkanes go.
        runestone.base.pointer = self.keeps.then_some(0);
        let script_pubkey = runestone.encode(count)?;
        if script_pubkey.len() > OP_RETURN_MAX_BYTES {
            return Err(PlanError::OpReturnTooLong { bytes: script_pubkey.len() });
        }
        let output = TxOut { value: Amount::ZERO, script_pubkey };
        outputs.push(PlannedOutput { output, role: Role::Runestone, alkanes: Alkanes::default() });
        Ok(outputs)
    }

    /// The plan, before it is checked.
    pub(crate) fn finish(&self, inputs: Vec<PlannedInput>, outputs: Vec<PlannedOutput>, fee: u64, weight: u64) -> Plan {
        let mut warnings = self.warnings.clone();
        let runestone = outputs.iter().find(|planned| planned.role == Role::Runestone);
        let bytes = runestone.map_or(0, |planned| planned.output.script_pubkey.len());
        if bytes > OLD_OP_RETURN_MAX_BYTES {
            warnings.push(Warning::LongOpReturn { bytes });
        }
        let given = match self.intent {
            Intent::Call { cellpack, incoming, .. } => Some((cellpack.target, incoming.clone())),
            Intent::Send(_) => None,
        };
        let protostones = self.protostones(outputs.len());
        Plan { inputs, outputs, protostones, given, fee, weight, warnings }
    }

    /// The alkanes that each output must get by the intent, by number.
    pub(crate) fn arrivals(&self) -> Vec<(u32, Alkanes)> {
        match self.intent {
            Intent::Send(recipients) => {
                let alkanes = recipients.iter().map(|recipient| recipient.alkanes.clone());
                (self.first_other()..).zip(alkanes).filter(|(_, alkanes)| !alkanes.is_empty()).collect()
            }
            Intent::Call { .. } => Vec::new(),
        }
    }
}

fn encode(stones: &[Protostone]) -> Vec<u128> {
    encode_protostones(stones).expect("every protostone here has the tag of alkanes")
}

pub(crate) fn inputs_of(chosen: &Chosen<'_>) -> Result<Vec<PlannedInput>, PlanError> {
    let input = |coin: &&Coin| {
        let script = &coin.output.script_pubkey;
        let path = if script.is_p2tr() {
            SpendPath::TaprootKey { merkle_root: None }
        } else if script.is_p2wpkh() {
            SpendPath::WitnessKey
        } else {
            return Err(PlanError::UnsupportedCoin(coin.outpoint));
        };
        Ok(PlannedInput { coin: (*coin).clone(), path })
    };
    chosen.coins.iter().map(input).collect()
}

/// Refuses what nodes would not relay, and fees out of proportion.
pub(crate) fn check_limits(plan: &Plan, allow_high_fee: bool, advice: &'static str) -> Result<(), PlanError> {
    if plan.weight > STANDARD_WEIGHT_MAX {
        return Err(PlanError::TooHeavy { weight: plan.weight, advice });
    }
    let moving = plan.outputs.iter().filter(|planned| planned.role != Role::Change);
    let moved: u64 = moving.map(|planned| planned.output.value.to_sat()).sum();
    if !allow_high_fee && plan.fee > FEE_UNQUESTIONED_SATS && plan.fee > moved / 10 {
        return Err(PlanError::HighFee { fee: plan.fee, moved });
    }
    Ok(())
}

/// Reads the finished transaction again and compares where the ledger takes the alkanes with what was promised.
pub(crate) fn checked(mut plan: Plan, arrivals: &[(u32, Alkanes)]) -> Result<Plan, PlanError> {
    let held: Vec<Alkanes> = plan.inputs.iter().map(|input| input.coin.alkanes.clone().unwrap_or_default()).collect();
    let flow = ledger::follow(&plan.transaction(), &held)?;
    if let Some((id, amount)) = flow.lost.iter().next() {
        return Err(PlanError::WouldLose(format!("{amount} of {id} would be burned")));
    }
    for (vout, expected) in arrivals {
        if flow.outputs.get(vout) != Some(expected) {
            return Err(PlanError::WouldLose(format!("output {vout} would not receive what it should")));
        }
    }
    for vout in flow.outputs.keys() {
        let is_owner = plan.position(Role::Owner) == Some(*vout);
        if !is_owner && !arrivals.iter().any(|(expected, _)| expected == vout) {
            return Err(PlanError::WouldLose(format!("output {vout} would receive what it should not")));
        }
    }
    let given = flow.messages.values().next().cloned().unwrap_or_default();
    if given != plan.given.as_ref().map(|(_, alkanes)| alkanes.clone()).unwrap_or_default() {
        return Err(PlanError::WouldLose("the contract would not be given what it should".to_owned()));
    }
    for (vout, alkanes) in flow.outputs {
        plan.outputs[vout as usize].alkanes = alkanes;
    }
    Ok(plan)
}
