use serde_json::Value;

use super::super::schema::{
    about, any_of, anything, boolean, component, list, map, natural, or_null, pattern, record, text,
};
use super::Row;

pub(crate) const METHODS: [Row; 23] = [
    ("blockcount", "Number of indexed blocks, the genesis block counted", "", "natural"),
    ("blockheight", "Height of the newest indexed block", "", "natural"),
    ("blockhash", "Hash of a block, of the newest without a height", "height?:height", "hash"),
    ("blocktime", "Time of the newest indexed block in Unix seconds", "", "natural"),
    ("block", "A block with its transactions, inscriptions and runes", "block:HeightOrHash", "object"),
    ("blocks", "The newest hundred blocks, with inscriptions of the newest five", "", "object"),
    (
        "inscription",
        "An inscription by id, number or sat name; with a place, that child of it",
        "inscription:text child?:index",
        "Inscription",
    ),
    ("inscriptions", "A page of a hundred inscriptions, newest first", "page?:index", "InscriptionsPage"),
    ("inscriptions::block", "Inscriptions of a block", "height:height page?:index", "InscriptionsPage"),
    ("children", "Children of an inscription", "id:InscriptionId page?:index", "object"),
    ("parents", "Parents of an inscription", "id:InscriptionId page?:index", "object"),
    ("content", "Content of an inscription in base64, its delegate's where it has one", "id:InscriptionId", "text"),
    ("metadata", "Metadata of an inscription: CBOR in hexadecimal digits", "id:InscriptionId", "hex"),
    ("rune", "A rune by name, id or number", "rune:text", "Rune"),
    ("runes", "A page of fifty runes, newest first", "page?:index", "object"),
    ("sat", "A sat by number, name, decimal, degree or percentile", "sat:text", "object"),
    ("r:sat", "Inscriptions on a sat, oldest first", "number:index page?:index", "object"),
    (
        "r:sat::at",
        "One inscription on a sat: place 0 is the oldest, -1 the newest; null where there is none",
        "sat:text place:any",
        "object",
    ),
    ("output", "An output with its inscriptions and runes", "outpoint:text", "OrdOutput"),
    (
        "outputs",
        "Unspent outputs of an address; the kind is any, cardinal, inscribed or runic",
        "address:address kind?:text",
        "OrdOutput[]",
    ),
    ("address", "Everything that an address holds", "address:address", "object"),
    ("address::inscriptions", "Inscriptions that an address holds", "address:address", "InscriptionId[]"),
    ("tx", "A transaction, what it etched and how much it revealed", "txid:hash", "object"),
];

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let id = || component("InscriptionId");
    let inscription = record(&[
        ("id", id()),
        ("number", about(anything(), "An integer, negative for cursed inscriptions")),
        ("address", or_null(text())),
        ("content_type", or_null(text())),
        ("content_length", or_null(natural())),
        ("effective_content_type", or_null(text())),
        ("fee", natural()),
        ("height", natural()),
        ("sat", or_null(natural())),
        ("satpoint", text()),
        ("timestamp", natural()),
        ("value", or_null(natural())),
        ("charms", list(text())),
        ("child_count", natural()),
        ("children", list(id())),
        ("parents", list(id())),
        ("previous", or_null(id())),
        ("next", or_null(id())),
        ("rune", or_null(text())),
        ("metaprotocol", or_null(text())),
        ("properties", map(anything())),
    ]);
    let output = record(&[
        ("address", or_null(text())),
        ("confirmations", natural()),
        ("indexed", boolean()),
        ("inscriptions", list(id())),
        ("outpoint", text()),
        ("runes", map(anything())),
        ("sat_ranges", or_null(list(list(natural())))),
        ("script_pubkey", text()),
        ("spent", boolean()),
        ("transaction", component("Hash")),
        ("value", natural()),
    ]);
    let rune = record(&[
        ("id", text()),
        ("entry", about(map(anything()), "Integers have up to 128 bits")),
        ("mintable", boolean()),
        ("parent", or_null(id())),
    ]);
    vec![
        ("InscriptionId", pattern("^[0-9a-fA-F]{64}i(0|[1-9][0-9]*)$")),
        ("HeightOrHash", any_of(&[natural(), pattern("^([0-9]+|[0-9a-fA-F]{64})$")])),
        ("Inscription", inscription),
        ("InscriptionsPage", record(&[("ids", list(id())), ("more", boolean()), ("page_index", natural())])),
        ("OrdOutput", output),
        ("Rune", rune),
    ]
}
