//! Calls of pool contracts and their answers, word by word (Solidity ABI: words of 32 bytes, big-endian).
//!
//! The reader is strict: an answer of another length, a value outside its type or a list that is not at the offset where Solidity
//! puts it is refused, so that an answer to another call is never read as a price.

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use ruint::aliases::U256;

use crate::address::EvmAddress;

/// Bytes of a word.
const WORD: usize = 32;
/// Most decimals of a token that prices are computed for.
pub(crate) const DECIMALS_MAX: u8 = 36;
/// Ticks of a pool are from minus this to this.
pub(crate) const TICK_MAX: i32 = 887_272;
/// Least square root of a price in a pool, times 2^96: that of the lowest tick.
const SQRT_PRICE_MIN: u64 = 4_295_128_739;

/// First four bytes of the hash of a function's signature.
pub(crate) type Selector = [u8; 4];
/// `slot0()`.
pub(crate) const SLOT0: Selector = [0x38, 0x50, 0xc7, 0xbd];
/// `observe(uint32[])`.
pub(crate) const OBSERVE: Selector = [0x88, 0x3b, 0xdb, 0xfd];
/// `token0()`.
pub(crate) const TOKEN0: Selector = [0x0d, 0xfe, 0x16, 0x81];
/// `token1()`.
pub(crate) const TOKEN1: Selector = [0xd2, 0x12, 0x20, 0xa7];
/// `decimals()`.
pub(crate) const DECIMALS: Selector = [0x31, 0x3c, 0xe5, 0x67];
/// `liquidity()`.
pub(crate) const LIQUIDITY: Selector = [0x1a, 0x68, 0x65, 0x02];
/// `getReserves()`.
pub(crate) const GET_RESERVES: Selector = [0x09, 0x02, 0xf1, 0xac];
/// `fee()`.
pub(crate) const FEE: Selector = [0xdd, 0xca, 0x3f, 0x43];
/// `feeGrowthGlobal0X128()`.
pub(crate) const FEE_GROWTH_0: Selector = [0xf3, 0x05, 0x83, 0x99];
/// `feeGrowthGlobal1X128()`.
pub(crate) const FEE_GROWTH_1: Selector = [0x46, 0x14, 0x13, 0x19];

/// An answer is not of the shape that the function has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AbiError {
    /// There is no code at the address, or the function is not there.
    #[error("the answer is empty: there is no such contract or function at that block")]
    Empty,
    /// Not `0x` and pairs of hex digits.
    #[error("the answer is not hex")]
    NotHex,
    /// Too few or too many words.
    #[error("the answer has {len} bytes instead of {expected}")]
    Length {
        /// Bytes given.
        len: usize,
        /// Bytes of the function's answer.
        expected: usize,
    },
    /// A value does not fit its type or its range.
    #[error("{0} is outside its range")]
    Range(&'static str),
    /// A list is not at its canonical offset.
    #[error("a list of the answer is not at its offset")]
    Layout,
}

/// What `slot0()` returns about a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot0 {
    /// Square root of token1 for one base unit of token0, times 2^96.
    pub(crate) sqrt_price: U256,
    /// Logarithm of the price to the base 1.0001, rounded down.
    pub(crate) tick: i32,
    /// The protocol's share of the fees: a sixteenth for each token, one part in so many; other pools use more bits.
    pub(crate) fee_protocol: u32,
}

/// The bytes of a `0x` text.
///
/// # Errors
/// It is not that.
pub(crate) fn data(text: &str) -> Result<Vec<u8>, AbiError> {
    let digits = text.strip_prefix("0x").ok_or(AbiError::NotHex)?;
    HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).map_err(|_| AbiError::NotHex)
}

/// `0x` and the digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    format!("0x{}", HEXLOWER.encode(bytes))
}

/// The call `observe([seconds_ago, 0])`.
pub(crate) fn observe_call(seconds_ago: u32) -> Vec<u8> {
    let mut call = OBSERVE.to_vec();
    for word in [32, 2, u64::from(seconds_ago), 0] {
        call.extend_from_slice(&U256::from(word).to_be_bytes::<WORD>());
    }
    call
}

/// The words of an answer that has exactly `N`.
fn words<const N: usize>(answer: &[u8]) -> Result<[U256; N], AbiError> {
    if answer.is_empty() {
        return Err(AbiError::Empty);
    }
    if answer.len() != N * WORD {
        return Err(AbiError::Length { len: answer.len(), expected: N * WORD });
    }
    let mut words = [U256::ZERO; N];
    for (word, bytes) in words.iter_mut().zip(answer.chunks_exact(WORD)) {
        *word = U256::from_be_slice(bytes);
    }
    Ok(words)
}

/// An unsigned value below 2^`bits`.
fn unsigned(word: U256, bits: usize, name: &'static str) -> Result<U256, AbiError> {
    if word.bit_len() > bits { Err(AbiError::Range(name)) } else { Ok(word) }
}

/// A signed value of `bits` bits, at most 64: the bits above them must repeat the sign.
fn signed(word: U256, bits: usize, name: &'static str) -> Result<i64, AbiError> {
    let is_negative = word.bit(255);
    let magnitude = if is_negative { !word } else { word };
    if magnitude.bit_len() >= bits {
        return Err(AbiError::Range(name));
    }
    let magnitude = i64::try_from(magnitude).map_err(|_| AbiError::Range(name))?;
    Ok(if is_negative { -magnitude - 1 } else { magnitude })
}

fn flag(word: U256, name: &'static str) -> Result<bool, AbiError> {
    if word > U256::from(1) { Err(AbiError::Range(name)) } else { Ok(!word.is_zero()) }
}

/// The answer of `slot0()`: `(uint160, int24, uint16, uint16, uint16, uint8 or uint32, bool)`.
///
/// # Errors
/// It has another shape, or the price or the tick is outside the range of pools.
pub(crate) fn slot0(answer: &[u8]) -> Result<Slot0, AbiError> {
    let [sqrt_price, tick, index, cardinality, next, fee_protocol, unlocked] = words(answer)?;
    let sqrt_price = unsigned(sqrt_price, 160, "sqrtPriceX96")?;
    if sqrt_price < U256::from(SQRT_PRICE_MIN) {
        return Err(AbiError::Range("sqrtPriceX96"));
    }
    let tick = signed(tick, 24, "tick")?;
    let tick = i32::try_from(tick).ok().filter(|tick| tick.abs() <= TICK_MAX).ok_or(AbiError::Range("tick"))?;
    for (word, name) in
        [(index, "observationIndex"), (cardinality, "observationCardinality"), (next, "observationCardinalityNext")]
    {
        unsigned(word, 16, name)?;
    }
    flag(unlocked, "unlocked")?;
    let fee_protocol = unsigned(fee_protocol, 32, "feeProtocol")?;
    Ok(Slot0 { sqrt_price, tick, fee_protocol: u32::try_from(fee_protocol).unwrap_or(u32::MAX) })
}

/// The two sums of ticks of `observe([seconds_ago, 0])`: `(int56[], uint160[])` with two members each.
///
/// # Errors
/// It has another shape.
pub(crate) fn observe(answer: &[u8]) -> Result<[i64; 2], AbiError> {
    let [ticks_at, seconds_at, ticks_len, first, second, seconds_len, liquidity_first, liquidity_second] =
        words(answer)?;
    let expected = [(ticks_at, 2 * WORD), (seconds_at, 5 * WORD), (ticks_len, 2), (seconds_len, 2)];
    if expected.iter().any(|(word, value)| *word != U256::from(*value)) {
        return Err(AbiError::Layout);
    }
    for word in [liquidity_first, liquidity_second] {
        unsigned(word, 160, "secondsPerLiquidityCumulativeX128")?;
    }
    Ok([signed(first, 56, "tickCumulative")?, signed(second, 56, "tickCumulative")?])
}

/// The answer of `getReserves()`: `(uint112, uint112, uint32)`.
///
/// # Errors
/// It has another shape.
pub(crate) fn reserves(answer: &[u8]) -> Result<[u128; 2], AbiError> {
    let [first, second, time] = words(answer)?;
    unsigned(time, 32, "blockTimestampLast")?;
    let reserve = |word| {
        let reserve = unsigned(word, 112, "a reserve")?;
        u128::try_from(reserve).map_err(|_| AbiError::Range("a reserve"))
    };
    Ok([reserve(first)?, reserve(second)?])
}

/// An address, of `token0()` and `token1()`.
///
/// # Errors
/// It has another shape.
pub(crate) fn address(answer: &[u8]) -> Result<EvmAddress, AbiError> {
    let [word] = words(answer)?;
    let bytes = unsigned(word, 160, "an address")?.to_be_bytes::<WORD>();
    let mut address = [0; 20];
    address.copy_from_slice(&bytes[12..]);
    Ok(EvmAddress(address))
}

/// The answer of `decimals()`, at most 36.
///
/// # Errors
/// It has another shape or is larger.
pub(crate) fn decimals(answer: &[u8]) -> Result<u8, AbiError> {
    let [word] = words(answer)?;
    u8::try_from(word).ok().filter(|decimals| *decimals <= DECIMALS_MAX).ok_or(AbiError::Range("decimals"))
}

/// The answer of `liquidity()`, a `uint128`.
///
/// # Errors
/// It has another shape.
pub(crate) fn liquidity(answer: &[u8]) -> Result<u128, AbiError> {
    let [word] = words(answer)?;
    u128::try_from(word).map_err(|_| AbiError::Range("liquidity"))
}

/// The answer of `fee()` in parts of a million, below a million.
///
/// # Errors
/// It has another shape or is larger.
pub(crate) fn fee(answer: &[u8]) -> Result<u32, AbiError> {
    let [word] = words(answer)?;
    u32::try_from(word).ok().filter(|fee| *fee < 1_000_000).ok_or(AbiError::Range("fee"))
}

/// A whole word.
///
/// # Errors
/// It has another shape.
pub(crate) fn word(answer: &[u8]) -> Result<U256, AbiError> {
    let [word] = words(answer)?;
    Ok(word)
}

#[cfg(test)]
#[path = "abi/tests.rs"]
mod tests;
