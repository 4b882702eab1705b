//! Reduces a chain to a minimal one with the same difference.

use std::time::{Duration, Instant};

use crate::asks::Ask;
use crate::chain::{Chain, Item, Message, Recipe, Script, Step};
use crate::generator::plain_coinbase;
use crate::lane::{Lane, Outcome, Reference};

/// Longest time for one difference, in a run of the tests and in a long run.
const TIME_MAX: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(240)];

/// A chain and the request at its end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Case {
    pub(crate) chain: Chain,
    /// The view request at the end; without it the last block is compared.
    pub(crate) ask: Option<Ask>,
}

/// A difference as text, and its kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Difference {
    pub(crate) kind: String,
    pub(crate) text: String,
}

impl Difference {
    /// Of a block: `block 5:…: traces: message …`, by the part that differs.
    pub(crate) fn of_block(text: String) -> Self {
        let message = text
            .strip_prefix("block ")
            .and_then(|rest| rest.split_once(": "))
            .map_or(&text[..], |(_, message)| message);
        let part = message.split([':', ' ']).next().unwrap_or_default();
        // How the messages ended distinguishes one difference of traces from another.
        let ends = message.lines().filter_map(|line| line.split_once("status: ").map(|(_, rest)| &rest[..6]));
        let kind = [part].into_iter().chain(ends).collect::<Vec<_>>().join(" ");
        Self { kind: format!("block {kind}"), text }
    }

    pub(crate) fn of_view(ask: &Ask, text: String) -> Self {
        Self { kind: format!("view {}", ask.view), text }
    }
}

/// The first difference of a case.
pub(crate) fn first_difference(case: &Case, reference: &Reference) -> Option<Difference> {
    let mut lane = Lane::new(case.chain.rules, case.chain.start, reference);
    for step in &case.chain.steps {
        match step {
            Step::Undo(count) => lane.undo(*count),
            Step::Block(recipes) => match lane.connect(recipes) {
                Outcome::Equal(_) => {}
                Outcome::Parted(text) => return Some(Difference::of_block(text)),
                Outcome::Refused(why) if why.contains("the hosted indexer program halts") => return None,
                Outcome::Refused(text) => return Some(Difference { kind: "block refused".to_owned(), text }),
            },
        }
    }
    let ask = case.ask.as_ref().filter(|_| !lane.blocks.connected.is_empty())?;
    ask.difference(&lane).map(|text| Difference::of_view(ask, text))
}

/// The smallest case found in the time that shows a difference of the same kind.
pub(crate) fn minimise(case: Case, kind: &str, reference: &Reference) -> Case {
    let is_long = std::env::var_os("PARAFFIN_REFERENCE_LONG").is_some();
    let (begun, time_max) = (Instant::now(), TIME_MAX[usize::from(is_long)]);
    let mut smallest = case;
    let stays = |case: &Case| first_difference(case, reference).is_some_and(|found| found.kind == kind);
    loop {
        let before = smallest.clone();
        for cuts in [steps, transactions, parts] {
            let mut index = 0;
            while begun.elapsed() < time_max {
                let mut tried = smallest.clone();
                if cuts(&mut tried, index).is_none() {
                    break;
                }
                if tried != smallest && stays(&tried) {
                    smallest = tried;
                } else {
                    index += 1;
                }
            }
        }
        if smallest == before || begun.elapsed() >= time_max {
            return smallest;
        }
    }
}

/// Takes out steps: many at first, then each alone.
fn steps(case: &mut Case, index: usize) -> Option<()> {
    let len = case.chain.steps.len();
    // Halves, quarters, eighths, then one by one.
    let mut cuts = Vec::new();
    let mut size = len / 2;
    while size > 1 {
        cuts.extend((0..len).step_by(size).map(|from| (from, size)));
        size /= 2;
    }
    cuts.extend((0..len).map(|from| (from, 1)));
    let (from, size) = *cuts.get(index)?;
    case.chain.steps.drain(from..(from + size).min(len));
    Some(())
}

fn recipes(case: &mut Case) -> impl Iterator<Item = &mut Vec<Recipe>> {
    case.chain.steps.iter_mut().filter_map(|step| match step {
        Step::Block(recipes) => Some(recipes),
        Step::Undo(_) => None,
    })
}

/// Takes out transactions: all of a block, half of it, then each alone; a coinbase is made plain.
fn transactions(case: &mut Case, mut left: usize) -> Option<()> {
    for block in recipes(case) {
        let len = block.len() - 1;
        let mut cuts = vec![(1, len), (1, len / 2), (1 + len / 2, len - len / 2)];
        cuts.extend((1..=len).map(|from| (from, 1)));
        if let Some((from, size)) = cuts.get(left) {
            block.drain(*from..from + size);
            return Some(());
        }
        left -= cuts.len();
        if left == 0 {
            block[0] = plain_coinbase(u64::from(block[0].name), block[0].name);
            return Some(());
        }
        left -= 1;
    }
    None
}

/// Takes out inputs, outputs, protostones, fields and integers of calls.
fn parts(case: &mut Case, mut left: usize) -> Option<()> {
    for recipe in recipes(case).flatten() {
        if left < recipe.inputs.len() {
            if recipe.inputs.len() > 1 {
                recipe.inputs.remove(left);
            }
            return Some(());
        }
        left -= recipe.inputs.len();
        if left < recipe.outputs.len() {
            if recipe.outputs.len() > 1 {
                recipe.outputs.remove(left);
            }
            return Some(());
        }
        left -= recipe.outputs.len();
        for input in &mut recipe.inputs {
            for item in &mut input.witness {
                if let Item::Module(text) = item {
                    let lines: Vec<&str> = text.lines().collect();
                    if left < lines.len() {
                        let mut lines = lines;
                        lines.remove(left);
                        let text_without = lines.join("\n");
                        // What is no module any more is left as it was.
                        if wat::parse_str(&text_without).is_ok() {
                            *text = text_without;
                        }
                        return Some(());
                    }
                    left -= lines.len();
                }
            }
        }
        for output in &mut recipe.outputs {
            let Script::Runestone(runestone) = &mut output.script else { continue };
            if left < runestone.stones.len() {
                runestone.stones.remove(left);
                return Some(());
            }
            left -= runestone.stones.len();
            if left < runestone.fields.len() {
                runestone.fields.remove(left);
                return Some(());
            }
            left -= runestone.fields.len();
            if left < runestone.edicts.len() {
                runestone.edicts.remove(left);
                return Some(());
            }
            left -= runestone.edicts.len();
            for stone in &mut runestone.stones {
                let pairs = stone.fields.len() / 2;
                if left < pairs {
                    stone.fields.drain(left * 2..left * 2 + 2);
                    return Some(());
                }
                left -= pairs;
                if let Some(Message::Call(call)) = &mut stone.message {
                    let inputs = call.len().saturating_sub(2);
                    if left < inputs {
                        call.truncate(call.len() - 1 - left);
                        return Some(());
                    }
                    left -= inputs;
                }
            }
        }
    }
    None
}
