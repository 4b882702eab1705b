//! Deployment of a contract in two transactions (protocol B7, B8).
//!
//! ```text
//!  commit   coins ─▶ taproot output that commits to a script with the code ─▶ change
//!  reveal   that output, unlocked by the script, so that the code stands in the witness ─▶ protostone that creates
//! ```
//!
//! The output of the commit is unlocked by the owner's key alone, too. If the reveal never confirms, nothing is lost: it can
//! be revealed again, or recovered by the key.

use std::collections::BTreeSet;

use bitcoin::key::{Secp256k1, Verification};
use bitcoin::opcodes::all::OP_CHECKSIG;
use bitcoin::script::Builder;
use bitcoin::taproot::{LeafVersion, TaprootBuilder, TaprootSpendInfo};
use bitcoin::{Amount, OutPoint, ScriptBuf, TxOut, XOnlyPublicKey};
use paraffin_alkanes::codec::{Cellpack, append_envelope};
use paraffin_primitives::AlkaneId;

use crate::alkanes::Alkanes;
use crate::coin::{Coin, Ordinals};
use crate::error::PlanError;
use crate::fee_rate::FeeRate;
use crate::intent::{Intent, Recipient};
use crate::plan::{
    Draft, Plan, PlannedInput, PlannedOutput, Role, SpendPath, Warning, check_limits, checked, plan_without,
};
use crate::select::Funds;
use crate::weight::{dust_limit, of_transaction};

/// Target block of a create: the next id of block 2 (protocol B7).
const CREATE_BLOCK: u128 = 1;
/// Target block of a create under a chosen id of block 4 (protocol B7).
const CREATE_RESERVED_BLOCK: u128 = 3;

const CODE_TOO_LARGE: &str = "the code is too large to be deployed in one piece: make the module smaller (optimise for size, \
                              strip names)";

/// A contract to be deployed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployment {
    /// The module, packed with gzip.
    pub payload: Vec<u8>,
    /// `Some(n)` requests the id 4:n, otherwise the next id of block 2 is assigned.
    pub reserved: Option<u128>,
    /// Inputs of the first call.
    pub inputs: Vec<u128>,
    /// Alkanes that the first call brings.
    pub incoming: Alkanes,
    /// Who gets what the first call returns; the owner when absent.
    pub results_to: Option<ScriptBuf>,
    /// Untweaked key of the owner, which alone can reveal or recover.
    pub key: XOnlyPublicKey,
}

/// Both transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeploymentPlan {
    /// The first transaction; its [`Role::Commit`] output is what the second spends.
    pub commit: Plan,
    /// The second transaction.
    pub reveal: Plan,
}

impl Deployment {
    /// The target and the inputs of the call.
    pub fn cellpack(&self) -> Cellpack {
        let target = match self.reserved {
            Some(tx) => AlkaneId { block: CREATE_RESERVED_BLOCK, tx },
            None => AlkaneId { block: CREATE_BLOCK, tx: 0 },
        };
        Cellpack { target, inputs: self.inputs.clone() }
    }

    /// The script with the code: the owner's signature check, then the envelope.
    pub fn leaf(&self) -> ScriptBuf {
        let signed = Builder::new().push_x_only_key(&self.key).push_opcode(OP_CHECKSIG);
        append_envelope(signed, &self.payload).into_script()
    }

    /// The script of the output that commits to the code.
    pub fn commit_script(&self) -> ScriptBuf {
        ScriptBuf::new_p2tr_tweaked(self.spend_info(&Secp256k1::verification_only()).output_key())
    }

    fn spend_info<C: Verification>(&self, secp: &Secp256k1<C>) -> TaprootSpendInfo {
        let builder = TaprootBuilder::new().add_leaf(0, self.leaf()).expect("one leaf at depth 0 is a whole tree");
        builder.finalize(secp, self.key).expect("one leaf at depth 0 is a whole tree")
    }

    fn intent(&self) -> Intent {
        Intent::Call {
            cellpack: self.cellpack(),
            incoming: self.incoming.clone(),
            results_to: self.results_to.clone(),
            payments: Vec::new(),
        }
    }

    /// The commit output as an input, unlocked by the script.
    fn reveal_input(&self, commit: OutPoint, output: TxOut) -> PlannedInput {
        let info = self.spend_info(&Secp256k1::verification_only());
        let leaf = (self.leaf(), LeafVersion::TapScript);
        let control_block = info.control_block(&leaf).expect("the leaf is in the tree");
        let merkle_root = info.merkle_root();
        let path = SpendPath::TaprootScript { script: leaf.0, control_block, key: self.key, merkle_root };
        PlannedInput { coin: commit_coin(commit, output), path }
    }
}

/// A commit output carries nothing: this wallet made it.
fn commit_coin(outpoint: OutPoint, output: TxOut) -> Coin {
    let alkanes = Some(Alkanes::default());
    Coin { outpoint, output, confirmations: 1, immature: false, alkanes, ordinals: Ordinals::None }
}

/// Plans both transactions.
///
/// # Errors
/// See [`PlanError`]; code that does not fit a standard transaction is [`PlanError::TooHeavy`].
pub fn plan_deployment(deployment: &Deployment, funds: &Funds) -> Result<DeploymentPlan, PlanError> {
    funds.check()?;
    if deployment.payload.is_empty() {
        return Err(PlanError::NoCode);
    }
    // The reveal first, from an output of no value: what it lacks is what the commit must pay.
    let script = deployment.commit_script();
    let unpaid = Reveal::new(deployment, funds, OutPoint::null(), &script, 0)?;
    let value = unpaid.needed.saturating_sub(unpaid.available).max(dust_limit(&script));
    let reserved: BTreeSet<OutPoint> = unpaid.inputs.iter().skip(1).map(|input| input.coin.outpoint).collect();

    let recipient = Recipient { script: script.clone(), sats: value, alkanes: Alkanes::default() };
    let intent = Intent::Send(vec![recipient]);
    let mut funds_of_commit = funds.clone();
    // The fee of both transactions together is checked at the reveal.
    funds_of_commit.allow_high_fee = true;
    let mut commit = plan_without(&intent, &funds_of_commit, &reserved)?;
    let vout = commit.position(Role::Recipient).expect("the intent has one recipient");
    commit.outputs[vout as usize].role = Role::Commit;
    check_limits(&commit, funds.allow_high_fee, "spend fewer coins")?;

    let outpoint = OutPoint { txid: commit.txid(), vout };
    let reveal = Reveal::new(deployment, funds, outpoint, &script, value)?.finish(funds.allow_high_fee)?;
    Ok(DeploymentPlan { commit, reveal })
}

/// Plans the second transaction alone, for a commit that is there already.
///
/// # Errors
/// The output is that of another deployment or holds too little; or as [`plan_deployment`].
pub fn plan_reveal(
    deployment: &Deployment,
    funds: &Funds,
    commit: OutPoint,
    output: &TxOut,
) -> Result<Plan, PlanError> {
    funds.check()?;
    if output.script_pubkey != deployment.commit_script() {
        return Err(PlanError::OtherCommit { txid: commit.txid, vout: commit.vout });
    }
    Reveal::new(deployment, funds, commit, &output.script_pubkey, output.value.to_sat())?.finish(funds.allow_high_fee)
}

/// Plans the return of a commit output to the owner, unlocked by the key; the code is needed to find the tweak.
///
/// # Errors
/// The output is that of another deployment, or holds less than the fee.
pub fn plan_recovery(
    deployment: &Deployment,
    commit: OutPoint,
    output: &TxOut,
    owner: &ScriptBuf,
    fee_rate: FeeRate,
) -> Result<Plan, PlanError> {
    let info = deployment.spend_info(&Secp256k1::verification_only());
    if output.script_pubkey != ScriptBuf::new_p2tr_tweaked(info.output_key()) {
        return Err(PlanError::OtherCommit { txid: commit.txid, vout: commit.vout });
    }
    let path = SpendPath::TaprootKey { merkle_root: info.merkle_root() };
    let inputs = vec![PlannedInput { coin: commit_coin(commit, output.clone()), path }];
    let mut change = TxOut { value: Amount::ZERO, script_pubkey: owner.clone() };
    let weight = of_transaction(inputs.iter().map(|input| &input.path), std::iter::once(&change));
    let (fee, available) = (fee_rate.fee(weight), output.value.to_sat());
    let minimum = dust_limit(owner);
    let rest = available.checked_sub(fee).filter(|rest| *rest >= minimum).ok_or(PlanError::InsufficientFunds {
        available,
        needed: fee.saturating_add(minimum),
        excluded: Vec::new(),
    })?;
    change.value = Amount::from_sat(rest);
    let outputs = vec![PlannedOutput { output: change, role: Role::Change, alkanes: Alkanes::default() }];
    Ok(Plan { inputs, outputs, protostones: Vec::new(), given: None, fee, weight, warnings: Vec::new() })
}

/// The second transaction before its surplus is assigned.
struct Reveal {
    inputs: Vec<PlannedInput>,
    outputs: Vec<PlannedOutput>,
    plan: Plan,
    available: u64,
    needed: u64,
}

impl Reveal {
    fn new(
        deployment: &Deployment,
        funds: &Funds,
        commit: OutPoint,
        script: &ScriptBuf,
        value: u64,
    ) -> Result<Self, PlanError> {
        // Named coins pay for the commit; only coins with alkanes that are wanted come in here.
        let coins = Funds { named: Vec::new(), ..funds.clone() };
        let intent = deployment.intent();
        let chosen = coins.choose(&deployment.incoming, &BTreeSet::from([commit]))?;
        let draft = Draft::new(&intent, &deployment.incoming, &chosen, &coins)?;
        let output = TxOut { value: Amount::from_sat(value), script_pubkey: script.clone() };
        let mut inputs = vec![deployment.reveal_input(commit, output)];
        inputs.extend(crate::plan::inputs_of(&chosen)?);
        let outputs = draft.outputs(None)?;
        let weight =
            of_transaction(inputs.iter().map(|input| &input.path), outputs.iter().map(|planned| &planned.output));
        let needed = draft.paid()?.saturating_add(funds.fee_rate.fee(weight));
        let available = value.checked_add(chosen.sats()).ok_or(PlanError::ImpossibleValue)?;
        let fee = funds.fee_rate.fee(weight);
        let plan = draft.finish(inputs.clone(), outputs.clone(), fee, weight);
        Ok(Self { inputs, outputs, plan, available, needed })
    }

    /// Adds the surplus to the owner's output.
    fn finish(self, allow_high_fee: bool) -> Result<Plan, PlanError> {
        let Self { outputs, mut plan, available, needed, .. } = self;
        let Some(surplus) = available.checked_sub(needed) else {
            let spare = available.saturating_sub(needed - plan.fee);
            let affordable = FeeRate::of(spare, plan.weight);
            return Err(PlanError::CommitTooSmall { available, needed, affordable });
        };
        plan.outputs = outputs;
        let owner = &mut plan.outputs[0].output;
        owner.value = Amount::from_sat(owner.value.to_sat().saturating_add(surplus));
        check_limits(&plan, allow_high_fee, CODE_TOO_LARGE)?;
        // No coin is named here, so none of unknown content is spent and the warning does not apply.
        plan.warnings.retain(|warning| !matches!(warning, Warning::UnknownContent { .. }));
        checked(plan, &[])
    }
}
