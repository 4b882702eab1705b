//! The contracts on the EVM chain.

use alloy_primitives::{Address, address};

/// A stablecoin that the vault takes. Both have 6 decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asset {
    /// Vault asset 0.
    Usdc,
    /// Vault asset 1.
    Usdt,
}

/// A vault asset that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no vault asset: 0 is usdc, 1 is usdt")]
pub struct UnknownAsset(pub String);

impl Asset {
    /// Both assets, in the order of their indexes.
    pub const ALL: [Asset; 2] = [Asset::Usdc, Asset::Usdt];

    /// The index by which the vault and a burn name it.
    #[must_use]
    pub fn index(self) -> u8 {
        match self {
            Asset::Usdc => 0,
            Asset::Usdt => 1,
        }
    }

    /// The asset with this index.
    ///
    /// # Errors
    /// [`UnknownAsset`] for anything but 0 and 1.
    pub fn from_index(index: u128) -> Result<Self, UnknownAsset> {
        match index {
            0 => Ok(Asset::Usdc),
            1 => Ok(Asset::Usdt),
            _ => Err(UnknownAsset(index.to_string())),
        }
    }

    /// `usdc` or `usdt`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Asset::Usdc => "usdc",
            Asset::Usdt => "usdt",
        }
    }
}

impl std::str::FromStr for Asset {
    type Err = UnknownAsset;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let asset = Asset::ALL.into_iter().find(|asset| text.eq_ignore_ascii_case(asset.name()));
        asset.ok_or_else(|| UnknownAsset(text.chars().take(32).collect()))
    }
}

/// Where the contracts of the bridge are. Another deployment of the same contracts is another value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvmDeployment {
    /// The vault that takes deposits (a proxy).
    pub vault: Address,
    /// The stablecoins by vault asset index.
    pub stablecoins: [Address; 2],
    /// The wrapped native token, the end of a swap's path.
    pub wrapped_native: Address,
    /// The router on the allow-list of burns.
    pub router: Address,
}

impl EvmDeployment {
    /// The contracts on Ethereum mainnet. Compare them with the operator's announcement before a first deposit.
    pub const MAINNET: EvmDeployment = EvmDeployment {
        vault: address!("95779e7e1c943042255b8a78273fe6de4823cf06"),
        stablecoins: [
            address!("a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"),
            address!("dac17f958d2ee523a2206206994597c13d831ec7"),
        ],
        wrapped_native: address!("c02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"),
        router: address!("7a250d5630b4cf539739df2c5dacb4c659f2488d"),
    };

    /// The contract of a stablecoin.
    #[must_use]
    pub fn token(&self, asset: Asset) -> Address {
        self.stablecoins[usize::from(asset.index())]
    }

    /// The stablecoin with this contract.
    #[must_use]
    pub fn asset_of(&self, token: Address) -> Option<Asset> {
        Asset::ALL.into_iter().find(|asset| self.token(*asset) == token)
    }
}
