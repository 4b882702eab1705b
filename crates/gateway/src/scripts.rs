//! Scripts of callers: what runs and stores them, and how many run at a time.

use std::sync::Arc;

use paraffin_access::ScriptStore;
use paraffin_lua::Runner;

use crate::fairness::FairSemaphore;

/// The script runner and store of an instance.
#[derive(Clone)]
pub struct ScriptParts {
    /// Runs scripts.
    pub runner: Arc<dyn Runner>,
    /// Stores saved scripts.
    pub store: Arc<dyn ScriptStore>,
}

/// Permits for concurrent scripts of an instance, at most half of them for anonymous callers together.
pub fn permits(scripts: Option<&ScriptParts>) -> FairSemaphore {
    let (all, own) = scripts.map_or((1, 1), |scripts| {
        let settings = scripts.runner.settings();
        (settings.scripts_max, settings.scripts_per_caller_max)
    });
    let bytes = scripts.map_or(0, |scripts| scripts.runner.settings().memory_bytes_max);
    FairSemaphore::new(all, all / own.max(1)).of_bytes(bytes)
}
