//! The command line of `paraffin bridge` (docs/bridge.md).

use clap::{Args, Subcommand, ValueEnum};
use paraffin_bridge::{EvmAddress, U256};

/// Arguments of `bridge`.
#[derive(Debug, Args)]
pub(crate) struct BridgeArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: BridgeCommand,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// What `bridge` does.
#[derive(Debug, Subcommand)]
pub(crate) enum BridgeCommand {
    /// Write a payload, or say why it would lose money
    #[command(subcommand)]
    Encode(EncodeCommand),
    /// Read a payload and say what it does
    #[command(subcommand)]
    Decode(DecodeCommand),
    /// Judge a script, a payload or a conversion before signing
    #[command(subcommand)]
    Check(CheckCommand),
}

/// Payloads to encode.
#[derive(Debug, Subcommand)]
pub(crate) enum EncodeCommand {
    /// bridgeData of a deposit
    Deposit(DepositArguments),
    /// The approve and depositAndBridge calls of a deposit
    DepositCalls(DepositCallsArguments),
    /// burnData: nothing for a plain payout, or the swap on the allow-list
    BurnData(BurnDataArguments),
    /// The cellpack of a burn of the USD token
    Burn(BurnArguments),
}

/// A deposit.
#[derive(Debug, Args)]
pub(crate) struct DepositArguments {
    /// Who receives the USD token: a mainnet address, or the script in hexadecimal
    #[arg(long, value_name = "ADDR|HEX")]
    pub recipient: String,
    /// Protostone that acts on the minted tokens; excludes a conversion
    #[arg(long, value_name = "HEX", conflicts_with_all = ["convert_bps", "btc_destination"])]
    pub protostone: Option<String>,
    /// Share to convert into BTC, in basis points (0 to 10000)
    #[arg(long, value_name = "N")]
    pub convert_bps: Option<u32>,
    /// Who receives the BTC: a mainnet address, or the script in hexadecimal
    #[arg(long, value_name = "ADDR|HEX")]
    pub btc_destination: Option<String>,
    /// Largest slippage in basis points; can only tighten the coordinator's own bound
    #[arg(long, value_name = "N", requires = "btc_destination")]
    pub max_slippage_bps: Option<u32>,
    /// USD reserve of the pool in base units (8 decimals): checks the conversion cap, together with --amount
    #[arg(long, value_name = "N", requires = "amount")]
    pub reserve: Option<U256>,
    /// The deposit in base units of the stablecoin (6 decimals), for the conversion cap
    #[arg(long, value_name = "N", requires = "reserve")]
    pub amount: Option<U256>,
}

/// The two calls of a deposit.
#[derive(Debug, Args)]
pub(crate) struct DepositCallsArguments {
    /// The stablecoin
    #[arg(long, value_enum)]
    pub asset: AssetName,
    /// The deposit in base units (6 decimals)
    #[arg(long, value_name = "N")]
    pub amount: U256,
    /// What `encode deposit` printed
    #[arg(long, value_name = "HEX")]
    pub bridge_data: String,
}

/// burnData. Without arguments a plain payout.
#[derive(Debug, Args)]
pub(crate) struct BurnDataArguments {
    /// The stablecoin that is sold
    #[arg(long, value_enum, requires = "amount_in")]
    pub asset: Option<AssetName>,
    /// How much is sold, in base units (6 decimals); the coordinator replaces it by the real payout
    #[arg(long, value_name = "N", requires_all = ["amount_out_min", "to", "deadline"])]
    pub amount_in: Option<U256>,
    /// The least of the native coin, in base units (18 decimals)
    #[arg(long, value_name = "N", requires = "amount_in")]
    pub amount_out_min: Option<U256>,
    /// Who receives the native coin
    #[arg(long, value_name = "0x…", requires = "amount_in")]
    pub to: Option<EvmAddress>,
    /// Unix seconds after which the swap fails
    #[arg(long, value_name = "N", requires = "amount_in")]
    pub deadline: Option<U256>,
    /// Accept an --amount-out-min of 0, that is any loss
    #[arg(long)]
    pub allow_zero_min: bool,
}

/// A burn.
#[derive(Debug, Args)]
pub(crate) struct BurnArguments {
    /// Who is paid on the EVM chain
    #[arg(long, value_name = "0x…")]
    pub evm_address: EvmAddress,
    /// In which stablecoin
    #[arg(long, value_enum)]
    pub asset: AssetName,
    /// What `encode burn-data` printed
    #[arg(long, value_name = "HEX", default_value = "")]
    pub burn_data: String,
}

/// Payloads to decode.
#[derive(Debug, Subcommand)]
pub(crate) enum DecodeCommand {
    /// The payload of a deposit
    BridgeData(Hexadecimal),
    /// The payload of a burn
    BurnData(Hexadecimal),
    /// Calldata of approve, depositAndBridge or swapExactTokensForETH
    Calldata(Hexadecimal),
}

/// Bytes.
#[derive(Debug, Args)]
pub(crate) struct Hexadecimal {
    /// Bytes in hexadecimal, with or without 0x
    #[arg(value_name = "HEX")]
    pub bytes: String,
}

/// Scripts to check.
#[derive(Debug, Subcommand)]
pub(crate) enum CheckCommand {
    /// A script in its role
    Script {
        /// A mainnet address, or the script in hexadecimal
        #[arg(value_name = "HEX|ADDR")]
        script: String,
        /// What the script is for
        #[arg(long, value_enum)]
        role: RoleName,
    },
    /// The payload of a deposit
    BridgeData(Hexadecimal),
    /// A conversion beside the cap of a tenth of the pool's USD reserve
    Cap {
        /// USD reserve of the pool in base units (8 decimals)
        #[arg(long, value_name = "N")]
        reserve: U256,
        /// The deposit in base units of the stablecoin (6 decimals)
        #[arg(long, value_name = "N")]
        amount: U256,
        /// Share to convert, in basis points
        #[arg(long, value_name = "N")]
        convert_bps: u32,
    },
}

/// A stablecoin by name.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum AssetName {
    /// Asset 0
    Usdc,
    /// Asset 1
    Usdt,
}

/// The role of a script.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum RoleName {
    /// Receives the USD token
    Recipient,
    /// Receives the BTC
    Destination,
}
