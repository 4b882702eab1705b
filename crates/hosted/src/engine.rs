//! A hosted program as an engine of the alkanes module, and both engines side by side.

use std::sync::Arc;

use paraffin_alkanes::{BlockEffects, Engine, Halt, StateKey, StateReader};
use paraffin_primitives::{ConnectedBlock, Height};
use paraffin_store::Store;
use parking_lot::Mutex;

use crate::layout::{BUILTINS, Translated, translate};
use crate::module::{halted, run_block};
use crate::rows::BlockRow;
use crate::{BlockLimits, Flush, Handover, HostedState, MODULE, Program};

/// Follows the alkanes indexer program: what it writes in a block is translated into effects.
///
/// The program itself is run by [`crate::HostedModule`], which sees each block first and hands over what was written. A block that
/// comes alone, because the alkanes module is run again, is run here on the state that the hosted module has kept.
pub struct HostedEngine {
    program: Arc<dyn Program>,
    limits: BlockLimits,
    first_height: Height,
    handover: Handover,
    store: Store,
}

impl HostedEngine {
    /// An engine that takes what `handover` holds. Below `first_height` nothing happens.
    pub fn new(
        program: Arc<dyn Program>,
        limits: BlockLimits,
        first_height: Height,
        handover: Handover,
        store: Store,
    ) -> Self {
        Self { program, limits, first_height, handover, store }
    }

    fn flush(&self, block: &ConnectedBlock) -> Result<Flush, Halt> {
        if let Some(flush) = self.handover.take(block.id) {
            return Ok(flush);
        }
        let halt = |error: &dyn std::fmt::Display| Halt::Hosted(error.to_string());
        let snapshot = self.store.snapshot();
        let before = block.id.height.checked_sub(1);
        let have = snapshot.module_height(MODULE).map_err(|error| halt(&error))?;
        if block.id.height > self.first_height && have < before {
            return Err(Halt::Hosted(format!(
                "the hosted indexer program has not run block {}: run `paraffin reindex hosted` first",
                block.id
            )));
        }
        let state = HostedState::at(&snapshot, before);
        let flush = run_block(&*self.program, self.limits, block, &state);
        let flush = flush.map_err(|error| Halt::Hosted(halted(block.id, &error)))?;
        let row = BlockRow::at(&snapshot, block.id.height).map_err(|error| halt(&error))?;
        match row.filter(|row| row.program == self.program.hash() && row.digest != flush.digest()) {
            None => Ok(flush),
            Some(_) => Err(Halt::Hosted(format!(
                "the hosted indexer program wrote other values when block {} was run again: the disk or the memory of this \
                 machine cannot be trusted, or the program asks for more than its block",
                block.id
            ))),
        }
    }

    fn translated(&self, block: &ConnectedBlock, state: &dyn StateReader) -> Result<Translated, Halt> {
        if block.id.height < self.first_height {
            return Ok(Translated { effects: BlockEffects::default(), unknown: None });
        }
        translate(&self.flush(block)?, block, state).map_err(|error| {
            Halt::Hosted(format!("block {}: what the hosted indexer program writes cannot be read: {error}", block.id))
        })
    }
}

impl Engine for HostedEngine {
    fn name(&self) -> &'static str {
        "hosted"
    }

    fn run_block(
        &mut self,
        _height: Height,
        block: &ConnectedBlock,
        state: &dyn StateReader,
    ) -> Result<BlockEffects, Halt> {
        Ok(self.translated(block, state)?.effects)
    }

    fn is_whole(&self) -> bool {
        false
    }

    fn accept_partial(&mut self) -> Result<(), Halt> {
        Ok(())
    }
}

/// Whose effects are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serves {
    /// The native engine's.
    Native,
    /// The hosted program's.
    Hosted,
}

/// What the first difference does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDifference {
    /// The native engine stops: no further block is indexed, or, where the program serves, none is compared.
    Halt,
    /// It is written to the log, and both go on.
    Report,
}

/// The differences found so far.
#[derive(Clone, Default)]
pub struct Differences(Arc<Mutex<(u64, Option<String>)>>);

impl Differences {
    /// Blocks in which engines parted.
    pub fn count(&self) -> u64 {
        self.0.lock().0
    }

    /// The newest difference, for people.
    pub fn last(&self) -> Option<String> {
        self.0.lock().1.clone()
    }

    fn add(&self, text: String) {
        let mut found = self.0.lock();
        found.0 += 1;
        found.1 = Some(text);
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
    /// Runs `native` and `hosted` and writes what one of them says.
    pub fn new(native: Box<dyn Engine>, hosted: HostedEngine, serves: Serves, on_difference: OnDifference) -> Self {
        Self { native, hosted, serves, on_difference, differences: Differences::default(), has_stopped: false }
    }

    /// Where differences are counted.
    pub fn differences(&self) -> Differences {
        self.differences.clone()
    }

    /// The two sides of a block: what the native engine said, and the program.
    fn judge(&self, block: &ConnectedBlock, native: Result<&BlockEffects, &Halt>, hosted: &Translated) -> Option<Halt> {
        let text = match native {
            Ok(native) => difference(native, hosted)?,
            Err(halt) => format!("the native engine halts: {halt}"),
        };
        tracing::error!(block = %block.id, difference = %text, "the native engine and the hosted indexer program part");
        self.differences.add(format!("block {}: {text}", block.id));
        (self.on_difference == OnDifference::Halt).then_some(Halt::Parted(text))
    }
}

impl Engine for ShadowEngine {
    fn name(&self) -> &'static str {
        match self.serves {
            Serves::Native => self.native.name(),
            Serves::Hosted => self.hosted.name(),
        }
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
                let native = self.native.run_block(height, block, state)?;
                self.judge(block, Ok(&native), &hosted).map_or(Ok(native), Err)
            }
            Serves::Hosted => {
                if self.has_stopped {
                    return Ok(hosted.effects);
                }
                let native = self.native.run_block(height, block, state);
                self.has_stopped = self.judge(block, native.as_ref(), &hosted).is_some() || native.is_err();
                if self.has_stopped {
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
            Serves::Native => Err(Halt::PartialState),
            Serves::Hosted => {
                if !self.has_stopped {
                    self.has_stopped = true;
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

/// The program's effects with what the native engine alone tells.
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
    comparable(native).first_difference(&comparable(&hosted.effects))
}

/// What the program keeps in another form, which is not translated.
fn is_native_alone(key: &StateKey) -> bool {
    matches!(
        key,
        StateKey::PendingPayments | StateKey::Etching(_) | StateKey::EtchedName(_) | StateKey::MintsRemaining(_)
    )
}

/// What both sides can say: without what the native engine alone keeps, and what the program's base runes are beside their
/// sheets (`docs/decisions/0026`).
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
