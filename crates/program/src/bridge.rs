//! `paraffin bridge`: payloads of the bridge, written, read and judged without a network.

mod arguments;

use std::process::ExitCode;

use bitcoin::hex::FromHex as _;
use paraffin_bridge::report::{self, Report};
use paraffin_bridge::{
    Asset, BridgeData, BurnCellpack, BurnData, Calldata, ConversionCap, Deposit, EvmDeployment, Role, RouterSwap,
    ZeroMinimum, deposit_calls, script_of_text,
};
use serde_json::json;

pub(crate) use self::arguments::BridgeArguments;
use self::arguments::{
    AssetName, BridgeCommand, BurnArguments, BurnDataArguments, CheckCommand, DecodeCommand, DepositArguments,
    EncodeCommand, RoleName,
};

/// Code when a payload, a script or a conversion is refused (docs/bridge.md).
const REFUSED: u8 = 2;

/// The deployment that payloads are made for; there is one.
const DEPLOYMENT: &EvmDeployment = &EvmDeployment::MAINNET;

/// Why a report could not be made; shown like any other refusal.
type Refusal = Box<dyn std::error::Error>;

/// Prints the report and answers the process's exit code.
pub(crate) fn run(arguments: &BridgeArguments) -> ExitCode {
    let report = make_report(&arguments.command).unwrap_or_else(|refusal| refused(&refusal.to_string()));
    if arguments.json {
        println!("{:#}", report.json);
    } else {
        for line in &report.lines {
            println!("{line}");
        }
    }
    if report.accepted { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) }
}

fn make_report(command: &BridgeCommand) -> Result<Report, Refusal> {
    match command {
        BridgeCommand::Encode(EncodeCommand::Deposit(deposit)) => encode_deposit(deposit),
        BridgeCommand::Encode(EncodeCommand::DepositCalls(calls)) => {
            let data = hexadecimal(&calls.bridge_data)?;
            Ok(report::deposit_calls(&deposit_calls(DEPLOYMENT, asset(calls.asset), calls.amount, &data)?))
        }
        BridgeCommand::Encode(EncodeCommand::BurnData(arguments)) => encode_burn_data(arguments),
        BridgeCommand::Encode(EncodeCommand::Burn(arguments)) => encode_burn(arguments),
        BridgeCommand::Decode(DecodeCommand::BridgeData(bytes))
        | BridgeCommand::Check(CheckCommand::BridgeData(bytes)) => {
            Ok(match BridgeData::decode(&hexadecimal(&bytes.bytes)?) {
                Ok(decoded) => report::bridge_data(&decoded),
                Err(refusal) => report::refusal(&refusal),
            })
        }
        BridgeCommand::Decode(DecodeCommand::BurnData(bytes)) => {
            Ok(report::burn_data(&BurnData::decode(&hexadecimal(&bytes.bytes)?), DEPLOYMENT))
        }
        BridgeCommand::Decode(DecodeCommand::Calldata(bytes)) => {
            Ok(report::calldata(&Calldata::decode(&hexadecimal(&bytes.bytes)?)?, DEPLOYMENT))
        }
        BridgeCommand::Check(CheckCommand::Script { script, role }) => {
            let role = match role {
                RoleName::Recipient => Role::Recipient,
                RoleName::Destination => Role::Destination,
            };
            Ok(report::script(&script_of_text(script)?, role))
        }
        BridgeCommand::Check(CheckCommand::Cap { reserve, amount, convert_bps }) => {
            Ok(report::cap(&ConversionCap { reserve: *reserve, amount: *amount }, *convert_bps))
        }
    }
}

fn encode_deposit(arguments: &DepositArguments) -> Result<Report, Refusal> {
    let mut deposit = Deposit::direct(script_of_text(&arguments.recipient)?);
    if let Some(protostone) = &arguments.protostone {
        deposit = deposit.with_protostone(hexadecimal(protostone)?);
    }
    let convert_bps = arguments.convert_bps.unwrap_or(0);
    if arguments.convert_bps.is_some() || arguments.btc_destination.is_some() {
        let destination = arguments.btc_destination.as_deref().map_or(Ok(Vec::new()), script_of_text)?;
        deposit = deposit.with_conversion(convert_bps, destination, arguments.max_slippage_bps.unwrap_or(0));
    }
    if let (Some(reserve), Some(amount)) = (arguments.reserve, arguments.amount) {
        ConversionCap { reserve, amount }.check(convert_bps)?;
    }
    Ok(report::encoded("bridge_data", &deposit.bridge_data()?.encode()?))
}

fn encode_burn_data(arguments: &BurnDataArguments) -> Result<Report, Refusal> {
    let (Some(amount_in), Some(amount_out_min), Some(to), Some(deadline)) =
        (arguments.amount_in, arguments.amount_out_min, arguments.to, arguments.deadline)
    else {
        return Ok(report::encoded("burn_data", &BurnData::Transfer.encode()));
    };
    let minimum = if arguments.allow_zero_min { ZeroMinimum::Allow } else { ZeroMinimum::Refuse };
    let asset = asset(arguments.asset.unwrap_or(AssetName::Usdc));
    let swap = RouterSwap { amount_in, amount_out_min, asset, to, deadline };
    let data = BurnData::swap(&swap, DEPLOYMENT, minimum).map_err(|refusal| {
        let advice = if amount_out_min.is_zero() { " (--allow-zero-min accepts it)" } else { "" };
        format!("{refusal}{advice}")
    })?;
    Ok(report::encoded("burn_data", &data.encode()))
}

fn encode_burn(arguments: &BurnArguments) -> Result<Report, Refusal> {
    let burn = BurnCellpack {
        evm_address: arguments.evm_address,
        asset: asset(arguments.asset),
        burn_data: hexadecimal(&arguments.burn_data)?,
    };
    Ok(report::burn(&burn, DEPLOYMENT)?)
}

/// Report about a payload that could not be decoded or encoded.
fn refused(reason: &str) -> Report {
    Report {
        accepted: false,
        json: json!({ "refusals": [reason], "accepted": false }),
        lines: vec![format!("refused: {reason}")],
    }
}

const fn asset(name: AssetName) -> Asset {
    match name {
        AssetName::Usdc => Asset::Usdc,
        AssetName::Usdt => Asset::Usdt,
    }
}

fn hexadecimal(text: &str) -> Result<Vec<u8>, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    Vec::from_hex(digits).map_err(|error| format!("the bytes are not hexadecimal: {error}"))
}
