//! Scripts whose unconfirmed history may have changed, collected for one reader.

use std::collections::HashSet;

use crate::ScriptHash;

/// Scripts that are collected; beyond it any script counts as touched.
const SCRIPTS_MAX: usize = 200_000;

/// Scripts that changes touched since the last call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TouchedScripts {
    /// More than can be collected: any script may be touched.
    All,
    /// These and no others.
    Scripts(HashSet<ScriptHash>),
}

impl Default for TouchedScripts {
    fn default() -> Self {
        Self::Scripts(HashSet::new())
    }
}

impl TouchedScripts {
    pub(crate) fn add(&mut self, scripts: impl Iterator<Item = ScriptHash>) {
        if let Self::Scripts(touched) = self {
            touched.extend(scripts);
            if touched.len() > SCRIPTS_MAX {
                *self = Self::All;
            }
        }
    }

    /// Whether nothing was touched.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Scripts(scripts) if scripts.is_empty())
    }
}
