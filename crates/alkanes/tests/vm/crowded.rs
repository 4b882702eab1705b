//! One transaction that fills its block with as much as its runestone can hold.

use bitcoin::opcodes::all::OP_RETURN;
use bitcoin::script::Builder;
use bitcoin::{Amount, ScriptBuf, Transaction, TxOut};
use paraffin_alkanes::codec::{ALKANES_PROTOCOL, Cellpack, Edict, Protostone, Runestone, encode_protostones};
use paraffin_primitives::{AlkaneId, Amount as Units};

use crate::dear::{DEAR, INNOCENT};
use crate::stage::{id, transaction};

/// A transaction, and the kind of item that fills it.
pub(crate) struct Crowded {
    pub(crate) name: &'static str,
    pub(crate) transaction: Transaction,
}

/// Bytes of an unspendable output, and of one that holds something.
const OUTPUT_LEN_BYTES: usize = 10;

/// Messages of one transaction: one more makes it void (protocol B6.1).
const MESSAGES_MAX: usize = 99;

/// Transactions of about so many bytes, none of them in a witness.
pub(crate) fn crowded(len_bytes: usize) -> Vec<Crowded> {
    let lost = TxOut { value: Amount::ZERO, script_pubkey: Builder::new().push_opcode(OP_RETURN).into_script() };
    let holding = TxOut { value: Amount::ZERO, script_pubkey: ScriptBuf::from_bytes(vec![0x51]) };
    let none = Vec::new;
    let half = |output: &TxOut| vec![output.clone(); len_bytes / 2 / OUTPUT_LEN_BYTES];
    let of_many = |name, outputs: Vec<TxOut>, most: usize, stone: &dyn Fn(usize) -> Protostone| {
        let left = len_bytes - outputs.len() * OUTPUT_LEN_BYTES;
        let write = |count: usize| of_stones(&(0..count.min(most)).map(stone).collect::<Vec<_>>());
        Crowded { name, transaction: carrying(outputs, &as_many_as_fit(left, write)) }
    };
    let of_edicts = |name, outputs: Vec<TxOut>, edict: &dyn Fn(usize) -> Edict| {
        let left = len_bytes - outputs.len() * OUTPUT_LEN_BYTES;
        let write = |count: usize| {
            let edicts = (0..count).map(edict).collect();
            of_stones(&[Protostone {
                protocol_tag: ALKANES_PROTOCOL,
                pointer: Some(0),
                edicts,
                ..Protostone::default()
            }])
        };
        Crowded { name, transaction: carrying(outputs, &as_many_as_fit(left, write)) }
    };
    let of_base_edicts = |name, outputs: Vec<TxOut>| {
        let count = outputs.len() as u32 + 2;
        let left = len_bytes - outputs.len() * OUTPUT_LEN_BYTES;
        let edict = ordinals::Edict { id: ordinals::RuneId { block: 1, tx: 1 }, amount: 1, output: count };
        let write = |edicts: usize| {
            let base = ordinals::Runestone { edicts: vec![edict; edicts], ..ordinals::Runestone::default() };
            Runestone { base, ..Runestone::default() }
        };
        Crowded { name, transaction: carrying(outputs, &as_many_as_fit(left, write)) }
    };
    let spread = |value: u128| Edict {
        id: id(0, 0),
        amount: Units(value),
        output: (len_bytes / 2 / OUTPUT_LEN_BYTES) as u128 + 2,
    };
    vec![
        of_many("messages that succeed", none(), MESSAGES_MAX, &|_| message(INNOCENT)),
        of_many("messages that burn what there is", none(), MESSAGES_MAX, &|_| message(DEAR)),
        of_many("one message too many", none(), usize::MAX, &|_| message(DEAR)),
        of_many("messages to no contract", none(), MESSAGES_MAX, &|_| message(id(2, 999))),
        of_many("messages that create what is not there", none(), MESSAGES_MAX, &|_| message(id(1, 0))),
        of_many("protostones of nothing", none(), usize::MAX, &|_| Protostone {
            protocol_tag: ALKANES_PROTOCOL,
            ..Protostone::default()
        }),
        of_many(
            "messages between many outputs",
            vec![holding.clone(); len_bytes * 9 / 10 / OUTPUT_LEN_BYTES],
            MESSAGES_MAX,
            &|_| message(DEAR),
        ),
        of_many("messages with edicts to many outputs", half(&holding), MESSAGES_MAX, &|_| Protostone {
            edicts: vec![spread(0); 20],
            ..message(INNOCENT)
        }),
        of_edicts("edicts of nothing", none(), &|_| Edict { id: id(0, 0), amount: Units(0), output: 0 }),
        of_edicts("edicts to a number each", none(), &|number| Edict {
            id: id(2, number as u128),
            amount: Units(1),
            output: 0,
        }),
        of_edicts("edicts of all to outputs that hold nothing", half(&lost), &|_| spread(0)),
        of_edicts("edicts of some to outputs that hold nothing", half(&lost), &|_| spread(1)),
        of_edicts("edicts of all to many outputs", half(&holding), &|_| spread(0)),
        of_edicts("edicts of some to many outputs", half(&holding), &|_| spread(1)),
        of_base_edicts("edicts of runes to many outputs", half(&holding)),
        of_base_edicts("edicts of runes to outputs that hold nothing", half(&lost)),
    ]
}

fn message(target: AlkaneId) -> Protostone {
    Protostone {
        protocol_tag: ALKANES_PROTOCOL,
        message: Cellpack { target, inputs: vec![1] }.encode(),
        pointer: Some(0),
        refund: Some(0),
        ..Protostone::default()
    }
}

fn of_stones(stones: &[Protostone]) -> Runestone {
    Runestone { protocol: encode_protostones(stones).unwrap(), ..Runestone::default() }
}

/// Written with as many items as fit the bytes.
fn as_many_as_fit(len_bytes: usize, write: impl Fn(usize) -> Runestone) -> Runestone {
    const SAMPLE: usize = 300;
    let len = |count: usize| write(count).encode(usize::from(u16::MAX)).unwrap().len();
    // Numbers grow with their index: a tenth is left for that.
    write(SAMPLE * (len_bytes - len_bytes / 10) / len(SAMPLE))
}

/// The outputs of every transaction of tests, and more.
fn carrying(more: Vec<TxOut>, runestone: &Runestone) -> Transaction {
    let mut carrying = transaction(&[], None);
    carrying.output.extend(more);
    carrying.output[1].script_pubkey = runestone.encode(carrying.output.len()).unwrap();
    carrying
}
