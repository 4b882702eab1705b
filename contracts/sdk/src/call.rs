//! What a contract is told when it is called, what it answers, and how it calls others.

use alloc::vec::Vec;

use crate::codec::Reader;
use crate::id::{AlkaneId, Parcel};
use crate::storage::StorageMap;

/// What a contract is told when it is called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// Whose storage and balances are in use. Under a delegated call, the delegating contract.
    pub myself: AlkaneId,
    /// Who called: a contract, or [`AlkaneId::TRANSACTION`].
    pub caller: AlkaneId,
    /// The virtual output of the protostone that started everything: number of outputs + 1 + index of the protostone.
    pub vout: u128,
    /// What came in with this call.
    pub incoming: Parcel,
    /// The integers of the cellpack behind the target; the first one is the opcode.
    pub inputs: Vec<u128>,
}

impl Context {
    /// Binary form: all parts as u128 little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&self.myself.to_bytes());
        bytes.extend_from_slice(&self.caller.to_bytes());
        bytes.extend_from_slice(&self.vout.to_le_bytes());
        bytes.extend_from_slice(&self.incoming.to_bytes());
        for input in &self.inputs {
            bytes.extend_from_slice(&input.to_le_bytes());
        }
        bytes
    }

    /// Reads the binary form; `None` when a part is missing.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let myself = AlkaneId::new(reader.word()?, reader.word()?);
        let caller = AlkaneId::new(reader.word()?, reader.word()?);
        let vout = reader.word()?;
        let incoming = Parcel::read(&mut reader)?;
        let mut inputs = Vec::with_capacity(reader.remaining() / 16);
        while let Some(input) = reader.word() {
            inputs.push(input);
        }
        Some(Self { myself, caller, vout, incoming, inputs })
    }
}

/// What a contract answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// What goes out, to the caller or to the protostone's pointer. Must be held by the contract, its own token excepted.
    pub alkanes: Parcel,
    /// Returned bytes.
    pub data: Vec<u8>,
}

impl Response {
    /// Nothing goes out, no data.
    pub const fn new() -> Self {
        Self { alkanes: Parcel::new(), data: Vec::new() }
    }

    /// Sends these alkanes out.
    pub const fn sending(alkanes: Parcel) -> Self {
        Self { alkanes, data: Vec::new() }
    }

    /// With this data.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<Vec<u8>>) -> Self {
        self.data = data.into();
        self
    }

    /// Binary form that ends a call: parcel, storage map, data.
    pub fn to_bytes(&self, storage: &StorageMap) -> Vec<u8> {
        let mut bytes = self.alkanes.to_bytes();
        storage.write(&mut bytes);
        bytes.extend_from_slice(&self.data);
        bytes
    }

    /// Binary form that a caller reads: parcel, data.
    pub fn from_return_data(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let alkanes = Parcel::read(&mut reader)?;
        Some(Self { alkanes, data: reader.rest().to_vec() })
    }
}

/// A call to another contract.
#[derive(Debug, Clone)]
pub struct Call {
    /// Who is called. Block 1 creates from the transaction's envelope, 3:n creates 4:n, 5:n and 6:n copy 2:n and 4:n.
    pub target: AlkaneId,
    /// Opcode and its parameters.
    pub inputs: Vec<u128>,
    /// What goes along.
    pub alkanes: Parcel,
    /// Limit that is handed to the host, which ignores it today: the callee may use all that is left.
    pub fuel: u64,
}

impl Call {
    /// A call with an opcode and its parameters.
    pub fn new(target: AlkaneId, inputs: impl Into<Vec<u128>>) -> Self {
        Self { target, inputs: inputs.into(), alkanes: Parcel::new(), fuel: u64::MAX }
    }

    /// Sends these alkanes along.
    #[must_use]
    pub fn sending(mut self, alkanes: Parcel) -> Self {
        self.alkanes = alkanes;
        self
    }

    /// Names a fuel limit, see [`Call::fuel`].
    #[must_use]
    pub const fn with_fuel(mut self, fuel: u64) -> Self {
        self.fuel = fuel;
        self
    }

    /// Adds an id to the inputs, as two integers.
    #[must_use]
    pub fn with_id(mut self, id: AlkaneId) -> Self {
        self.inputs.push(id.block);
        self.inputs.push(id.tx);
        self
    }

    /// Target and inputs in binary form.
    pub fn cellpack(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(32 + 16 * self.inputs.len());
        bytes.extend_from_slice(&self.target.to_bytes());
        for input in &self.inputs {
            bytes.extend_from_slice(&input.to_le_bytes());
        }
        bytes
    }
}
