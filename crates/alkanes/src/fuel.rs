/// The fuel of one block, shared by the size of transactions (protocol B12).
#[derive(Debug, Clone, Default)]
pub struct FuelTank {}
