//! Notices that the newest block has changed.

use std::sync::{OnceLock, Weak};
use std::time::Duration;

use paraffin_primitives::BlockId;
use tokio::sync::watch;

use crate::state::ChainState;

/// Polling interval.
const EVERY: Duration = Duration::from_millis(50);

/// Publishes the newest block of a chain to its subscribers.
pub(super) struct Tips {
    chain: Weak<dyn ChainState>,
    receiver: OnceLock<watch::Receiver<Option<BlockId>>>,
}

impl Tips {
    pub(super) fn new(chain: Weak<dyn ChainState>) -> Self {
        Self { chain, receiver: OnceLock::new() }
    }

    /// Starts polling with the first subscriber. Must be called within the runtime.
    pub(super) fn subscribe(&self) -> watch::Receiver<Option<BlockId>> {
        let begin = || {
            let (sender, receiver) = watch::channel(self.chain.upgrade().and_then(|chain| newest(chain.as_ref())));
            tokio::spawn(look(Weak::clone(&self.chain), sender));
            receiver
        };
        self.receiver.get_or_init(begin).clone()
    }
}

fn newest(chain: &dyn ChainState) -> Option<BlockId> {
    chain.snapshot().tip().map(|record| record.id)
}

/// Polls until the chain is dropped.
async fn look(chain: Weak<dyn ChainState>, sender: watch::Sender<Option<BlockId>>) {
    let mut every = tokio::time::interval(EVERY);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        let Some(chain) = chain.upgrade() else { return };
        let newest = newest(chain.as_ref());
        drop(chain);
        sender.send_if_modified(|known| {
            let is_new = *known != newest;
            *known = newest;
            is_new
        });
    }
}
