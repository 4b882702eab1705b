mod burns;
mod deploys;
mod mainnet;
mod mints;
pub(super) mod naive;
pub(super) mod properties;
pub(super) mod scene;
mod six_bytes;
mod transfers;
