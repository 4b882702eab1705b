//! The virtual machine (protocol B9 to B11, B13).

/// Code of the contracts that are never on chain (protocol B18).
#[derive(Debug, Default)]
pub struct Builtins {}

/// Compiled contracts by the hash of their code.
#[derive(Debug, Default)]
pub struct CodeCache {}
