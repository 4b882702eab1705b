//! The raw bytes, read by other means than the program's: protostones out of the output script, calls by recursive descent.

use bitcoin::Transaction;
use bitcoin::consensus::encode::serialize;
use bitcoin::script::Instruction;
use paraffin_alkanes::{CallKind, CallResponse, Trace, TraceContext, TraceEvent, TraceStatus};
use paraffin_primitives::AlkaneId;

/// Tag of a runestone's field that carries protostones.
const PROTOCOL_FIELD: u128 = 16_383;

/// What decides about a protostone's message and its actor.
#[derive(Debug, Default)]
pub(crate) struct Stone {
    pub(crate) pointer: Option<u128>,
    refund: Option<u128>,
    is_message: bool,
    moves_base_runes: bool,
}

/// Numbers of seven bits a byte, the lowest first.
fn numbers(bytes: &[u8]) -> Vec<u128> {
    let ends = bytes.split_inclusive(|byte| byte & 0x80 == 0);
    ends.map(|digits| digits.iter().rev().fold(0, |value, digit| value << 7 | u128::from(digit & 0x7f))).collect()
}

/// The protostones of a transaction, in order; none when it has no runestone.
pub(crate) fn stones(transaction: &Transaction) -> Vec<Stone> {
    let is_runestone = |script: &bitcoin::Script| script.as_bytes().starts_with(&[0x6a, 0x5d]);
    let Some(output) = transaction.output.iter().find(|output| is_runestone(&output.script_pubkey)) else {
        return Vec::new();
    };
    let pushes = output.script_pubkey.instructions().skip(2).map(|instruction| match instruction.unwrap() {
        Instruction::PushBytes(bytes) => bytes.as_bytes().to_vec(),
        Instruction::Op(opcode) => panic!("a runestone with the opcode {opcode}"),
    });
    let payload: Vec<u8> = pushes.flatten().collect();
    let fields = numbers(&payload);
    let carried = fields.chunks_exact(2).take_while(|field| field[0] != 0).filter(|field| field[0] == PROTOCOL_FIELD);
    let carried: Vec<u8> = carried.flat_map(|field| field[1].to_le_bytes()[..15].to_vec()).collect();

    let mut rest = &numbers(&carried)[..];
    let mut stones = Vec::new();
    while let [tag, length, behind @ ..] = rest {
        if *tag == 0 {
            break;
        }
        let (body, after) = behind.split_at(usize::try_from(*length).unwrap());
        assert_eq!(*tag, 1, "these tests write to alkanes only");
        stones.push(stone(body));
        rest = after;
    }
    stones
}

fn stone(body: &[u128]) -> Stone {
    let mut stone = Stone::default();
    let edicts = body.chunks_exact(2).position(|field| field[0] == 0).map_or(body.len(), |index| index * 2);
    for field in body[..edicts].chunks_exact(2) {
        match field[0] {
            91 => stone.pointer = Some(field[1]),
            93 => stone.refund = Some(field[1]),
            81 => stone.is_message = true,
            other => panic!("these tests write no field {other}"),
        }
    }
    let mut id = [0; 2];
    for edict in body.get(edicts + 1..).unwrap_or_default().chunks_exact(4) {
        id = if edict[0] == 0 { [id[0], id[1] + edict[1]] } else { [id[0] + edict[0], edict[1]] };
        stone.moves_base_runes |= id[0] == 0 && id[1] != 0;
    }
    stone
}

/// Whether everything that the protostones do is undone: a message without a way for its results, or an edict that moves what
/// is no alkane. (A message that these tests send carries no edicts.)
pub(crate) fn is_void(stones: &[Stone], output_count: usize) -> bool {
    let last = (output_count + stones.len()) as u128;
    let is_way = |vout: Option<u128>| vout.is_some_and(|vout| vout <= last);
    stones
        .iter()
        .any(|stone| stone.moves_base_runes || (stone.is_message && !(is_way(stone.pointer) && is_way(stone.refund))))
}

/// A call and what happened in it.
pub(crate) struct Frame<'t> {
    pub(crate) kind: CallKind,
    pub(crate) context: &'t TraceContext,
    /// `None` when it failed.
    pub(crate) answer: Option<&'t CallResponse>,
    pub(crate) inner: Vec<Frame<'t>>,
    /// Contracts that came to be during it, calls inside not counted.
    pub(crate) created: Vec<AlkaneId>,
}

/// The calls of a message as a tree. A contract that runs uses fuel, so an answer that cost none closes no call: the host gave
/// it, and its data are the header, the coinbase, or a number.
pub(crate) fn tree<'t>(trace: &'t Trace, block: &bitcoin::Block) -> Frame<'t> {
    let mut events = trace.events.iter();
    let first = events.by_ref().find(|event| !matches!(event, TraceEvent::Create(_)));
    let frame = descend(first.unwrap(), &mut events, block);
    assert!(events.next().is_none(), "something follows the end of the message");
    frame
}

fn descend<'t>(
    enter: &'t TraceEvent,
    events: &mut std::slice::Iter<'t, TraceEvent>,
    block: &bitcoin::Block,
) -> Frame<'t> {
    let TraceEvent::Enter { kind, context, fuel } = enter else { panic!("a call begins with {enter:?}") };
    let mut frame = Frame { kind: *kind, context, answer: None, inner: Vec::new(), created: Vec::new() };
    loop {
        match events.next().expect("a call does not end") {
            event @ TraceEvent::Enter { .. } => frame.inner.push(descend(event, events, block)),
            TraceEvent::Create(id) => frame.created.push(*id),
            TraceEvent::Omitted { .. } => panic!("a trace is not kept"),
            TraceEvent::Exit { status, response, fuel_used: 0 } if *fuel > 0 => {
                assert!(response.alkanes.is_empty() && response.storage.is_empty());
                let data = &response.data;
                let is_host = *data == serialize(&block.header)
                    || block.txdata.first().is_some_and(|coinbase| *data == serialize(coinbase))
                    || data.len() == 16;
                assert!(is_host || *status == TraceStatus::Revert, "{response:?} cost nothing");
            }
            TraceEvent::Exit { status, response, .. } => {
                frame.answer = (*status == TraceStatus::Success).then_some(response);
                return frame;
            }
        }
    }
}
