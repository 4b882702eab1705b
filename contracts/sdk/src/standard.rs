//! What tokens and owned contracts have in common: the usual slots, minting, and the token that proves ownership.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::bitcoin::Transaction;
use crate::call::{Call, Response};
use crate::environment::Environment;
use crate::id::{AlkaneId, Transfer};
use crate::revert::Revert;
use crate::storage::{Pointer, Slot};

/// Where the ownership token's code lies: a copy of `4:65517` (0xffed).
pub const AUTHORITY_TEMPLATE: AlkaneId = AlkaneId::new(6, 0xffed);

/// Slot `/name`.
pub fn name() -> Slot<String> {
    Slot::new("/name")
}

/// Slot `/symbol`.
pub fn symbol() -> Slot<String> {
    Slot::new("/symbol")
}

/// Slot `/totalsupply`.
pub fn total_supply() -> Slot<u128> {
    Slot::new("/totalsupply")
}

/// Slot `/auth`: the token whose holder owns the contract.
pub fn authority() -> Slot<AlkaneId> {
    Slot::new("/auth")
}

/// Raises the supply of our own token; the amount must go out with the response. Reverts when the supply would pass 128 bits.
pub fn mint(env: &mut Environment, value: u128) -> Result<Transfer, Revert> {
    let supply = total_supply().get(env)?.checked_add(value).ok_or("the total supply overflows")?;
    total_supply().set(env, &supply);
    Ok(Transfer { id: env.myself(), value })
}

/// Lowers the supply by what came in of our own token and answers how much that is. The rest of what came in is not touched:
/// the response must send it back.
pub fn burn_incoming(env: &mut Environment) -> Result<u128, Revert> {
    let value = env.incoming().amount_of(env.myself());
    crate::ensure!(value != 0, "nothing to burn came in");
    let supply = total_supply().get(env)?.checked_sub(value).ok_or("more burned than there is")?;
    total_supply().set(env, &supply);
    Ok(value)
}

/// A response that sends back what came in except our own token.
pub fn forward_all_but_own(env: &Environment) -> Response {
    let mut response = Response::new();
    for transfer in &env.incoming().0 {
        if transfer.id != env.myself() {
            response.alkanes.add(transfer.id, transfer.value);
        }
    }
    response
}

/// Reverts unless at least one unit of the ownership token came in. Send it back with the response.
pub fn require_authority(env: &Environment) -> Result<(), Revert> {
    let token = authority().require(env, "the contract has no owner")?;
    crate::ensure!(env.incoming().amount_of(token) != 0, "the ownership token did not come in");
    Ok(())
}

/// Creates an ownership token with this supply, writes it to `/auth` and answers the units, which must go out with the response.
pub fn create_authority(env: &mut Environment, units: u128) -> Result<Transfer, Revert> {
    let created = AlkaneId::new(2, env.sequence());
    let answer = env.call(&Call::new(AUTHORITY_TEMPLATE, vec![0, units]))?;
    let received = answer.alkanes.single()?;
    crate::ensure!(received.id == created, "the ownership token has an unexpected id");
    authority().set(env, &created);
    Ok(received)
}

/// Reverts when this transaction was here before: slot `/seen/` and the transaction id in internal byte order, u32 1 afterwards.
pub fn once_per_transaction(env: &mut Environment) -> Result<(), Revert> {
    let transaction = Transaction::parse(&env.transaction()).ok_or("the transaction cannot be read")?;
    let seen = Pointer::new("/seen/").select(&transaction.txid).slot::<u32>();
    crate::ensure!(!seen.is_set(env), "once per transaction");
    seen.set(env, &1);
    Ok(())
}

/// Keeps what the transaction's deployment envelope carries in slot `/data`, unless it is a compressed module.
pub fn keep_attachment(env: &mut Environment) {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    let envelope = Transaction::parse(&env.transaction()).and_then(|transaction| transaction.envelope());
    if let Some(content) = envelope.filter(|content| !content.is_empty() && !content.starts_with(&GZIP)) {
        attachment().set(env, &content);
    }
}

/// Slot `/data`.
pub fn attachment() -> Slot<Vec<u8>> {
    Slot::new("/data")
}

/// UTF-8 text from integers that hold sixteen bytes each, little-endian, without the zero bytes.
pub fn text(words: &[u128]) -> Result<String, Revert> {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).filter(|byte| *byte != 0).collect();
    String::from_utf8(bytes).map_err(|_| Revert::from("a text is not UTF-8"))
}
