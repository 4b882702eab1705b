//! `paraffin diff`: whether two instances hold the same, and if not, the first block in which they differ.
//!
//! Every block has a digest of all that was written up to it, so halving finds the first difference with few questions.

mod answer;
mod search;

use std::process::ExitCode;

use serde_json::{Value, json};

use self::answer::{Digests, Lookup};
use self::search::{Moved, Probe};
use crate::client::{CallError, Client};
use crate::command_line::{DiffArguments, EndpointArguments};

/// Code when both are equal.
const EQUAL: u8 = 0;
/// Code when they differ.
const DIFFERENT: u8 = 1;
/// Code when they cannot be compared.
const CANNOT_COMPARE: u8 = 2;
/// How often the search begins anew when the chain moves under it.
const ATTEMPTS: u32 = 3;

/// Two instances cannot be compared.
#[derive(Debug, thiserror::Error)]
enum DiffError {
    /// One does not answer, or not as an instance of this version does.
    #[error("{side} ({url}): {source}")]
    Away {
        /// `A` or `B`.
        side: char,
        /// Its address.
        url: String,
        /// The failed call.
        source: CallError,
    },
    /// The instances cannot be compared: networks, formats or modules differ.
    #[error("{0}")]
    Unlike(String),
    /// The range of heights is invalid.
    #[error("{0}")]
    Range(String),
    /// The tips moved during each attempt.
    #[error(
        "the chain moved during each of {ATTEMPTS} comparisons: try again, or give --to below the last reorganisation"
    )]
    Moving,
}

/// Result of a comparison.
#[derive(Debug)]
struct Outcome {
    /// Tips of A and B.
    tips: (u32, u32),
    /// Lowest and highest height that were compared.
    range: (u32, u32),
    /// The first height with a difference, with the digests of both.
    first: Option<(Digests, Digests)>,
    /// Questions asked.
    calls: u32,
}

/// Compares the instances and prints the outcome; 0 equal, 1 different, 2 cannot be compared.
pub(crate) async fn run(arguments: &DiffArguments) -> ExitCode {
    let endpoint = |url: &str, key: &Option<String>| EndpointArguments { url: url.to_owned(), key: key.clone() };
    let a = Client::new(&endpoint(&arguments.a, &arguments.key_a));
    let b = Client::new(&endpoint(&arguments.b, &arguments.key_b));
    let mut sides = Sides { a: &a, b: &b, arguments, calls: 0 };
    match compare(&mut sides).await {
        Ok(outcome) => {
            println!("{}", if arguments.json { outcome.json().to_string() } else { outcome.text() });
            ExitCode::from(if outcome.first.is_none() { EQUAL } else { DIFFERENT })
        }
        Err(error) => {
            eprintln!("paraffin: {error}");
            ExitCode::from(CANNOT_COMPARE)
        }
    }
}

/// Both instances, asked in turns.
struct Sides<'c> {
    a: &'c Client,
    b: &'c Client,
    arguments: &'c DiffArguments,
    calls: u32,
}

impl Sides<'_> {
    /// The digests of the block at `height`, `None` for the newest, of both at once.
    async fn both(&mut self, height: Option<u32>) -> Result<(Lookup, Lookup), DiffError> {
        self.calls += 2;
        let (a, b) = tokio::join!(answer::ask(self.a, height), answer::ask(self.b, height));
        let named = |side, url: &str| {
            let url = url.to_owned();
            move |source| DiffError::Away { side, url, source }
        };
        Ok((a.map_err(named('A', &self.arguments.a))?, b.map_err(named('B', &self.arguments.b))?))
    }
}

impl Probe for Sides<'_> {
    type Error = DiffError;

    async fn at(&mut self, height: u32) -> Result<Result<(Digests, Digests), Moved>, DiffError> {
        Ok(match self.both(Some(height)).await? {
            (Lookup::Block(a), Lookup::Block(b)) => Ok((a, b)),
            // Above a tip that stood higher a moment ago.
            _ => Err(Moved),
        })
    }
}

async fn compare(sides: &mut Sides<'_>) -> Result<Outcome, DiffError> {
    for _ in 0..ATTEMPTS {
        let (Lookup::Block(a), Lookup::Block(b)) = sides.both(None).await? else { continue };
        check_alike(&a, &b)?;
        let tips = (a.height, b.height);
        let to = sides.arguments.to.unwrap_or(u32::MAX).min(tips.0.min(tips.1));
        let from = sides.arguments.from;
        if sides.arguments.to.is_some_and(|wanted| wanted > to) {
            eprintln!("the lower tip is {to}: nothing above it is compared");
        }
        if from > to {
            return Err(DiffError::Range(format!("--from {from} is above {to}, the last height to compare")));
        }
        if from > 0 {
            match sides.at(from - 1).await? {
                Err(Moved) => continue,
                Ok((a, b)) if !a.is_same(&b) => {
                    return Err(DiffError::Range(format!(
                        "the instances differ already at height {}: give a lower --from",
                        from - 1
                    )));
                }
                Ok(_) => {}
            }
        }
        if let Ok(first) = search::first_difference(sides, from, to).await? {
            return Ok(Outcome { tips, range: (from, to), first, calls: sides.calls });
        }
    }
    Err(DiffError::Moving)
}

/// Instances with different networks, formats or modules differ everywhere, so a comparison is meaningless.
fn check_alike(a: &Digests, b: &Digests) -> Result<(), DiffError> {
    let unlike = |what: &str, of_a: &dyn std::fmt::Display, of_b: &dyn std::fmt::Display| {
        Err(DiffError::Unlike(format!("{what} differs: A has {of_a}, B has {of_b}; such instances cannot be compared")))
    };
    if a.network != b.network {
        return unlike("the network", &a.network, &b.network);
    }
    if a.format != b.format {
        return unlike("the format of the store", &a.format, &b.format);
    }
    let (of_a, of_b) = (a.versions(), b.versions());
    if of_a != of_b {
        return unlike("what is indexed (module and version)", &of_a, &of_b);
    }
    Ok(())
}

impl Outcome {
    fn text(&self) -> String {
        let Self { tips, range: (from, to), first, calls } = self;
        let ahead = match tips.0.cmp(&tips.1) {
            std::cmp::Ordering::Equal => String::new(),
            std::cmp::Ordering::Less => format!("; B is {} blocks ahead", tips.1 - tips.0),
            std::cmp::Ordering::Greater => format!("; A is {} blocks ahead", tips.0 - tips.1),
        };
        let Some((a, b)) = first else {
            return format!("equal from height {from} to {to}{ahead} ({calls} calls)");
        };
        let head = format!("different from height {} on{ahead} ({calls} calls)", a.height);
        if a.hash != b.hash {
            let (of_a, of_b) = (&a.hash, &b.hash);
            return format!(
                "{head}\nblock  A {of_a}\n       B {of_b}\nthe instances follow different branches of the chain"
            );
        }
        let parts = a.differing(b);
        let what = if parts.is_empty() {
            // The digests of a module that is run again are put right from below.
            "the digests of the block are equal, those of the blocks up to it are not: one instance is being re-indexed"
                .to_owned()
        } else {
            format!("parts  {}", parts.join(", "))
        };
        format!("{head}\nblock  {}\n{what}", a.hash)
    }

    fn json(&self) -> Value {
        let first = self.first.as_ref().map(|(a, b)| {
            json!({
                "height": a.height,
                "fork": a.hash != b.hash,
                "hashes": [a.hash, b.hash],
                "digests": [a.digest, b.digest],
                "parts": a.differing(b),
            })
        });
        json!({
            "equal": self.first.is_none(),
            "tips": [self.tips.0, self.tips.1],
            "from": self.range.0,
            "to": self.range.1,
            "first": first,
            "calls": self.calls,
        })
    }
}
