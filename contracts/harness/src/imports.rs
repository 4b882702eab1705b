//! The host functions as imports of a module, each with its price.

use paraffin_contract::testing::Frame;
use paraffin_contract::{AlkaneId, CallKind, Host};
use wasmi::errors::LinkerError;
use wasmi::{Caller, Extern, Linker};

use crate::Call;

const MODULE: &str = "env";

/// The bytes at a pointer in `ArrayBuffer` layout: length in the four bytes before it.
pub(crate) fn array_buffer(memory: &[u8], pointer: i32) -> Option<&[u8]> {
    let start = usize::try_from(pointer).ok()?;
    let prefix = memory.get(start.checked_sub(4)?..start)?;
    let length = u32::from_le_bytes(prefix.try_into().ok()?) as usize;
    memory.get(start..start.checked_add(length)?)
}

fn read(caller: &Caller<'_, Call>, pointer: i32) -> Option<Vec<u8>> {
    let memory = caller.get_export("memory").and_then(Extern::into_memory)?;
    array_buffer(memory.data(caller), pointer).map(<[u8]>::to_vec)
}

fn write(caller: &mut Caller<'_, Call>, pointer: i32, bytes: &[u8]) -> Option<()> {
    let memory = caller.get_export("memory").and_then(Extern::into_memory)?;
    let start = usize::try_from(pointer).ok()?;
    let prefix = u32::try_from(bytes.len()).ok()?.to_le_bytes();
    memory.write(&mut *caller, start.checked_sub(4)?, &prefix).ok()?;
    memory.write(&mut *caller, start, bytes).ok()
}

fn charge(caller: &mut Caller<'_, Call>, fuel: u64) -> Option<()> {
    let left = caller.get_fuel().ok()?.checked_sub(fuel)?;
    caller.set_fuel(left).ok()
}

/// Whatever goes wrong inside a host function marks the call as failed and answers -1.
fn answer(caller: &Caller<'_, Call>, outcome: Option<i32>) -> i32 {
    outcome.unwrap_or_else(|| {
        caller.data().frame.abort();
        -1
    })
}

fn size(bytes: &[u8]) -> Option<i32> {
    i32::try_from(bytes.len()).ok()
}

/// Announces the length of what the host has, for a price per byte or a fixed one.
fn request(
    linker: &mut Linker<Call>,
    name: &str,
    price: Price,
    value: fn(&Frame) -> Vec<u8>,
) -> Result<(), LinkerError> {
    linker.func_wrap(MODULE, name, move |mut caller: Caller<'_, Call>| -> i32 {
        let bytes = value(&caller.data().frame);
        let outcome = charge(&mut caller, price.of(&bytes)).and_then(|()| size(&bytes));
        answer(&caller, outcome)
    })?;
    Ok(())
}

/// Writes what the host has.
fn load(linker: &mut Linker<Call>, name: &str, price: Price, value: fn(&Frame) -> Vec<u8>) -> Result<(), LinkerError> {
    linker.func_wrap(MODULE, name, move |mut caller: Caller<'_, Call>, pointer: i32| {
        let bytes = value(&caller.data().frame);
        let outcome = charge(&mut caller, price.of(&bytes)).and_then(|()| write(&mut caller, pointer, &bytes));
        answer(&caller, outcome.map(|()| 0));
    })?;
    Ok(())
}

#[derive(Clone, Copy)]
enum Price {
    Fixed(u64),
    PerByte(u64),
}

impl Price {
    fn of(self, bytes: &[u8]) -> u64 {
        match self {
            Self::Fixed(fuel) => fuel,
            Self::PerByte(fuel) => fuel * bytes.len() as u64,
        }
    }
}

/// Defines every host function.
pub(crate) fn define(linker: &mut Linker<Call>) -> Result<(), LinkerError> {
    linker.func_wrap(MODULE, "abort", |caller: Caller<'_, Call>, _: i32, _: i32, _: i32, _: i32| {
        caller.data().frame.abort();
    })?;
    linker.func_wrap(MODULE, "__log", |caller: Caller<'_, Call>, text: i32| {
        let outcome = read(&caller, text).map(|bytes| caller.data().frame.log(&bytes));
        answer(&caller, outcome.map(|()| 0));
    })?;
    storage(linker)?;
    request(linker, "__request_context", Price::PerByte(1), Host::context)?;
    linker.func_wrap(MODULE, "__load_context", |mut caller: Caller<'_, Call>, pointer: i32| -> i32 {
        let bytes = caller.data().frame.context();
        let outcome = charge(&mut caller, 2 * bytes.len() as u64).and_then(|()| write(&mut caller, pointer, &bytes));
        answer(&caller, outcome.map(|()| pointer))
    })?;
    request(linker, "__request_transaction", Price::Fixed(50), Host::transaction)?;
    load(linker, "__load_transaction", Price::Fixed(500), Host::transaction)?;
    request(linker, "__request_block", Price::Fixed(100), Host::block)?;
    load(linker, "__load_block", Price::Fixed(1000), Host::block)?;
    load(linker, "__sequence", Price::Fixed(5), |frame| frame.sequence().to_le_bytes().to_vec())?;
    load(linker, "__height", Price::Fixed(10), |frame| frame.height().to_le_bytes().to_vec())?;
    linker.func_wrap(MODULE, "__fuel", |mut caller: Caller<'_, Call>, pointer: i32| {
        let left = caller.get_fuel().unwrap_or(0);
        let outcome = charge(&mut caller, 5).and_then(|()| write(&mut caller, pointer, &left.to_le_bytes()));
        answer(&caller, outcome.map(|()| 0));
    })?;
    linker.func_wrap(MODULE, "__balance", |mut caller: Caller<'_, Call>, who: i32, what: i32, pointer: i32| {
        let outcome = balance(&mut caller, who, what, pointer);
        answer(&caller, outcome.map(|()| 0));
    })?;
    linker.func_wrap(MODULE, "__returndatacopy", |mut caller: Caller<'_, Call>, pointer: i32| {
        let bytes = caller.data().frame.returned();
        let outcome = charge(&mut caller, 2 * bytes.len() as u64).and_then(|()| write(&mut caller, pointer, &bytes));
        answer(&caller, outcome.map(|()| 0));
    })?;
    for (name, kind) in
        [("__call", CallKind::Call), ("__delegatecall", CallKind::Delegate), ("__staticcall", CallKind::Static)]
    {
        linker.func_wrap(
            MODULE,
            name,
            move |mut caller: Caller<'_, Call>, cellpack: i32, parcel: i32, storage: i32, _: i64| -> i32 {
                let outcome = call(&mut caller, kind, [cellpack, parcel, storage]);
                answer(&caller, outcome)
            },
        )?;
    }
    Ok(())
}

fn storage(linker: &mut Linker<Call>) -> Result<(), LinkerError> {
    linker.func_wrap(MODULE, "__request_storage", |mut caller: Caller<'_, Call>, key: i32| -> i32 {
        let outcome = read(&caller, key).and_then(|key| {
            let value = caller.data().frame.storage(&key);
            charge(&mut caller, (key.len() + value.len()) as u64)?;
            size(&value)
        });
        answer(&caller, outcome)
    })?;
    linker.func_wrap(MODULE, "__load_storage", |mut caller: Caller<'_, Call>, key: i32, pointer: i32| -> i32 {
        let outcome = read(&caller, key).and_then(|key| {
            let value = caller.data().frame.storage(&key);
            charge(&mut caller, 2 * (key.len() + value.len()) as u64)?;
            write(&mut caller, pointer, &value)
        });
        answer(&caller, outcome.map(|()| pointer))
    })?;
    Ok(())
}

fn balance(caller: &mut Caller<'_, Call>, who: i32, what: i32, pointer: i32) -> Option<()> {
    let who = AlkaneId::from_bytes(&read(caller, who)?)?;
    let what = AlkaneId::from_bytes(&read(caller, what)?)?;
    charge(caller, 10)?;
    let value = caller.data().frame.balance(who, what);
    write(caller, pointer, &value.to_le_bytes())
}

fn call(caller: &mut Caller<'_, Call>, kind: CallKind, [cellpack, parcel, storage]: [i32; 3]) -> Option<i32> {
    let (cellpack, parcel, storage) = (read(caller, cellpack)?, read(caller, parcel)?, read(caller, storage)?);
    let frame = caller.data().frame.clone();
    frame.set_fuel(caller.get_fuel().ok()?);
    let returned = frame.call(kind, &cellpack, &parcel, &storage, u64::MAX);
    caller.set_fuel(frame.remaining_fuel()).ok()?;
    match returned {
        Some(bytes) => size(&bytes),
        None => Some(-size(&frame.returned())?.max(1)),
    }
}
