//! Handlers of the surfaces below a key.

pub use paraffin_bitcoin_surfaces::handlers::*;
pub use paraffin_contract_surfaces::handlers::*;
pub use paraffin_data_surfaces::handlers::*;
pub use paraffin_service_surfaces::handlers::*;
