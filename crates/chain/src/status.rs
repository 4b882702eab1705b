//! Status of the node, updated by every call.

use std::time::{SystemTime, UNIX_EPOCH};

use paraffin_primitives::Height;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::error::NodeError;

/// Status of the node, reported in health.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeStatus {
    /// Whether the last call got an answer from a node that is ready (not warming up, not refusing our credentials).
    pub reachable: bool,
    /// Node's best height as last seen.
    pub height: Option<Height>,
    /// Last error, for operators: that of the follower, else that of the last call. `None` once it is over.
    pub error: Option<String>,
    /// Unix seconds since when `reachable` has had its value.
    pub since_unix: u64,
}

/// The writing side of the status channel.
pub(crate) struct StatusCell {
    sender: watch::Sender<NodeStatus>,
    errors: Mutex<Errors>,
}

#[derive(Default)]
struct Errors {
    follower: Option<String>,
    call: Option<String>,
}

impl StatusCell {
    pub(crate) fn new() -> Self {
        let (sender, _) =
            watch::channel(NodeStatus { reachable: false, height: None, error: None, since_unix: unix_now() });
        Self { sender, errors: Mutex::default() }
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<NodeStatus> {
        self.sender.subscribe()
    }

    /// Records the outcome of a call. Errors of the node's own about one call (`Rpc`) and answers
    /// beyond a caller's limit do not make the node unavailable.
    pub(crate) fn record<T>(&self, outcome: &Result<T, NodeError>) {
        match outcome {
            Ok(_) | Err(NodeError::Rpc { .. } | NodeError::TooLarge(_) | NodeError::NoMemory) => {
                self.set(Some(true), |errors| errors.call = None);
            }
            Err(error @ NodeError::Invalid(_)) => self.set(Some(true), |errors| errors.call = Some(error.to_string())),
            Err(error) => self.set(Some(false), |errors| errors.call = Some(error.to_string())),
        }
    }

    /// Records a temporary overload: the node is reachable, but refused one call.
    pub(crate) fn record_busy(&self, text: &str) {
        self.set(None, |errors| errors.call = Some(text.to_owned()));
    }

    /// Records the error of the follower; `None` clears it. It stays until then, whatever the outcome of other calls.
    pub(crate) fn set_follower_error(&self, text: Option<String>) {
        self.set(None, |errors| errors.follower = text);
    }

    pub(crate) fn set_height(&self, height: Height) {
        self.sender.send_if_modified(|status| status.height.replace(height) != Some(height));
    }

    /// Readers are woken only by a change.
    fn set(&self, reachable: Option<bool>, change: impl FnOnce(&mut Errors)) {
        let mut errors = self.errors.lock();
        change(&mut errors);
        let error = errors.follower.as_ref().or(errors.call.as_ref());
        self.sender.send_if_modified(|status| {
            let mut changed = false;
            if let Some(reachable) = reachable
                && status.reachable != reachable
            {
                status.reachable = reachable;
                status.since_unix = unix_now();
                changed = true;
            }
            if status.error.as_ref() != error {
                status.error = error.cloned();
                changed = true;
            }
            changed
        });
    }
}

/// The clock serves only `since_unix`, which no decision depends on.
fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_follower_outlives_successful_calls() {
        let cell = StatusCell::new();
        let status = cell.subscribe();
        cell.set_follower_error(Some("pruned".into()));
        cell.record(&Ok(()));
        assert_eq!(status.borrow().error.as_deref(), Some("pruned"));
        assert!(status.borrow().reachable);
        cell.set_follower_error(None);
        assert_eq!(status.borrow().error, None);
    }

    #[test]
    fn readers_are_woken_only_by_a_change() {
        let cell = StatusCell::new();
        cell.record(&Ok(()));
        cell.set_height(7);
        let mut status = cell.subscribe();
        status.mark_unchanged();
        cell.record(&Ok(()));
        cell.set_height(7);
        assert!(!status.has_changed().unwrap());
        cell.record::<()>(&Err(NodeError::Unavailable("gone".into())));
        assert!(status.has_changed().unwrap());
    }

    #[test]
    fn a_refusal_of_one_call_leaves_the_node_reachable() {
        let cell = StatusCell::new();
        cell.record(&Ok(()));
        cell.record::<()>(&Err(NodeError::Rpc { code: -5, message: "no such block".into() }));
        assert!(cell.subscribe().borrow().reachable);
        assert_eq!(cell.subscribe().borrow().error, None);
    }
}
