//! In which lists an event stands.

use paraffin_alkanes::ScriptKey;
use paraffin_primitives::AlkaneId;

use crate::rows::{append_id, kind_number};
use crate::{Action, Event, EventKind};

/// The events of a list: all, or those of a pool, token, script or factory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All events.
    All,
    /// Of the pools of a factory.
    Factory(AlkaneId),
    /// Of one pool.
    Pool(AlkaneId),
    /// Swaps and creations with this alkane on either side.
    Token(AlkaneId),
    /// Of the owner of a script.
    Script(ScriptKey),
    /// Of the owner of a script, on one pool.
    ScriptPool(ScriptKey, AlkaneId),
    /// Swaps of the owner of a script, with this alkane on either side.
    ScriptToken(ScriptKey, AlkaneId),
}

/// Outcomes of the events of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Events of calls that succeeded.
    Successful,
    /// Failed attempts.
    Failed,
    /// Both.
    Any,
}

impl Scope {
    /// Key of a list; without a kind, that of all kinds together.
    pub(crate) fn list(self, kind: Option<EventKind>, status: Status) -> Vec<u8> {
        let mut key = Vec::with_capacity(72);
        let mut append = |tag: u8, script: Option<ScriptKey>, id: Option<AlkaneId>| {
            key.push(tag);
            key.extend_from_slice(script.as_ref().map_or(&[], |script| &script.0));
            if let Some(id) = id {
                append_id(id, &mut key);
            }
        };
        match self {
            Self::All => append(0, None, None),
            Self::Factory(id) => append(1, None, Some(id)),
            Self::Pool(id) => append(2, None, Some(id)),
            Self::Token(id) => append(3, None, Some(id)),
            Self::Script(script) => append(4, Some(script), None),
            Self::ScriptPool(script, id) => append(5, Some(script), Some(id)),
            Self::ScriptToken(script, id) => append(6, Some(script), Some(id)),
        }
        key.push(kind.map_or(0, kind_number));
        key.push(match status {
            Status::Any => 0,
            Status::Successful => 1,
            Status::Failed => 2,
        });
        key
    }

    /// Whether there are lists of all kinds together in this scope.
    pub(crate) const fn has_mixed(self) -> bool {
        matches!(self, Self::All | Self::Factory(_) | Self::Pool(_) | Self::Script(_) | Self::ScriptPool(..))
    }
}

/// The lists of an event; `of_factories` where its pool is one of a factory.
pub(crate) fn lists_of(event: &Event, of_factories: bool) -> Vec<Vec<u8>> {
    let script = event.actor.as_ref().map(|script| ScriptKey::of(script));
    let mut scopes = Vec::with_capacity(9);
    scopes.extend(of_factories.then_some(Scope::All));
    scopes.extend(script.map(Scope::Script));
    if let Some(pool) = event.action.pool() {
        scopes.extend(of_factories.then_some(Scope::Factory(pool.factory)));
        scopes.push(Scope::Pool(pool.id));
        scopes.extend(script.map(|script| Scope::ScriptPool(script, pool.id)));
        if matches!(event.action, Action::Swap { .. } | Action::Creation { .. }) {
            scopes.extend(pool.tokens.map(Scope::Token));
        }
        if let (Action::Swap { .. }, Some(script)) = (&event.action, script) {
            scopes.extend(pool.tokens.map(|token| Scope::ScriptToken(script, token)));
        }
    }
    let own = if event.successful { Status::Successful } else { Status::Failed };
    let kind = Some(event.action.kind());
    let mut lists = Vec::new();
    for scope in scopes {
        for status in [own, Status::Any] {
            lists.push(scope.list(kind, status));
            if scope.has_mixed() {
                lists.push(scope.list(None, status));
            }
        }
    }
    lists
}
