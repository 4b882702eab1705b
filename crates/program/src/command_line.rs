//! The command line, described once for the parser and for `--help`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use paraffin_primitives::Network;

use crate::bridge::BridgeArguments;
use crate::export::ExportArguments;
use crate::tx::{AlkaneAmount, TxArguments};

/// A complete Bitcoin and alkanes data platform in one program.
#[derive(Debug, Parser)]
#[command(name = "paraffin", about, arg_required_else_help = true)]
pub(crate) struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The command line of a program of this version.
pub(crate) fn described(version: &'static str) -> clap::Command {
    CommandLine::command().version(version)
}

/// Reads the arguments of this process. Help, the version and an error end it.
pub(crate) fn read(version: &'static str) -> CommandLine {
    let mut command = described(version);
    let mut matches = command.get_matches_mut();
    match CommandLine::from_arg_matches_mut(&mut matches) {
        Ok(line) => line,
        Err(error) => error.format(&mut command).exit(),
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the whole platform on its own regtest chain, for development
    Dev(DevArguments),
    /// Follow a Bitcoin node and serve the API
    Serve(ConfigArguments),
    /// Follow a Bitcoin node and index only
    Index(IndexArguments),
    /// Create, list, revoke and replace API keys
    Keys(KeysArguments),
    /// Let the owner of an instance into the console again
    Account(ConsoleAccountArguments),
    /// Index raw blocks from files and print the digest of each
    Replay(ReplayArguments),
    /// Run one module of the index again, or all of it
    Reindex(ReindexArguments),
    /// Write the index into one file, or start from such a file
    Snapshot(SnapshotArguments),
    /// Write swaps, candles, transfers or balances into a Parquet file
    Export(ExportArguments),
    /// Check the configuration, the node, the disk and the store, and say what is wrong
    Doctor(ConfigArguments),
    /// Look into an indexer program of a network's operator
    Hosted(HostedArguments),
    /// Compare two running instances and find the first block in which they differ
    Diff(DiffArguments),
    /// Call a method or a route of a running instance
    Call(CallArguments),
    /// Write, read and judge payloads of the bridge
    Bridge(BridgeArguments),
    /// Deploy and call contracts, send bitcoin and alkanes
    Tx(Box<TxArguments>),
    /// Print the completions of a shell
    Completions {
        /// Which
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man {
        /// Folder to which the page of every command is written instead
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// Run scripts for a server that writes to standard input
    #[command(name = crate::scripts::WORKER_COMMAND, hide = true)]
    LuaWorker {
        /// What to try, instead of running scripts
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Rebuild one contract; the server starts it
    #[command(name = paraffin_verify::WORKER_SUBCOMMAND, hide = true)]
    VerifyWorker,
    /// Look at one call of a compiler or linker and become it; a build starts it
    #[command(name = paraffin_verify::TOOL_SUBCOMMAND, hide = true, disable_help_flag = true)]
    VerifyTool {
        /// What is called, and how
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Shut one build in; the worker starts it
    #[command(name = paraffin_verify::CONFINE_SUBCOMMAND, hide = true, disable_help_flag = true)]
    VerifyConfine {
        /// What to run, and where
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

/// Arguments of `dev`.
#[derive(Debug, Args)]
pub(crate) struct DevArguments {
    /// Folder for the chain, the index and dev.json; a temporary one that is removed at the end when absent
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Address of the API
    #[arg(long, default_value = "127.0.0.1:8787", value_name = "ADDR")]
    pub listen: SocketAddr,
    /// Address at which GET /metrics answers; nowhere when absent
    #[arg(long, value_name = "ADDR")]
    pub metrics_listen: Option<SocketAddr>,
    /// Seed of the accounts and of the traffic; the same seed gives the same chain
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Blocks of the scenario
    #[arg(long, default_value_t = 160, value_parser = clap::value_parser!(u32).range(110..=100_000))]
    pub blocks: u32,
    /// Seconds between blocks; 0 mines only when asked
    #[arg(long, default_value_t = 0)]
    pub interval: u64,
    /// Start anew even when the folder holds a chain
    #[arg(long)]
    pub fresh: bool,
    /// Configuration file of which the section `[verify]` is taken
    #[arg(long, value_name = "FILE")]
    pub verify_config: Option<PathBuf>,
}

/// Arguments of commands that read the configuration.
#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    /// Configuration file
    #[arg(long, value_name = "FILE", env = "PARAFFIN_CONFIG")]
    pub config: PathBuf,
}

/// Arguments of `index`.
#[derive(Debug, Args)]
pub(crate) struct IndexArguments {
    #[command(flatten)]
    pub config: ConfigArguments,
    /// Stop when the index equals the node's chain, and print its digests as one line of JSON
    #[arg(long)]
    pub once: bool,
}

/// Arguments of `reindex`.
#[derive(Debug, Args)]
pub(crate) struct ReindexArguments {
    /// Module, for example `bitcoin`; `all` removes the index and builds it anew
    pub module: String,
    /// First height to run again
    #[arg(long, default_value_t = 0, value_name = "HEIGHT")]
    pub from: u32,
    #[command(flatten)]
    pub config: ConfigArguments,
}

/// Arguments of `snapshot`.
#[derive(Debug, Args)]
pub(crate) struct SnapshotArguments {
    #[command(subcommand)]
    pub command: SnapshotCommand,
}

/// The commands of `snapshot`.
#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// Write the index into a new file; a running instance writes it and goes on meanwhile
    Export {
        #[command(flatten)]
        config: ConfigArguments,
        /// Most KiB written in one second, to leave the disk to the instance
        #[arg(long, value_name = "KIB", value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
        rate: Option<u64>,
        /// File to write
        #[arg(value_name = "OUT")]
        file: PathBuf,
    },
    /// Make the index from a file, in a data folder that has none
    Import {
        #[command(flatten)]
        config: ConfigArguments,
        /// File to read
        #[arg(value_name = "IN")]
        file: PathBuf,
    },
}

/// Arguments of `hosted`.
#[derive(Debug, Args)]
pub(crate) struct HostedArguments {
    #[command(subcommand)]
    pub command: HostedCommand,
}

/// The commands of `hosted`.
#[derive(Debug, Subcommand)]
pub(crate) enum HostedCommand {
    /// Write the built-in contracts that a program holds into a folder, each checked by its digest
    ExtractBuiltins {
        /// Network whose built-in contracts are looked for
        #[arg(long, default_value = "mainnet", value_name = "NETWORK")]
        network: Network,
        /// The indexer program
        #[arg(value_name = "FILE")]
        program: PathBuf,
        /// Folder to write to, for `[alkanes] builtins_folder`
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// What `replay` can run blocks through beside the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplayEngine {
    /// Our own engine of contracts.
    Native,
    /// An indexer program.
    Hosted,
}

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// Files of raw blocks: one block each, or many, every one preceded by its length (4 bytes, little-endian)
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    pub blocks: Vec<PathBuf>,
    /// Chain the blocks belong to
    #[arg(long, default_value = "mainnet", value_name = "NETWORK")]
    pub network: Network,
    /// Print one line per block: height, hash, digest, cumulative digest (an engine always prints its own digests)
    #[arg(long)]
    pub digest: bool,
    /// Run the blocks through an engine instead: one line per block with height, hash and digest of what it did
    #[arg(long, value_enum, value_name = "ENGINE")]
    pub engine: Option<ReplayEngine>,
    /// The indexer program: it is run, or with `--engine native` its built-in contracts are
    #[arg(long, value_name = "FILE")]
    pub alkanes_wasm: Option<PathBuf>,
    /// Folder for the index; a temporary one when absent
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
}

/// Arguments of `keys`.
#[derive(Debug, Args)]
pub(crate) struct KeysArguments {
    #[command(subcommand)]
    pub command: KeysCommand,
}

/// Where the accounts are.
#[derive(Debug, Args)]
pub(crate) struct AccountsArguments {
    /// Folder of the instance
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    pub data_dir: Option<PathBuf>,
    /// Configuration file of the instance
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Arguments of `account`.
#[derive(Debug, Args)]
pub(crate) struct ConsoleAccountArguments {
    #[command(subcommand)]
    pub command: ConsoleAccountCommand,
}

/// The commands of `account`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConsoleAccountCommand {
    /// Print a link that gives an owner a new password and removes the second factor
    ResetOwner {
        #[command(flatten)]
        accounts: AccountsArguments,
    },
    /// Write accounts, keys and users into a new file, also while the instance runs
    Backup {
        /// The file, which must not exist
        file: PathBuf,
        #[command(flatten)]
        accounts: AccountsArguments,
    },
    /// Put a backup in the place of the accounts of a stopped instance
    Restore {
        /// The backup
        file: PathBuf,
        /// Where there are accounts: keep them beside, as accounts.sqlite.before-TIME, and put the backup in their place
        #[arg(long)]
        replace: bool,
        #[command(flatten)]
        accounts: AccountsArguments,
    },
}

/// A number of days, with or without a `d` after it.
fn days(text: &str) -> Result<u32, String> {
    let days = text.strip_suffix('d').unwrap_or(text).parse().ok();
    let is_possible = |days: &u32| (1..=paraffin_access::KEY_LIFE_DAYS_MAX).contains(days);
    days.filter(is_possible)
        .ok_or_else(|| format!("a number of days from 1 to {}, such as 30d", paraffin_access::KEY_LIFE_DAYS_MAX))
}

/// The commands of `keys`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Create a key; it is shown once
    Create {
        /// Descriptive name
        name: String,
        /// Plan of the new account that the key gets: free, pro, business, or one of the configuration
        #[arg(long, default_value = "free")]
        plan: String,
        /// Id of an account that exists, instead of a new one
        #[arg(long, value_name = "ID", conflicts_with = "plan")]
        account: Option<i64>,
        /// Allow admin operations
        #[arg(long)]
        admin: bool,
        /// Allow to manage the keys of the account through the API
        #[arg(long)]
        management: bool,
        /// Days after which the key expires, such as 30d
        #[arg(long, value_name = "DAYS", value_parser = days)]
        expires: Option<u32>,
        #[command(flatten)]
        limits: LimitArguments,
        #[command(flatten)]
        accounts: AccountsArguments,
    },
    /// List the keys: name, first characters, plan, use
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        accounts: AccountsArguments,
    },
    /// Revoke a key at once
    Revoke {
        /// Id of the key, as `keys list` shows it
        id: String,
        #[command(flatten)]
        accounts: AccountsArguments,
    },
    /// Replace a key by a new one with the same settings
    Reroll {
        /// Id of the key, as `keys list` shows it
        id: String,
        /// Seconds during which the old key still works
        #[arg(long, default_value_t = 0)]
        grace_seconds: u64,
        #[command(flatten)]
        accounts: AccountsArguments,
    },
    /// Accounts, which have a plan, keys, aliases and origins
    #[command(subcommand)]
    Account(AccountCommand),
    /// Aliases, which stand in the path instead of a key
    #[command(subcommand)]
    Alias(AliasCommand),
    /// Origins, whose pages call without a key
    #[command(subcommand)]
    Origin(OriginCommand),
    /// Print who changed what, the newest line first
    Audit {
        /// Lines
        #[arg(long, default_value_t = 50)]
        limit: u32,
        #[command(flatten)]
        accounts: AccountsArguments,
    },
}

/// Limits of one key or alias, within those of its plan.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct LimitArguments {
    /// Requests in one minute, within the plan's
    #[arg(long, value_name = "N")]
    pub per_minute: Option<u32>,
    /// Requests in one day (UTC), within the plan's
    #[arg(long, value_name = "N")]
    pub per_day: Option<u32>,
}

/// The commands of `keys account`.
#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Create an account without keys
    Create {
        /// Descriptive name
        name: String,
        /// Plan: free, pro, business, or one of the configuration
        #[arg(long, default_value = "free")]
        plan: String,
        #[command(flatten)]
        accounts: AccountsArguments,
    },
    /// List the accounts
    List {
        #[command(flatten)]
        accounts: AccountsArguments,
    },
    /// Put an account on another plan
    Plan {
        /// Id of the account
        id: i64,
        /// Name of the plan
        plan: String,
        #[command(flatten)]
        accounts: AccountsArguments,
    },
}

/// The commands of `keys alias`.
#[derive(Debug, Subcommand)]
pub(crate) enum AliasCommand {
    /// Create an alias: `/v4/NAME` then counts for an account
    Create {
        /// 3 to 32 of a-z, 0-9 and -
        name: String,
        /// Id of the account
        #[arg(long, value_name = "ID")]
        account: i64,
        /// Surfaces that it may be used for, separated by commas
        #[arg(long, value_delimiter = ',', default_value = "main,rest,opi", value_name = "NAMES")]
        surfaces: Vec<String>,
        #[command(flatten)]
        limits: LimitArguments,
        #[command(flatten)]
        accounts: AccountsArguments,
    },
    /// List the aliases
    List {
        #[command(flatten)]
        accounts: AccountsArguments,
    },
    /// Remove an alias at once
    Remove {
        /// Its name
        name: String,
        #[command(flatten)]
        accounts: AccountsArguments,
    },
}

/// The commands of `keys origin`.
#[derive(Debug, Subcommand)]
pub(crate) enum OriginCommand {
    /// Register an origin: its pages then call /v4/api without a key
    Add {
        /// `https://app.example.com`, `https://*.example.com` or `http://localhost:3000`
        origin: String,
        /// Id of the account
        #[arg(long, value_name = "ID")]
        account: i64,
        /// Serve it without proof that the domain is the account's
        #[arg(long)]
        trust: bool,
        #[command(flatten)]
        accounts: AccountsArguments,
    },
    /// Look for the proof of ownership and serve the origin when it is there
    Verify {
        /// Id of the origin, as `keys origin list` shows it
        id: i64,
        #[command(flatten)]
        accounts: AccountsArguments,
    },
    /// List the origins, and what is still to be proved
    List {
        #[command(flatten)]
        accounts: AccountsArguments,
    },
    /// Remove an origin at once
    Remove {
        /// Id of the origin
        id: i64,
        #[command(flatten)]
        accounts: AccountsArguments,
    },
}

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// Base address of one instance, for example `http://10.0.0.1:8787`
    pub a: String,
    /// Base address of the other
    pub b: String,
    /// API key for A; without one the shared, slower endpoint is used
    #[arg(long, value_name = "KEY", env = "PARAFFIN_API_KEY_A", hide_env_values = true)]
    pub key_a: Option<String>,
    /// API key for B
    #[arg(long, value_name = "KEY", env = "PARAFFIN_API_KEY_B", hide_env_values = true)]
    pub key_b: Option<String>,
    /// First height to compare
    #[arg(long, default_value_t = 0, value_name = "HEIGHT")]
    pub from: u32,
    /// Last height to compare; the lower tip when absent
    #[arg(long, value_name = "HEIGHT")]
    pub to: Option<u32>,
    /// Print the outcome as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `call`.
#[derive(Debug, Args)]
pub(crate) struct CallArguments {
    /// JSON-RPC method such as `btc_getblockcount`, REST route such as `get-address-balance`, a surface (`espo`, `mempool`, `forex`)
    /// before one of its methods, `simulate`, `btcusd`, or `help`, which lists the methods of the instance
    pub method: String,
    /// Parameters: JSON values or plain text for a method (`5`, `2:0`, `'{"a":1}'`), `name=value` for a route or a method of a surface,
    /// for `simulate` the contract and its inputs (`2:0 99`), and for `btcusd` what a trade would pay (`quote 32:0 1000000`)
    pub parameters: Vec<String>,
    /// Alkanes that a simulated call brings, as ID=AMOUNT (with `simulate`)
    #[arg(long, value_name = "ID=AMOUNT")]
    pub incoming: Vec<AlkaneAmount>,
    /// Print the answer as JSON (with `simulate` and `btcusd`)
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub endpoint: EndpointArguments,
}

/// Which instance is asked, and on whose account.
#[derive(Debug, Args)]
pub(crate) struct EndpointArguments {
    /// Base address of the instance
    #[arg(long, env = "PARAFFIN_URL", default_value = "http://127.0.0.1:8787")]
    pub url: String,
    /// API key; without one the shared, slower endpoint is used
    #[arg(long, env = "PARAFFIN_API_KEY", hide_env_values = true)]
    pub key: Option<String>,
}
