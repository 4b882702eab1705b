//! The command line of `paraffin tx`.

use std::path::PathBuf;
use std::str::FromStr;

use bitcoin::OutPoint;
use clap::{Args, Subcommand, ValueEnum};
use paraffin_primitives::{AlkaneId, Amount, parse_outpoint};
use paraffin_wallet::FeeRate;

use crate::command_line::EndpointArguments;

/// Arguments of `tx`.
#[derive(Debug, Args)]
pub(crate) struct TxArguments {
    /// What to do.
    #[command(subcommand)]
    pub command: TxCommand,
}

/// What `tx` does.
#[derive(Debug, Subcommand)]
pub(crate) enum TxCommand {
    /// Deploy a contract: a commit and a reveal transaction
    Deploy(DeployArguments),
    /// Call a contract
    Execute(ExecuteArguments),
    /// Mint a token: operation 77 unless --inputs says otherwise
    Mint(MintArguments),
    /// Wrap bitcoin into the token 32:0
    Wrap(WrapArguments),
    /// Unwrap the token 32:0 into bitcoin
    Unwrap(UnwrapArguments),
    /// Send bitcoin, alkanes, or both
    Send(SendArguments),
}

impl TxCommand {
    /// Options of all commands.
    pub(crate) const fn common(&self) -> &CommonArguments {
        match self {
            Self::Deploy(arguments) => &arguments.common,
            Self::Execute(arguments) => &arguments.common,
            Self::Mint(arguments) => &arguments.common,
            Self::Wrap(arguments) => &arguments.common,
            Self::Unwrap(arguments) => &arguments.common,
            Self::Send(arguments) => &arguments.common,
        }
    }
}

/// Arguments of every command of `tx`.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // switches of the command line, each of which stands for itself
pub(crate) struct CommonArguments {
    #[command(flatten)]
    pub endpoint: EndpointArguments,
    /// File with the private key (WIF), on regtest; else the environment variable `PARAFFIN_WIF`. Never on the command
    /// line, where other users and the shell's history see it
    #[arg(long, value_name = "FILE", conflicts_with = "address")]
    pub wif_file: Option<PathBuf>,
    /// Which address of the key is used
    #[arg(long, value_enum, default_value = "taproot", conflicts_with = "address")]
    pub kind: KindName,
    /// Address whose coins are spent; prints a PSBT for its owner to sign
    #[arg(long, value_name = "ADDR")]
    pub address: Option<String>,
    /// Write the PSBT to this file, too (FILE.reveal for the second one of a deployment)
    #[arg(long, value_name = "FILE", requires = "address")]
    pub psbt_file: Option<PathBuf>,
    /// Satoshis per virtual byte; the instance's estimate when absent
    #[arg(long, value_name = "RATE")]
    pub fee_rate: Option<FeeRate>,
    /// Accept a fee above 100,000 satoshis and a tenth of what moves
    #[arg(long)]
    pub allow_high_fee: bool,
    /// Spend this coin, whatever it carries; may be given several times
    #[arg(long, value_name = "TXID:VOUT", value_parser = outpoint)]
    pub coin: Vec<OutPoint>,
    /// Treat coins above 1,000 satoshis whose content the instance does not report as plain bitcoin
    #[arg(long)]
    pub assume_plain: bool,
    /// Do not run the message through the instance before signing
    #[arg(long)]
    pub no_simulate: bool,
    /// Send even what would revert
    #[arg(long)]
    pub force: bool,
    /// Show what would be done and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    pub yes: bool,
    /// After sending, wait for the block and show what the contract did
    #[arg(long)]
    pub wait: bool,
    /// Print one JSON object on standard output, everything else on standard error
    #[arg(long)]
    pub json: bool,
}

/// The addresses of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindName {
    /// Pay to taproot, key path (BIP86)
    Taproot,
    /// Pay to witness public key hash (BIP84)
    Witness,
}

/// Arguments of `tx deploy`.
#[derive(Debug, Args)]
pub(crate) struct DeployArguments {
    /// The contract: a WebAssembly module, packed with gzip or not
    #[arg(value_name = "WASM")]
    pub file: PathBuf,
    /// Ask for the id 4:N instead of the next 2:N
    #[arg(long, value_name = "N")]
    pub reserved: Option<u128>,
    /// Inputs of the first call: integers, 0x… or block:tx, separated by commas
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    pub init: Vec<Inputs>,
    /// Alkanes that the first call brings; may be given several times
    #[arg(long, value_name = "ID=AMOUNT")]
    pub incoming: Vec<AlkaneAmount>,
    /// Untweaked key of a taproot --address, which a deployment by PSBT needs
    #[arg(long, value_name = "HEX", requires = "address")]
    pub public_key: Option<String>,
    /// Reveal a commit that was sent before, with the same file, inputs and key
    #[arg(long, value_name = "TXID:VOUT", value_parser = outpoint)]
    pub resume: Option<OutPoint>,
    /// Take the satoshis of a commit back instead of revealing it, with the same file and key
    #[arg(long, value_name = "TXID:VOUT", value_parser = outpoint, conflicts_with = "resume")]
    pub recover: Option<OutPoint>,
    #[command(flatten)]
    pub common: CommonArguments,
}

/// Arguments of `tx execute`.
#[derive(Debug, Args)]
pub(crate) struct ExecuteArguments {
    /// The contract, as block:tx
    pub target: AlkaneId,
    /// Inputs: integers, 0x… or block:tx, separated by commas; the first is the operation
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    pub inputs: Vec<Inputs>,
    /// Alkanes that the call brings; may be given several times
    #[arg(long, value_name = "ID=AMOUNT")]
    pub incoming: Vec<AlkaneAmount>,
    /// Pay this many satoshis to an address in the same transaction; may be given several times
    #[arg(long, value_name = "ADDR=SATS")]
    pub pay: Vec<String>,
    /// Who receives the results; the owner when absent
    #[arg(long, value_name = "ADDR")]
    pub to: Option<String>,
    #[command(flatten)]
    pub common: CommonArguments,
}

/// Arguments of `tx mint`.
#[derive(Debug, Args)]
pub(crate) struct MintArguments {
    /// The token, as block:tx
    pub token: AlkaneId,
    /// Inputs instead of the operation 77
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_value = "77")]
    pub inputs: Vec<Inputs>,
    /// Who receives the token; the owner when absent
    #[arg(long, value_name = "ADDR")]
    pub to: Option<String>,
    #[command(flatten)]
    pub common: CommonArguments,
}

/// Arguments of `tx wrap`.
#[derive(Debug, Args)]
pub(crate) struct WrapArguments {
    /// Satoshis
    pub sats: u64,
    /// Who receives the token; the owner when absent
    #[arg(long, value_name = "ADDR")]
    pub to: Option<String>,
    /// Address of the signer; asked of the contract when absent
    #[arg(long, value_name = "ADDR")]
    pub signer: Option<String>,
    #[command(flatten)]
    pub common: CommonArguments,
}

/// Arguments of `tx unwrap`.
#[derive(Debug, Args)]
pub(crate) struct UnwrapArguments {
    /// Base units of the token 32:0, one for each satoshi
    pub amount: u128,
    /// Whom the signer pays; the owner when absent
    #[arg(long, value_name = "ADDR")]
    pub to: Option<String>,
    /// Address of the signer; asked of the contract when absent
    #[arg(long, value_name = "ADDR")]
    pub signer: Option<String>,
    #[command(flatten)]
    pub common: CommonArguments,
}

/// Arguments of `tx send`.
#[derive(Debug, Args)]
pub(crate) struct SendArguments {
    /// Who receives it
    pub to: String,
    /// What: satoshis (`50000`) or alkanes (`2:0=1000`); alkanes alone travel on 546 satoshis
    #[arg(required = true, value_name = "SATS|ID=AMOUNT")]
    pub amounts: Vec<Sent>,
    #[command(flatten)]
    pub common: CommonArguments,
}

/// An alkane and how much of it, written `2:0=1000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AlkaneAmount {
    pub id: AlkaneId,
    pub amount: Amount,
}

impl FromStr for AlkaneAmount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = || "alkanes are written ID=AMOUNT, for example 2:0=1000".to_owned();
        let (id, amount) = text.split_once('=').ok_or_else(form)?;
        let id = id.parse::<AlkaneId>().map_err(|error| error.to_string())?;
        let amount = amount.parse::<Amount>().map_err(|error| error.to_string())?;
        if amount.0 == 0 {
            return Err("an amount of 0 moves nothing".to_owned());
        }
        Ok(Self { id, amount })
    }
}

/// What `tx send` sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    Sats(u64),
    Alkane(AlkaneAmount),
}

impl FromStr for Sent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains('=') {
            return text.parse().map(Self::Alkane);
        }
        let is_integer = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse::<u64>() {
            Ok(sats @ 1..) if is_integer => Ok(Self::Sats(sats)),
            _ => Err("satoshis are written as a whole number (50000), alkanes as ID=AMOUNT (2:0=1000)".to_owned()),
        }
    }
}

/// One argument of a call: a decimal or hexadecimal integer, or an id, which is two integers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inputs(pub Vec<u128>);

impl FromStr for Inputs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(AlkaneId { block, tx }) = text.parse::<AlkaneId>() {
            return Ok(Self(vec![block, tx]));
        }
        let integer = match text.strip_prefix("0x") {
            Some(digits) if !digits.starts_with('+') => u128::from_str_radix(digits, 16).ok(),
            Some(_) => None,
            None => text.parse::<Amount>().ok().map(|amount| amount.0),
        };
        integer.map(|integer| Self(vec![integer])).ok_or_else(|| {
            format!("`{text}` is no input: use integers of up to 128 bits (77, 0x4d) or ids (2:0, two integers)")
        })
    }
}

fn outpoint(text: &str) -> Result<OutPoint, String> {
    parse_outpoint(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// row CL01
    #[test]
    fn inputs_are_integers_or_ids() {
        for (text, integers) in [("77", vec![77]), ("0x4d", vec![77]), ("4:65522", vec![4, 65522]), ("0", vec![0])] {
            assert_eq!(text.parse(), Ok(Inputs(integers)), "{text}");
        }
        for text in ["", "-1", "+1", "0x", "0x+1", "1.0", "2:", "340282366920938463463374607431768211456"] {
            assert!(text.parse::<Inputs>().is_err(), "{text}");
        }
    }

    #[test]
    fn satoshis_are_distinguished_from_alkanes() {
        assert_eq!("50000".parse(), Ok(Sent::Sats(50_000)));
        let id = AlkaneId { block: 2, tx: 0 };
        assert_eq!("2:0=7".parse(), Ok(Sent::Alkane(AlkaneAmount { id, amount: Amount(7) })));
        for text in ["0", "2:0", "2:0=0", "2:0=", "=5", "-5", "+5", "5.0", "18446744073709551616"] {
            assert!(text.parse::<Sent>().is_err(), "{text}");
        }
    }
}
