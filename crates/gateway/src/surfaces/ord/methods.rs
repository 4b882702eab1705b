//! The methods: what is asked, and its parameters.

use bitcoin::Address;
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_ordinals_index::reader::{InscriptionQuery, OutputKind, RuneQuery};
use schemars::JsonSchema;
use serde::Deserialize;

use super::ask;
use super::params::{BlockQuery, OutPointText, Page, PageOrEmpty, Parsed, Place, SatText, height};
use super::question::Question;
use super::shapes::{Id, Inscription, InscriptionsPage, OrdOutput, Rune};
use crate::errors::ApiError;
use crate::methods::{Declared, Form, Hash, HexText, Method, NaturalText, Object, Surface, Text, TxidText, Written};
use crate::state::RequestContext;

pub(in crate::surfaces) static ORD: Surface<()> = Surface::new("ord", METHODS);

const OF_ID: &str = r#"["6fb976ab49dcec017f1e201e84395983204ae1a7c2abf7ced0a85d692e442799i0"]"#;
const OF_TX: &str = r#"["6fb976ab49dcec017f1e201e84395983204ae1a7c2abf7ced0a85d692e442799"]"#;
const OF_ADDRESS: &str = r#"["bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"]"#;

fn read_address(context: &RequestContext, address: &Text) -> Result<Address, ApiError> {
    context.network().parse_address(&address.0).map_err(ApiError::invalid)
}

/// Methods that are questions: `Parameters = name, example -> shape of the answer { parameters } => question;`
macro_rules! methods {
    (|$asked:ident, $context:ident| $(
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
                    let $asked = self;
                    let _ = &$asked;
                    ask($context, $question).await.map(Written::raw)
                }
            }
        )*
    };
}

methods! {
    |asked, context|

    /// Number of indexed blocks, the genesis block counted.
    BlockCount = "blockcount", "[]" => u32 {} => Question::BlockCount;

    /// Height of the newest indexed block.
    BlockHeight = "blockheight", "[]" => u32 {} => Question::BlockHeight;

    /// Hash of a block.
    BlockHashAt = "blockhash", "[140]" => Hash {
        /// Its height; the newest when absent.
        height: Option<NaturalText>,
    } => Question::BlockHash(asked.height.map(height));

    /// Time of the newest indexed block in Unix seconds.
    BlockTime = "blocktime", "[]" => u32 {} => Question::BlockTime;

    /// A block with its transactions, inscriptions and runes.
    BlockOf = "block", "[140]" => Object {
        /// Its height or hash.
        block: Parsed<BlockQuery>,
    } => Question::Block(asked.block.0);

    /// The newest hundred blocks, with inscriptions of the newest five.
    Blocks = "blocks", "[]" => Object {} => Question::Blocks;

    /// An inscription.
    InscriptionOf = "inscription", OF_ID => Inscription {
        /// Its id, its number, or the name of its sat.
        inscription: Parsed<InscriptionQuery>,
        /// The place of a child of it, which is answered then.
        child: Option<NaturalText>,
    } => Question::Inscription(asked.inscription.0, asked.child.map(|child| child.0));

    /// A page of a hundred inscriptions, newest first.
    Inscriptions = "inscriptions", "[0]" => InscriptionsPage {
        /// Counted from 0, which it is when absent or empty.
        page: Option<PageOrEmpty>,
    } => Question::Inscriptions(asked.page.unwrap_or_default().0);

    /// Inscriptions of a block.
    InscriptionsOfBlock = "inscriptions::block", "[140,0]" => InscriptionsPage {
        /// Which block.
        height: NaturalText,
        /// Counted from 0, which it is when absent.
        page: Option<Page>,
    } => Question::InscriptionsOfBlock(height(asked.height), asked.page.unwrap_or_default().0);

    /// Children of an inscription.
    Children = "children", OF_ID => Object {
        /// Which inscription.
        id: Parsed<InscriptionId>,
        /// Counted from 0, which it is when absent.
        page: Option<Page>,
    } => Question::Children(asked.id.0, asked.page.unwrap_or_default().0);

    /// Parents of an inscription.
    Parents = "parents", OF_ID => Object {
        /// Which inscription.
        id: Parsed<InscriptionId>,
        /// Counted from 0, which it is when absent.
        page: Option<Page>,
    } => Question::Parents(asked.id.0, asked.page.unwrap_or_default().0);

    /// Content of an inscription in base64, its delegate's where it has one.
    Content = "content", OF_ID => String {
        /// Which inscription.
        id: Parsed<InscriptionId>,
    } => Question::Content(asked.id.0);

    /// Metadata of an inscription: CBOR in hexadecimal digits.
    Metadata = "metadata", OF_ID => HexText {
        /// Which inscription.
        id: Parsed<InscriptionId>,
    } => Question::Metadata(asked.id.0);

    /// A rune.
    RuneOf = "rune", r#"["840000:1"]"# => Rune {
        /// Its name, with spacers or without, its id, or its number.
        rune: Parsed<RuneQuery>,
    } => Question::Rune(asked.rune.0);

    /// A page of fifty runes, newest first.
    Runes = "runes", "[0]" => Object {
        /// Counted from 0, which it is when absent.
        page: Option<Page>,
    } => Question::Runes(asked.page.unwrap_or_default().0);

    /// A sat.
    SatOf = "sat", r#"["nvtdijuwxlp"]"# => Object {
        /// Its number, name, decimal, degree or percentile.
        sat: Parsed<SatText>,
    } => Question::Sat(asked.sat.0.0);

    /// Inscriptions on a sat, oldest first.
    InscriptionsOnSat = "r:sat", "[0,0]" => Object {
        /// The number of the sat.
        number: NaturalText,
        /// Counted from 0, which it is when absent.
        page: Option<Page>,
    } => Question::InscriptionsOnSat(asked.number.0, asked.page.unwrap_or_default().0);

    /// One inscription on a sat; null where there is none.
    InscriptionOnSat = "r:sat::at", "[0,-1]" => Object {
        /// Its number, name, decimal, degree or percentile.
        sat: Parsed<SatText>,
        /// 0 is the oldest, -1 the newest.
        place: Parsed<Place>,
    } => Question::InscriptionOnSat(asked.sat.0.0, asked.place.0.0);

    /// An output with its inscriptions and runes.
    OutputOf = "output", r#"["6fb976ab49dcec017f1e201e84395983204ae1a7c2abf7ced0a85d692e442799:0"]"# => OrdOutput {
        /// txid:vout.
        outpoint: Parsed<OutPointText>,
    } => Question::Output(asked.outpoint.0.0);

    /// Unspent outputs of an address.
    Outputs = "outputs", OF_ADDRESS => Vec<OrdOutput> {
        /// An address of this instance's network.
        address: Text,
        /// any, cardinal, inscribed or runic; any when absent.
        kind: Option<Parsed<OutputKind>>,
    } => Question::Outputs(
        read_address(context, &asked.address)?,
        asked.kind.map_or(OutputKind::Any, |kind| kind.0),
    );

    /// Everything that an address holds.
    AddressOf = "address", OF_ADDRESS => Object {
        /// An address of this instance's network.
        address: Text,
    } => Question::Address(read_address(context, &asked.address)?);

    /// Inscriptions that an address holds.
    AddressInscriptions = "address::inscriptions", OF_ADDRESS => Vec<Id> {
        /// An address of this instance's network.
        address: Text,
    } => Question::AddressInscriptions(read_address(context, &asked.address)?);

    /// A transaction, what it etched and how much it revealed.
    TransactionOf = "tx", OF_TX => Object {
        /// Its id.
        #[schemars(with = "Hash")]
        txid: TxidText,
    } => Question::Transaction(asked.txid.0);
}
