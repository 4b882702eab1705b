//! Rules by which the engine and the released indexer program once parted, on a chain in which each of them is used. The program's
//! answers are recorded in `answers.txt`; where the program is at hand, they are compared again.
#![allow(clippy::unwrap_used, missing_docs)]

mod chain;
mod odd;
#[path = "../support/mod.rs"]
mod support;

use std::sync::Arc;

use bitcoin::hex::DisplayHex as _;
use bitcoin::{OutPoint, Script, Txid};
use paraffin_alkanes::views::{self, PlacedOutput, ViewChain, ViewContext, ViewError, ViewLimits};
use paraffin_alkanes::{AlkanesModule, Builtins, ChainState, CodeCache, NativeEngine, Parameters};
use paraffin_primitives::{ConnectedBlock, Height, Network};

use chain::{Chain, Question};
use support::Index;

/// The signer's key of wrapped bitcoin, of our own contract and of the released one.
const OWN_SIGNER: &str = "971c2b4ad911ce5754adc623104d0f65f4b51a1a96972071c926c98bc298c142";
#[cfg(feature = "machine")]
const RELEASED_SIGNER: &str = "7940ef3b659179a1371dec05793cb027cde47806fb66ce1e3d1b69d56de629dc";

/// The recorded answers of the released program, a line for each request.
const ANSWERS: &str = include_str!("answers.txt");

fn line(question: &Question, answer: &[u8]) -> String {
    format!("{} = {}\n", question.name, answer.to_lower_hex_string())
}

/// The answers of the native engine to all requests.
fn native_answers(chain: &Chain, index: &Index, builtins: &Arc<Builtins>) -> Vec<Vec<u8>> {
    let (parameters, codes) = (Parameters::of(Network::Regtest), Arc::new(CodeCache::default()));
    let ask = |question: &Question| {
        let state = ChainState::at(&index.store.snapshot(), question.height);
        let context = ViewContext {
            parameters: &parameters,
            builtins,
            codes: &codes,
            height: question.height,
            state: &state,
            chain: &Blocks(&chain.blocks[..=question.height as usize]),
            block: None,
            limits: &ViewLimits::default(),
            is_over: &|| false,
        };
        views::call(question.view, &question.payload, &context).unwrap()
    };
    chain.questions.iter().map(ask).collect()
}

fn recorded(chain: &Chain, answers: &[Vec<u8>]) -> String {
    let recorded = chain.questions.iter().zip(answers).filter(|(question, _)| question.is_recorded);
    recorded.map(|(question, answer)| line(question, answer)).collect()
}

#[test]
fn the_native_engine_answers_what_the_released_program_answers() {
    let builtins = Arc::new(paraffin_devnet::market::builtins());
    let chain = Chain::new(OWN_SIGNER);
    let engine = NativeEngine::new(Network::Regtest, Arc::clone(&builtins), Arc::default());
    let mut index = Index::of(|_| vec![Box::new(AlkanesModule::new(Box::new(engine), Network::Regtest))]);
    index.follow(&chain.blocks).unwrap();
    let answers = native_answers(&chain, &index, &builtins);
    for (answered, expected) in recorded(&chain, &answers).lines().zip(ANSWERS.lines()) {
        assert_eq!(answered, expected);
    }
    assert_eq!(recorded(&chain, &answers), ANSWERS);
}

/// The program itself: a difference in what a block does halts, and every answer is compared.
#[cfg(feature = "machine")]
#[test]
fn both_engines_do_and_answer_the_same() {
    use paraffin_hosted::{HostedViews, OnDifference, Serves};
    let Some(path) = paraffin_testkit::reference_program("alkanes-2.2.1-regtest.wasm") else { return };
    let bytes = std::fs::read(path).unwrap();
    let parameters = Parameters::of(Network::Regtest);
    let builtins = Arc::new(Builtins::from_operator_wasm(&parameters, &bytes).unwrap());
    let program = paraffin_hosted::load(&bytes).unwrap();
    let chain = Chain::new(RELEASED_SIGNER);
    let native = NativeEngine::new(Network::Regtest, Arc::clone(&builtins), Arc::default());
    let (mut index, differences) =
        Index::shadowed_beside(native, Arc::clone(&program), Serves::Native, OnDifference::Report);
    index.follow(&chain.blocks).unwrap();
    let (snapshot, views) = (index.store.snapshot(), HostedViews::new(program, paraffin_hosted::ViewLimits::default()));
    let ask = |question: &Question| {
        views.view(&snapshot, question.height, question.view, &question.payload, &|| false).unwrap()
    };
    let answers: Vec<Vec<u8>> = chain.questions.iter().map(ask).collect();
    let text = recorded(&chain, &answers);
    assert!(text == ANSWERS, "answers.txt is not what the program answers:\n{text}");
    assert_eq!((differences.count(), differences.last()), (0, None));
    let native = native_answers(&chain, &index, &builtins);
    for (question, (native, program)) in chain.questions.iter().zip(native.iter().zip(&answers)) {
        assert_eq!(line(question, native), line(question, program));
    }
}

/// The chain, as plainly as it can be read.
struct Blocks<'a>(&'a [ConnectedBlock]);

impl ViewChain for Blocks<'_> {
    fn output(&self, outpoint: &OutPoint) -> Result<Option<PlacedOutput>, ViewError> {
        let placed = |txid: &Txid| {
            self.0.iter().find_map(|block| Some((block, block.txids.iter().position(|other| other == txid)?)))
        };
        let Some((block, index)) = placed(&outpoint.txid) else { return Ok(None) };
        let output = block.block.txdata[index].output.get(outpoint.vout as usize).cloned();
        let height: Height = block.id.height;
        Ok(output.map(|output| PlacedOutput { output, height, index: u32::try_from(index).unwrap() }))
    }

    fn unspent(&self, _: &Script) -> Result<Vec<OutPoint>, ViewError> {
        unreachable!("no question is about an address")
    }

    fn is_unspent(&self, _: &OutPoint) -> Result<bool, ViewError> {
        unreachable!("no question is about payments")
    }
}
