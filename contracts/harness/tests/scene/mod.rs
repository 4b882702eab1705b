//! What several tests need: each contract as native code or as its committed module.
#![allow(dead_code, reason = "every test uses its own part")]

pub(crate) mod cryptoswap;

use std::rc::Rc;

use harness::Compiled;
use paraffin_contract::testing::{Native, Program, TransactionBuilder, World};
use paraffin_contract::{AlkaneId, Parcel, Response};

/// Which form of the contracts a scene runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Native,
    Compiled,
}

pub(crate) const FORMS: [Form; 2] = [Form::Native, Form::Compiled];

pub(crate) const fn id(block: u128, tx: u128) -> AlkaneId {
    AlkaneId::new(block, tx)
}

/// What a message brings.
pub(crate) type Brought<'a> = &'a [(AlkaneId, u128)];

/// A contract by name.
pub(crate) fn program(form: Form, name: &str) -> Rc<dyn Program> {
    if form == Form::Compiled {
        return Compiled::named(name);
    }
    Rc::new(match name {
        "amm-factory" => Native::of::<amm_factory::AmmFactory>(),
        "amm-pool" => Native::of::<amm_pool::AmmPool>(),
        "auth-token" => Native::of::<auth_token::AuthToken>(),
        "beacon-proxy" => Native::of::<beacon_proxy::BeaconProxy>(),
        "counter" => Native::of::<counter::Counter>(),
        "cryptoswap-pool" => Native::of::<cryptoswap_pool::CryptoSwapPool>(),
        "free-mint" => Native::of::<free_mint::FreeMint>(),
        "genesis-token" => Native::of::<genesis_token::GenesisToken>(),
        "owned-token" => Native::of::<owned_token::OwnedToken>(),
        "upgradeable-beacon" => Native::of::<upgradeable_beacon::UpgradeableBeacon>(),
        "upgradeable-proxy" => Native::of::<upgradeable_proxy::UpgradeableProxy>(),
        "usd-token" => Native::of::<usd_token::UsdToken>(),
        "wrapped-bitcoin" => Native::of::<wrapped_bitcoin::WrappedBitcoin>(),
        other => panic!("{other} has no native form here"),
    })
}

/// A world with the template of ownership tokens, a block header and a transaction.
pub(crate) fn world(form: Form) -> World {
    let world = World::new();
    world.install_program(id(4, 0xffed), program(form, "auth-token"));
    world.set_precompile(0, header(1_700_000_000));
    world.set_transaction(&TransactionBuilder::new());
    world
}

/// A block header with this time.
pub(crate) fn header(time: u32) -> Vec<u8> {
    let mut header = vec![0; 80];
    header[68..72].copy_from_slice(&time.to_le_bytes());
    header
}

/// A message that must go well.
pub(crate) fn run(world: &World, target: AlkaneId, inputs: &[u128], incoming: &[(AlkaneId, u128)]) -> Response {
    world.message(target, inputs, parcel(incoming)).unwrap()
}

/// A message that must fail; answers why.
pub(crate) fn refused(world: &World, target: AlkaneId, inputs: &[u128], incoming: &[(AlkaneId, u128)]) -> String {
    world.message(target, inputs, parcel(incoming)).unwrap_err()
}

pub(crate) fn parcel(amounts: &[(AlkaneId, u128)]) -> Parcel {
    let mut parcel = Parcel::new();
    for (id, value) in amounts {
        parcel.add(*id, *value);
    }
    parcel
}

/// The integer that a message answers.
pub(crate) fn number(world: &World, target: AlkaneId, inputs: &[u128]) -> u128 {
    u128::from_le_bytes(run(world, target, inputs, &[]).data.try_into().unwrap())
}

/// Sixteen-byte text as an integer.
pub(crate) fn word(text: &str) -> u128 {
    let mut bytes = [0; 16];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    u128::from_le_bytes(bytes)
}

/// Text as a parameter: sixteen bytes to an integer, ended by a zero byte.
pub(crate) fn string(text: &str) -> Vec<u128> {
    let bytes: Vec<u8> = text.bytes().chain([0]).collect();
    bytes.chunks(16).map(|chunk| chunk.iter().rev().fold(0, |word, byte| word << 8 | u128::from(*byte))).collect()
}
