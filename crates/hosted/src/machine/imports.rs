//! The imports of a program from the module `env` (protocol A2).

use std::sync::Arc;

use wasmtime::{Caller, Extern, Linker, Memory};

use super::{Guest, MEMORY, ask};
use crate::abi::{self, UNREADABLE};
use crate::flush::Flushing;
use crate::program::ProgramError;

/// Module of all imports.
const ENV: &str = "env";
/// Bytes of a log line of the program that are shown.
const LOG_LEN_MAX: usize = 4096;

/// Defines the seven imports.
pub(super) fn define(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    linker.func_wrap(ENV, "__host_len", |caller: Caller<'_, Guest>| caller.data().input.len() as u32)?;
    linker.func_wrap(ENV, "__load_input", |mut caller: Caller<'_, Guest>, pointer: u32| {
        let (memory, guest) = memory_and_guest(&mut caller)?;
        let written = abi::write(memory, pointer, &guest.input);
        end_on(guest, written)
    })?;
    linker.func_wrap_async(ENV, "__get_len", |mut caller: Caller<'_, Guest>, (key,): (u32,)| {
        Box::new(async move {
            match key_at(&mut caller, key)? {
                None => Ok(UNREADABLE),
                Some(key) => Ok(value_of(&mut caller, key).await.len() as u32),
            }
        })
    })?;
    linker.func_wrap_async(ENV, "__get", |mut caller: Caller<'_, Guest>, (key, pointer): (u32, u32)| {
        Box::new(async move {
            let Some(key) = key_at(&mut caller, key)? else {
                let (memory, guest) = memory_and_guest(&mut caller)?;
                let written = abi::write_unreadable(memory, pointer);
                return end_on(guest, written);
            };
            value_of(&mut caller, key).await;
            let (memory, guest) = memory_and_guest(&mut caller)?;
            let value = guest.last_read.as_ref().map_or(&[][..], |(_, value)| value);
            let written = if value.is_empty() { Ok(()) } else { abi::write(memory, pointer, value) };
            end_on(guest, written)
        })
    })?;
    linker.func_wrap(ENV, "__flush", |mut caller: Caller<'_, Guest>, pointer: u32| {
        let (memory, guest) = memory_and_guest(&mut caller)?;
        if !guest.is_block {
            return Ok(());
        }
        let message = abi::read(memory, pointer).map_err(ProgramError::from);
        let bytes_max = guest.limit.memory_bytes_max;
        let flushing = guest.flush.get_or_insert_with(|| Flushing::within(bytes_max));
        let added = message.and_then(|message| Ok(flushing.add(message)?));
        end_on(guest, added)
    })?;
    linker.func_wrap(ENV, "__log", |mut caller: Caller<'_, Guest>, pointer: u32| {
        let (memory, _) = memory_and_guest(&mut caller)?;
        if let Ok(text) = abi::read(memory, pointer) {
            let shown = &text[..text.len().min(LOG_LEN_MAX)];
            tracing::debug!(text = %String::from_utf8_lossy(shown), "log line of the hosted program");
        }
        wasmtime::Result::Ok(())
    })?;
    linker.func_wrap(ENV, "abort", |mut caller: Caller<'_, Guest>, _: u32, _: u32, _: u32, _: u32| {
        caller.data_mut().aborted = true;
    })?;
    Ok(())
}

fn memory_of(caller: &mut Caller<'_, Guest>) -> wasmtime::Result<Memory> {
    let memory = caller.get_export(MEMORY).and_then(Extern::into_memory);
    memory.ok_or_else(|| wasmtime::Error::msg("the program has no memory"))
}

fn memory_and_guest<'c>(caller: &'c mut Caller<'_, Guest>) -> wasmtime::Result<(&'c mut [u8], &'c mut Guest)> {
    let memory = memory_of(caller)?;
    Ok(memory.data_and_store_mut(caller))
}

/// The key at a pointer; `None` when the pointer is invalid.
fn key_at(caller: &mut Caller<'_, Guest>, pointer: u32) -> wasmtime::Result<Option<Arc<[u8]>>> {
    let (memory, _) = memory_and_guest(caller)?;
    Ok(abi::read(memory, pointer).ok().map(Arc::from))
}

/// The value of a key, which is cached as the last one read.
async fn value_of<'c>(caller: &'c mut Caller<'_, Guest>, key: Arc<[u8]>) -> &'c [u8] {
    let guest = caller.data_mut();
    if guest.last_read.as_ref().is_none_or(|(last, _)| *last != key) {
        let value = ask(Arc::clone(&guest.exchange), Arc::clone(&key)).await;
        caller.data_mut().last_read = Some((key, value));
    }
    caller.data().last_read.as_ref().map_or(&[], |(_, value)| value)
}

/// Ends the run when a host function fails, with the reason.
fn end_on<E: Into<ProgramError>>(guest: &mut Guest, done: Result<(), E>) -> wasmtime::Result<()> {
    done.map_err(|error| {
        let fault = error.into();
        let error = wasmtime::Error::msg(fault.to_string());
        guest.fault = Some(fault);
        error
    })
}
