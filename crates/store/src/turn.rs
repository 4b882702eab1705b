//! Modules that apply a block at the same time, each of which waits for one that it reads only when it reads of it.

use std::sync::{Arc, OnceLock};

use paraffin_primitives::Height;

use crate::engine::View;
use crate::overlay::ModuleOverlay;
use crate::{ModuleId, ModuleSchema, ModuleWriter, StoreError};

/// The tables of a module that another one reads.
#[derive(Clone, Copy)]
pub(crate) enum EarlierOverlay<'a> {
    /// It has applied the block.
    Applied(&'a ModuleOverlay),
    /// It may still be at it.
    Awaited(&'a (dyn Awaited + 'a)),
}

impl<'a> EarlierOverlay<'a> {
    /// The tables, once the module has applied the block.
    pub(crate) fn wait(self) -> Result<&'a ModuleOverlay, StoreError> {
        match self {
            Self::Applied(overlay) => Ok(overlay),
            Self::Awaited(outcome) => outcome.wait().ok_or(StoreError::EarlierFailed),
        }
    }
}

/// What becomes of a module's part of a block. A trait, so that those who wait need not name how long the tables live.
pub(crate) trait Awaited: Sync {
    /// Waits for the end; `None` when the module failed.
    fn wait(&self) -> Option<&ModuleOverlay>;
}

/// Set when the module has ended, to its tables if it has applied the block.
pub(crate) struct Outcome<'a>(OnceLock<Option<&'a ModuleOverlay>>);

impl Awaited for Outcome<'_> {
    fn wait(&self) -> Option<&ModuleOverlay> {
        *self.0.wait()
    }
}

/// Ends the wait of those who read the module: with nothing, unless it has applied the block by then.
struct End<'a>(Arc<Outcome<'a>>);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let _ = self.0.0.set(None);
    }
}

/// A module's part of the block begun, which may be applied while others are: reads of the tables of other modules wait until
/// those have ended. Parts are to be taken up in their order, or each by a thread of its own; else a part waits for one that never
/// begins.
pub struct ModuleTurn<'a> {
    module: ModuleId,
    overlay: &'a mut ModuleOverlay,
    end: End<'a>,
    /// Those that the module's schema declares as read.
    earlier: Vec<(ModuleId, Arc<Outcome<'a>>)>,
    /// One that has to end before this one begins.
    followed: Option<Arc<Outcome<'a>>>,
    view: &'a Arc<View>,
    height: Height,
}

impl<'a> ModuleTurn<'a> {
    /// The part of a module, behind the parts of those before it.
    pub(crate) fn after(
        turns: &[Self],
        schema: &ModuleSchema,
        overlay: &'a mut ModuleOverlay,
        view: &'a Arc<View>,
        height: Height,
    ) -> Self {
        let earlier = turns.iter().filter(|turn| schema.reads.contains(&turn.module));
        let earlier = earlier.map(|turn| (turn.module, Arc::clone(&turn.end.0))).collect();
        let end = End(Arc::new(Outcome(OnceLock::new())));
        Self { module: schema.id, overlay, end, earlier, followed: None, view, height }
    }

    /// The same, which begins when that of `module` has ended, one of the `turns` before it.
    ///
    /// # Errors
    /// It is none of them.
    pub fn following(self, module: ModuleId, turns: &[Self]) -> Result<Self, StoreError> {
        let followed = turns.iter().find(|turn| turn.module == module);
        let followed = followed.ok_or(StoreError::Misuse("a module follows one that comes before it"))?;
        Ok(Self { followed: Some(Arc::clone(&followed.end.0)), ..self })
    }

    /// Has `connect` apply the block. Those who wait for the module go on afterwards, with an error when it failed or panicked.
    ///
    /// # Errors
    /// That of `connect`; the module that it follows has failed.
    pub fn apply<E: From<StoreError>>(
        self,
        connect: impl FnOnce(&mut ModuleWriter<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { overlay, end, earlier, followed, view, height, .. } = self;
        if let Some(followed) = followed {
            EarlierOverlay::Awaited(&*followed).wait()?;
        }
        let earlier = earlier.iter().map(|(id, outcome)| (*id, EarlierOverlay::Awaited(&**outcome))).collect();
        connect(&mut ModuleWriter { overlay: &mut *overlay, earlier, view, height })?;
        let _ = end.0.0.set(Some(overlay));
        Ok(())
    }
}
