//! The native engine and a hosted program side by side, block by block.

use std::sync::Arc;

use paraffin_alkanes::{BlockEffects, Engine, Halt, StateKey, StateReader};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Height};
use paraffin_store::ModuleId;
use parking_lot::Mutex;

use crate::HostedEngine;
use crate::engine::Unreadable;
use crate::layout::{BUILTINS, Translated};

/// The engine whose effects are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serves {
    /// The native engine's.
    Native,
    /// The hosted program's.
    Hosted,
}

/// The reaction to the first difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDifference {
    /// The native engine stops: no further block is indexed, or, where the program serves, none is compared.
    Halt,
    /// It is written to the log, and both go on.
    Report,
}

/// Results of the comparison since the start of the process.
#[derive(Clone, Default)]
pub struct Differences(Arc<Mutex<Tally>>);

#[derive(Default)]
struct Tally {
    compared: u64,
    count: u64,
    last: Option<String>,
    is_over: bool,
}

impl Differences {
    /// Blocks that both engines have run and that were compared.
    pub fn compared(&self) -> u64 {
        self.0.lock().compared
    }

    /// Blocks in which the engines differed.
    pub fn count(&self) -> u64 {
        self.0.lock().count
    }

    /// The newest difference as text.
    pub fn last(&self) -> Option<String> {
        self.0.lock().last.clone()
    }

    /// Whether the native engine has stopped, so that nothing is compared any more.
    pub fn is_over(&self) -> bool {
        self.0.lock().is_over
    }

    fn add(&self, difference: Option<String>) {
        let mut found = self.0.lock();
        found.compared += 1;
        if difference.is_some() {
            found.count += 1;
            found.last = difference;
        }
    }

    fn end(&self) {
        self.0.lock().is_over = true;
    }
}

/// The native engine and a hosted program side by side, block by block.
pub struct ShadowEngine {
    native: Box<dyn Engine>,
    hosted: HostedEngine,
    serves: Serves,
    on_difference: OnDifference,
    differences: Differences,
    /// Whether the native engine has stopped beside a program that serves.
    has_stopped: bool,
}

impl ShadowEngine {
    /// Runs `native` and `hosted`, writes the effects of one of them, and counts in `differences`.
    pub fn new(
        native: Box<dyn Engine>,
        hosted: HostedEngine,
        serves: Serves,
        on_difference: OnDifference,
        differences: Differences,
    ) -> Self {
        Self { native, hosted, serves, on_difference, differences, has_stopped: false }
    }

    /// Compares the results of the native engine and of the program on a block.
    fn judge(
        &self,
        block: &ConnectedBlock,
        native: Result<&BlockEffects, &Halt>,
        hosted: Result<&Translated, &Unreadable>,
    ) -> Option<Halt> {
        let text = match (native, hosted) {
            (Err(halt), _) => Some(format!("the native engine halts: {halt}")),
            (Ok(_), Err(Unreadable(text))) => Some(text.clone()),
            (Ok(native), Ok(hosted)) => difference(native, hosted),
        };
        self.differences.add(text.as_ref().map(|text| format!("block {}: {text}", block.id)));
        let text = text?;
        tracing::error!(block = %block.id, difference = %text, "the native engine and the hosted indexer program part");
        (self.on_difference == OnDifference::Halt).then_some(Halt::Parted(text))
    }

    fn stop(&mut self) {
        self.has_stopped = true;
        self.differences.end();
    }
}

impl Engine for ShadowEngine {
    fn name(&self) -> &'static str {
        match self.serves {
            Serves::Native => self.native.name(),
            Serves::Hosted => self.hosted.name(),
        }
    }

    fn follows(&self) -> Option<ModuleId> {
        self.hosted.follows()
    }

    fn run_block(
        &mut self,
        height: Height,
        block: &ConnectedBlock,
        state: &dyn StateReader,
    ) -> Result<BlockEffects, Halt> {
        let hosted = self.hosted.translated(block, state)?;
        match self.serves {
            Serves::Native => {
                let native = self.native.run_block(height, block, state);
                let halt = match native {
                    Ok(native) => match self.judge(block, Ok(&native), hosted.as_ref()) {
                        None => return Ok(native),
                        Some(halt) => halt,
                    },
                    Err(halt) => halt,
                };
                self.differences.end();
                Err(halt)
            }
            Serves::Hosted => {
                // A flush that cannot be read cannot be served.
                let hosted = hosted?;
                if self.has_stopped {
                    return Ok(hosted.effects);
                }
                let native = self.native.run_block(height, block, state);
                if self.judge(block, native.as_ref(), Ok(&hosted)).is_some() || native.is_err() {
                    self.stop();
                    tracing::error!("the native engine has stopped; the hosted indexer program goes on alone");
                }
                Ok(match native {
                    Ok(native) => completed(hosted.effects, native),
                    Err(_) => hosted.effects,
                })
            }
        }
    }

    fn is_whole(&self) -> bool {
        !self.has_stopped
    }

    fn accept_partial(&mut self) -> Result<(), Halt> {
        match self.serves {
            Serves::Native => {
                self.differences.end();
                Err(Halt::PartialState)
            }
            Serves::Hosted => {
                if !self.has_stopped {
                    self.stop();
                    tracing::error!(
                        "the native engine does not run beside the hosted indexer program: {}",
                        Halt::PartialState
                    );
                }
                Ok(())
            }
        }
    }
}

/// The program's effects with the records of the native engine alone.
fn completed(mut hosted: BlockEffects, native: BlockEffects) -> BlockEffects {
    hosted.writes.extend(native.writes.into_iter().filter(|(key, _)| is_native_alone(key)));
    hosted.writes.sort_unstable();
    hosted.undone = native.undone;
    hosted
}

/// The first difference between both sides of a block, in words; the native engine is left.
pub fn difference(native: &BlockEffects, hosted: &Translated) -> Option<String> {
    if let Some(key) = &hosted.unknown {
        return Some(format!("the program writes under a key of no known kind: {key}"));
    }
    comparable(native).first_difference(&comparable(&hosted.effects)).or_else(|| base_rune_difference(native, hosted))
}

/// Whether the program stores this value in another form, which is not translated.
fn is_native_alone(key: &StateKey) -> bool {
    matches!(
        key,
        StateKey::PendingPayments | StateKey::Etching(_) | StateKey::EtchedName(_) | StateKey::MintsRemaining(_)
    )
}

/// The part of the effects that both sides have (`docs/decisions/0026`).
fn comparable(effects: &BlockEffects) -> BlockEffects {
    let is_compared = |key: &StateKey| match key {
        StateKey::Code(id) => !BUILTINS.contains(id),
        key => !is_native_alone(key),
    };
    BlockEffects {
        writes: effects.writes.iter().filter(|(key, _)| is_compared(key)).cloned().collect(),
        traces: effects.traces.clone(),
        undone: Vec::new(),
        funded: effects.funded.clone(),
    }
}

/// Base runes beside their sheets: which were etched, and how many mints remain of those whose number changed. The program
/// stores the latter by names of an unknown form, so they are compared as a list without them.
fn base_rune_difference(native: &BlockEffects, hosted: &Translated) -> Option<String> {
    /// Entries that are shown.
    const SHOWN: usize = 20;
    fn show(mut entries: impl ExactSizeIterator<Item = String>) -> String {
        let count = entries.len();
        let shown: Vec<String> = entries.by_ref().take(SHOWN).collect();
        match count {
            0 => "none".to_owned(),
            count if count > SHOWN => format!("{}, … ({count})", shown.join(", ")),
            _ => shown.join(", "),
        }
    }
    let ids = |effects: &BlockEffects| -> Vec<AlkaneId> {
        let etched = effects.writes.iter().filter_map(|(key, _)| match key {
            StateKey::Etching(id) => Some(*id),
            _ => None,
        });
        etched.collect()
    };
    let etched = ids(native);
    if !etched.iter().eq(&hosted.etched) {
        return Some(format!(
            "base runes: etched in this block\nleft:  {}\nright: {}",
            show(etched.iter().map(ToString::to_string)),
            show(hosted.etched.iter().map(ToString::to_string))
        ));
    }
    let mut remaining: Vec<&[u8]> = native
        .writes
        .iter()
        .filter_map(|(key, value)| matches!(key, StateKey::MintsRemaining(_)).then_some(&value[..]))
        .collect();
    remaining.sort_unstable();
    let number = |bytes: &[u8]| match <[u8; 16]>::try_from(bytes) {
        Ok(bytes) => u128::from_le_bytes(bytes).to_string(),
        Err(_) => format!("{} bytes", bytes.len()),
    };
    (!remaining.iter().copied().eq(hosted.mints_remaining.iter().map(Vec::as_slice))).then(|| {
        format!(
            "base runes: mints that remain\nleft:  {}\nright: {}",
            show(remaining.iter().map(|bytes| number(bytes))),
            show(hosted.mints_remaining.iter().map(|bytes| number(bytes)))
        )
    })
}
