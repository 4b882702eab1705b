//! Families answered by servers of the operator.

pub(crate) mod hostile;
/// The programs that the ordinals index is compared with.
#[allow(dead_code, unreachable_pub, reason = "written for the tests of that crate, which use more of it")]
#[path = "../../../../ordinals-index/tests/ordinals/node.rs"]
mod node;
mod opi;
mod ord;
mod ord_server;
mod peer;
pub(crate) mod upstream;

use paraffin_gateway::Families;
use paraffin_ordinals_index::{OPI_SERVER, ORD_SERVER};

use crate::instance::{Instance, Setup};

/// An instance without an index of inscriptions that uses these servers.
async fn asking(families: Families) -> Instance {
    Instance::with(Setup { families, ..Setup::default() }).await
}

fn ord_at(url: &str) -> Families {
    vec![(ORD_SERVER, url.parse().unwrap())]
}

fn opi_at(url: &str) -> Families {
    vec![(OPI_SERVER, url.parse().unwrap())]
}
