//! Analytics, over the devnet's market. Expected values are computed from blocks, balances and traces, never from the index of
//! markets.

mod candles;
mod described;
mod essentials;
mod hostile;
mod markets;
mod paths;
mod prices;
mod scene;
mod storage;
