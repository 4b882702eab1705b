//! The command line of exports.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use paraffin_primitives::AlkaneId;

use crate::rows_file::{DatasetName, ExportRequest};

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    #[command(subcommand)]
    command: ExportCommand,
}

/// What can be exported.
#[derive(Debug, Subcommand)]
enum ExportCommand {
    /// Trades with pools, in the order of the chain
    Swaps {
        #[command(flatten)]
        blocks: BlockArguments,
        #[command(flatten)]
        pools: PoolArguments,
        #[command(flatten)]
        target: TargetArguments,
    },
    /// Candles of pools, the oldest first
    Candles {
        /// Width of a candle
        #[arg(long, default_value = "1h", value_parser = ["10m", "1h", "1d", "1w", "1M"], value_name = "WIDTH")]
        bucket: String,
        #[command(flatten)]
        blocks: BlockArguments,
        #[command(flatten)]
        pools: PoolArguments,
        #[command(flatten)]
        target: TargetArguments,
    },
    /// Alkanes that moved, in the order of the chain
    Transfers {
        #[command(flatten)]
        blocks: BlockArguments,
        /// This alkane alone, block:tx
        #[arg(long, value_name = "ID")]
        token: Option<AlkaneId>,
        #[command(flatten)]
        target: TargetArguments,
    },
    /// Who holds how much of which alkane at the end of a block
    Balances {
        /// The block; the newest when absent
        #[arg(long, value_name = "HEIGHT")]
        height: Option<u32>,
        /// This alkane alone, block:tx
        #[arg(long, value_name = "ID")]
        token: Option<AlkaneId>,
        #[command(flatten)]
        target: TargetArguments,
    },
}

/// Of which blocks.
#[derive(Debug, Args)]
struct BlockArguments {
    /// First block; candles begin with the bucket of its time
    #[arg(long, default_value_t = 0, value_name = "HEIGHT")]
    from: u32,
    /// Last block, as of whose end everything is; the newest when absent
    #[arg(long, value_name = "HEIGHT")]
    to: Option<u32>,
}

/// Of which pools.
#[derive(Debug, Args)]
struct PoolArguments {
    /// This pool alone, block:tx
    #[arg(long, value_name = "ID")]
    pool: Option<AlkaneId>,
    /// Pools with this alkane alone, block:tx
    #[arg(long, value_name = "ID")]
    token: Option<AlkaneId>,
}

/// Where to, and from where.
#[derive(Debug, Args)]
struct TargetArguments {
    /// File to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Replace the file if it is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    source: SourceArguments,
}

/// Which instance.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(super) struct SourceArguments {
    /// Configuration file of an instance, which may run
    #[arg(long, value_name = "FILE", env = "PARAFFIN_CONFIG")]
    pub(super) config: Option<PathBuf>,
    /// Data folder of an instance that runs; then no configuration is read
    #[arg(long, value_name = "DIR")]
    pub(super) data_dir: Option<PathBuf>,
}

impl ExportArguments {
    /// The request, and whom it goes to.
    pub(super) fn request(self) -> (ExportRequest, SourceArguments) {
        let (dataset, bucket, blocks, pools, target) = match self.command {
            ExportCommand::Swaps { blocks, pools, target } => (DatasetName::Swaps, None, blocks, pools, target),
            ExportCommand::Candles { bucket, blocks, pools, target } => {
                (DatasetName::Candles, Some(bucket), blocks, pools, target)
            }
            ExportCommand::Transfers { blocks, token, target } => {
                (DatasetName::Transfers, None, blocks, PoolArguments { pool: None, token }, target)
            }
            ExportCommand::Balances { height, token, target } => {
                let blocks = BlockArguments { from: 0, to: height };
                (DatasetName::Balances, None, blocks, PoolArguments { pool: None, token }, target)
            }
        };
        let TargetArguments { out, force, source } = target;
        let text = |id: Option<AlkaneId>| id.map(|id| id.to_string());
        let (pool, token) = (text(pools.pool), text(pools.token));
        let request =
            ExportRequest { dataset, bucket, from: blocks.from, to: blocks.to, pool, token, file: out, force };
        (request, source)
    }
}
