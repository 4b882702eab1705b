//! The isolation of the process of a script, beside the sandbox of Lua.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The barriers around a worker; for each missing one the reason. A worker without a filter of system calls exists only on
/// processors without one; elsewhere it does not start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerIsolation {
    /// Namespaces of user, mounts, network, processes and IPC.
    pub without_namespaces: Option<String>,
    /// An empty root.
    pub without_empty_root: Option<String>,
    /// A filter that allows only the system calls that computing needs.
    pub without_filter: Option<String>,
}

impl WorkerIsolation {
    /// Whether no barrier is missing.
    pub const fn is_complete(&self) -> bool {
        self.without_namespaces.is_none() && self.without_empty_root.is_none() && self.without_filter.is_none()
    }
}

impl fmt::Display for WorkerIsolation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let barriers = [
            ("namespaces (user, mounts, network, processes, IPC)", &self.without_namespaces),
            ("an empty root", &self.without_empty_root),
            ("a filter of system calls", &self.without_filter),
        ];
        let mut separator = "with ";
        for (name, _) in barriers.iter().filter(|(_, missing)| missing.is_none()) {
            write!(formatter, "{separator}{name}")?;
            separator = ", ";
        }
        let mut separator = if separator == ", " { "; without " } else { "without " };
        for (name, reason) in barriers {
            if let Some(reason) = reason {
                write!(formatter, "{separator}{name} ({reason})")?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_reason() {
        let complete = WorkerIsolation { without_namespaces: None, without_empty_root: None, without_filter: None };
        let all = "namespaces (user, mounts, network, processes, IPC), an empty root, a filter of system calls";
        assert_eq!((complete.is_complete(), complete.to_string()), (true, format!("with {all}")));
        let refused = Some("refused".to_owned());
        let filter_alone = WorkerIsolation {
            without_namespaces: refused.clone(),
            without_empty_root: refused.clone(),
            without_filter: None,
        };
        assert!(!filter_alone.is_complete());
        assert_eq!(
            filter_alone.to_string(),
            "with a filter of system calls; without namespaces (user, mounts, network, processes, IPC) (refused), \
             an empty root (refused)"
        );
        let none = WorkerIsolation { without_filter: refused, ..filter_alone };
        assert!(none.to_string().starts_with("without namespaces"), "{none}");
    }
}
