//! The methods and their parameters.

use bitcoin::Address;
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_ordinals_index::reader::{InscriptionQuery, OutputKind, RuneQuery};
use schemars::JsonSchema;
use serde::Deserialize;

use super::ask;
use super::params::{BlockQuery, ListIndex, OutPointText, Page, PageOrEmpty, Parsed, SatText, height};
use super::question::Question;
use super::shapes::{Id, Inscription, InscriptionsPage, OrdOutput, Rune};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::methods::{
    Declared, Form, Hash, HexText, Method, NaturalText, Object, Surface, Text, TxidText, Written,
};
use paraffin_gateway::state::RequestContext;

/// The methods `ord_*`.
pub static ORD: Surface<()> = Surface::new("ord", METHODS);

const OF_ID: &str = r#"["6fb976ab49dcec017f1e201e84395983204ae1a7c2abf7ced0a85d692e442799i0"]"#;
const OF_TX: &str = r#"["6fb976ab49dcec017f1e201e84395983204ae1a7c2abf7ced0a85d692e442799"]"#;
const OF_ADDRESS: &str = r#"["bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"]"#;

fn read_address(context: &RequestContext, address: &Text) -> Result<Address, ApiError> {
    context.network().parse_address(&address.0).map_err(ApiError::invalid)
}

/// Declares methods: `Parameters = name, example -> shape of the answer { parameters } => question;`
macro_rules! methods {
    (|$params:ident, $context:ident| $(
        #[doc = $text:literal]
        $method:ident = $name:literal, $example:expr => $answer:ty { $($fields:tt)* } => $question:expr;
    )*) => {
        const METHODS: &[Declared<()>] = &[$(Declared::of::<$method>()),*];
        $(
            #[doc = $text]
            #[derive(Deserialize, JsonSchema)]
            struct $method { $($fields)* }

            impl Method for $method {
                const NAME: &'static str = $name;
                const FORM: Form = if stringify!($($fields)*).is_empty() { Form::Nothing } else { Form::Positional };
                const EXAMPLE: &'static str = $example;
                type Surface = ();
                type Answer = Written<$answer>;

                async fn call(self, $context: &RequestContext, (): &()) -> Result<Self::Answer, ApiError> {
                    let $params = self;
                    let _ = &$params;
                    ask($context, $question).await.map(Written::raw)
                }
            }
        )*
    };
}

methods! {
    |params, context|

    /// Number of indexed blocks, including the genesis block.
    BlockCount = "blockcount", "[]" => u32 {} => Question::BlockCount;

    /// Height of the newest indexed block.
    BlockHeight = "blockheight", "[]" => u32 {} => Question::BlockHeight;

    /// Hash of a block.
    BlockHashAt = "blockhash", "[140]" => Hash {
        /// Its height; the newest when absent.
        height: Option<NaturalText>,
    } => Question::BlockHash(params.height.map(height));

    /// Time of the newest indexed block in Unix seconds.
    BlockTime = "blocktime", "[]" => u32 {} => Question::BlockTime;

    /// A block with its transactions, inscriptions and runes.
    BlockOf = "block", "[140]" => Object {
        /// Its height or hash.
        block: Parsed<BlockQuery>,
    } => Question::Block(params.block.0);

    /// The newest hundred blocks, with inscriptions of the newest five.
    Blocks = "blocks", "[]" => Object {} => Question::Blocks;

    /// An inscription.
    InscriptionOf = "inscription", OF_ID => Inscription {
        /// Its id, its number, or the name of its sat.
        inscription: Parsed<InscriptionQuery>,
        /// Index of a child, which is answered instead.
        child: Option<NaturalText>,
    } => Question::Inscription(params.inscription.0, params.child.map(|child| child.0));

    /// A page of a hundred inscriptions, newest first.
    Inscriptions = "inscriptions", "[0]" => InscriptionsPage {
        /// Page number, from 0; 0 when absent or empty.
        page: Option<PageOrEmpty>,
    } => Question::Inscriptions(params.page.unwrap_or_default().0);

    /// Inscriptions of a block.
    InscriptionsOfBlock = "inscriptions::block", "[140,0]" => InscriptionsPage {
        /// Height of the block.
        height: NaturalText,
        /// Page number, from 0; 0 when absent.
        page: Option<Page>,
    } => Question::InscriptionsOfBlock(height(params.height), params.page.unwrap_or_default().0);

    /// Children of an inscription.
    Children = "children", OF_ID => Object {
        /// Id of the inscription.
        id: Parsed<InscriptionId>,
        /// Page number, from 0; 0 when absent.
        page: Option<Page>,
    } => Question::Children(params.id.0, params.page.unwrap_or_default().0);

    /// Parents of an inscription.
    Parents = "parents", OF_ID => Object {
        /// Id of the inscription.
        id: Parsed<InscriptionId>,
        /// Page number, from 0; 0 when absent.
        page: Option<Page>,
    } => Question::Parents(params.id.0, params.page.unwrap_or_default().0);

    /// Content of an inscription in base64, its delegate's where it has one.
    Content = "content", OF_ID => String {
        /// Id of the inscription.
        id: Parsed<InscriptionId>,
    } => Question::Content(params.id.0);

    /// Metadata of an inscription: CBOR in hexadecimal digits.
    Metadata = "metadata", OF_ID => HexText {
        /// Id of the inscription.
        id: Parsed<InscriptionId>,
    } => Question::Metadata(params.id.0);

    /// A rune.
    RuneOf = "rune", r#"["840000:1"]"# => Rune {
        /// Its name, with spacers or without, its id, or its number.
        rune: Parsed<RuneQuery>,
    } => Question::Rune(params.rune.0);

    /// A page of fifty runes, newest first.
    Runes = "runes", "[0]" => Object {
        /// Page number, from 0; 0 when absent.
        page: Option<Page>,
    } => Question::Runes(params.page.unwrap_or_default().0);

    /// A sat.
    SatOf = "sat", r#"["nvtdijuwxlp"]"# => Object {
        /// Its number, name, decimal, degree or percentile.
        sat: Parsed<SatText>,
    } => Question::Sat(params.sat.0.0);

    /// Inscriptions on a sat, oldest first.
    InscriptionsOnSat = "r:sat", "[0,0]" => Object {
        /// The number of the sat.
        number: NaturalText,
        /// Page number, from 0; 0 when absent.
        page: Option<Page>,
    } => Question::InscriptionsOnSat(params.number.0, params.page.unwrap_or_default().0);

    /// One inscription on a sat; null where there is none.
    InscriptionOnSat = "r:sat::at", "[0,-1]" => Object {
        /// Its number, name, decimal, degree or percentile.
        sat: Parsed<SatText>,
        /// 0 is the oldest, -1 the newest.
        place: Parsed<ListIndex>,
    } => Question::InscriptionOnSat(params.sat.0.0, params.place.0.0);

    /// An output with its inscriptions and runes.
    OutputOf = "output", r#"["6fb976ab49dcec017f1e201e84395983204ae1a7c2abf7ced0a85d692e442799:0"]"# => OrdOutput {
        /// txid:vout.
        outpoint: Parsed<OutPointText>,
    } => Question::Output(params.outpoint.0.0);

    /// Unspent outputs of an address.
    Outputs = "outputs", OF_ADDRESS => Vec<OrdOutput> {
        /// An address of this instance's network.
        address: Text,
        /// any, cardinal, inscribed or runic; any when absent.
        kind: Option<Parsed<OutputKind>>,
    } => Question::Outputs(
        read_address(context, &params.address)?,
        params.kind.map_or(OutputKind::Any, |kind| kind.0),
    );

    /// Balance, outputs, inscriptions and runes of an address.
    AddressOf = "address", OF_ADDRESS => Object {
        /// An address of this instance's network.
        address: Text,
    } => Question::Address(read_address(context, &params.address)?);

    /// Inscriptions that an address holds.
    AddressInscriptions = "address::inscriptions", OF_ADDRESS => Vec<Id> {
        /// An address of this instance's network.
        address: Text,
    } => Question::AddressInscriptions(read_address(context, &params.address)?);

    /// A transaction, with the rune that it etched and the number of inscriptions that it revealed.
    TransactionOf = "tx", OF_TX => Object {
        /// Its id.
        #[schemars(with = "Hash")]
        txid: TxidText,
    } => Question::Transaction(params.txid.0);
}
