//! Balances of outputs and the protostones that move them (protocol B5).
