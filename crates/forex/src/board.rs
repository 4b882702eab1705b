//! The quotes of all sources, and the answers made of them. Nothing here waits; the time is passed in.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use crate::adapters::SourceKind;
use crate::amount::Amount;
use crate::answer::{
    Conversion, Coverage, Freshness, Offer, Provenance, Rates, Reason, Role, SourceStatus, Status, Unpriced,
};
use crate::currency::Currency;
use crate::error::FeedError;
use crate::policy::{Price, Rules, judge};
use crate::ratio::Ratio;
use crate::sheet::{Quote, Reading};

/// The newest rates of every source.
pub struct Board {
    rules: Rules,
    states: RwLock<SourceStates>,
    /// Cache of the prices.
    view: Mutex<Option<Arc<View>>>,
}

struct SourceStates {
    /// Counts the changes.
    generation: u64,
    sources: Vec<Source>,
}

struct Source {
    name: String,
    kind: SourceKind,
    quotes: [Option<Quote>; Currency::COUNT],
    answered_at: Option<u64>,
    failure: Option<FeedError>,
    polls: u64,
    failures: u64,
    refused: Vec<(Currency, String)>,
}

/// Prices that hold for a span of time.
struct View {
    generation: u64,
    /// Begin of the span.
    made_at: u64,
    /// End of the span: a rate becomes too old at this time.
    until: u64,
    names: Vec<String>,
    currencies: Vec<Judged>,
}

struct Judged {
    price: Result<Price, Reason>,
    /// Index of the source, its quote, and the role of the quote.
    offers: Vec<(usize, Quote, Role)>,
}

/// The dollar is always one dollar; it makes no rate older.
const DOLLAR: Price = Price { per_usd: Ratio::ONE, time: u64::MAX };

impl Board {
    pub(crate) fn new(rules: Rules, sources: impl IntoIterator<Item = (String, SourceKind)>) -> Self {
        let source = |(name, kind)| Source {
            name,
            kind,
            quotes: [None; Currency::COUNT],
            answered_at: None,
            failure: None,
            polls: 0,
            failures: 0,
            refused: Vec::new(),
        };
        let sources = sources.into_iter().map(source).collect();
        Self { rules, states: RwLock::new(SourceStates { generation: 0, sources }), view: Mutex::new(None) }
    }

    /// A board of rates that never change: `base` and decimal texts of one time, as a file source named `file` reports them.
    ///
    /// # Errors
    /// The rates cannot be used.
    pub fn of_file(bytes: &[u8], stale_after: u64, limit: Option<u64>, now: u64) -> Result<Self, FeedError> {
        let board = Self::new(Rules { stale_after, limit }, [("file".to_owned(), SourceKind::File)]);
        board.take(0, crate::adapters::read(SourceKind::File, bytes, now)?, now);
        Ok(board)
    }

    /// Adds an answer of a source. Older rates never replace newer ones. Returns the source's rates if any has changed.
    pub(crate) fn take(&self, source: usize, reading: Reading, now: u64) -> Option<Vec<Quote>> {
        let mut states = self.states.write();
        let entry = states.sources.get_mut(source)?;
        let mut is_changed = false;
        for quote in reading.quotes {
            let held = &mut entry.quotes[quote.currency.index()];
            if held.is_none_or(|held| quote.time >= held.time && held != quote) {
                *held = Some(quote);
                is_changed = true;
            }
        }
        entry.answered_at = Some(now);
        entry.polls += 1;
        entry.failure = None;
        entry.refused = reading.refused.iter().map(|(currency, error)| (*currency, error.to_string())).collect();
        let quotes = is_changed.then(|| entry.quotes.iter().flatten().copied().collect());
        states.generation += u64::from(is_changed);
        quotes
    }

    /// The rates of an earlier run.
    pub(crate) fn restore(&self, name: &str, quotes: Vec<Quote>) {
        let mut states = self.states.write();
        states.generation += 1;
        if let Some(source) = states.sources.iter_mut().find(|source| source.name == name) {
            for quote in quotes {
                source.quotes[quote.currency.index()] = Some(quote);
            }
        }
    }

    /// A source answered that nothing has changed.
    pub(crate) fn confirmed(&self, source: usize, now: u64) {
        if let Some(source) = self.states.write().sources.get_mut(source) {
            (source.answered_at, source.failure) = (Some(now), None);
            source.polls += 1;
        }
    }

    /// Records a failure; true when it differs from the one before.
    pub(crate) fn failed(&self, source: usize, error: FeedError) -> bool {
        let mut states = self.states.write();
        let Some(source) = states.sources.get_mut(source) else { return false };
        let is_other = source.failure.as_ref() != Some(&error);
        source.failure = Some(error);
        source.polls += 1;
        source.failures += 1;
        is_other
    }

    /// What every source reported last.
    pub(crate) fn by_source(&self) -> Vec<(String, Vec<Quote>)> {
        let states = self.states.read();
        states
            .sources
            .iter()
            .map(|source| (source.name.clone(), source.quotes.iter().flatten().copied().collect()))
            .collect()
    }

    fn view(&self, now: u64) -> Arc<View> {
        let mut cached = self.view.lock();
        let states = self.states.read();
        if let Some(view) = &*cached
            && view.generation == states.generation
            && (view.made_at..view.until).contains(&now)
        {
            return Arc::clone(view);
        }
        let mut until = u64::MAX;
        let judged = |currency: Currency| {
            let offers = states.sources.iter().enumerate();
            let offers = offers.filter_map(|(index, source)| Some((index, source.quotes[currency.index()]?)));
            let (indexes, quotes): (Vec<usize>, Vec<Quote>) = offers.unzip();
            for quote in &quotes {
                let ages = [Some(self.rules.stale_after), self.rules.limit];
                let ends = ages.into_iter().flatten().map(|age| quote.time.saturating_add(age).saturating_add(1));
                until = ends.filter(|end| *end > now).fold(until, u64::min);
            }
            let (roles, price) = judge(&quotes, now, self.rules);
            let offers = indexes.into_iter().zip(quotes).zip(roles).map(|((index, quote), role)| (index, quote, role));
            let price = if currency == Currency::USD { Ok(DOLLAR) } else { price };
            Judged { price, offers: offers.collect() }
        };
        let currencies = Currency::all().map(judged).collect();
        let names = states.sources.iter().map(|source| source.name.clone()).collect();
        let view = Arc::new(View { generation: states.generation, made_at: now, until, names, currencies });
        *cached = Some(Arc::clone(&view));
        view
    }

    /// Rates of `base` for the codes in `quotes`, or for everything that is covered. Codes may be in upper or lower case.
    ///
    /// # Errors
    /// `base` is not covered.
    pub fn rates(&self, base: &str, quotes: Option<&[String]>, provenance: bool, now: u64) -> Result<Rates, Unpriced> {
        let base = covered(base)?;
        let view = self.view(now);
        let mut requested: Vec<Result<Currency, String>> = match quotes {
            None => Currency::all().map(Ok).collect(),
            Some(codes) => codes.iter().map(|code| Currency::of_code(code).ok_or(code.to_uppercase())).collect(),
        };
        let mut seen = std::collections::BTreeSet::new();
        requested.retain(|code| *code != Ok(base) && seen.insert(code.clone()));
        let (mut rates, mut missing, mut times) = (vec![(base, "1".to_owned())], Vec::new(), Vec::new());
        for code in requested {
            match code {
                Err(code) => missing.push((code, Reason::Unsupported)),
                Ok(quote) => match view.pair(base, quote) {
                    Ok(price) => {
                        rates.push((quote, price.per_usd.to_rate()));
                        times.push((quote, price.time));
                    }
                    Err((_, reason)) => missing.push((quote.code().to_owned(), reason)),
                },
            }
        }
        let provenance = provenance.then(|| {
            let priced = rates.iter().filter(|(currency, _)| *currency != Currency::USD);
            priced.filter_map(|(currency, _)| Some((*currency, view.provenance(*currency, now)?))).collect()
        });
        Ok(Rates { base, rates, missing, freshness: self.freshness(&view, base, &times, now), provenance })
    }

    /// An amount of `from` in `to`.
    ///
    /// # Errors
    /// One of them is not covered or has no price.
    pub fn convert(&self, from: &str, to: &str, amount: &Amount, now: u64) -> Result<Conversion, Unpriced> {
        let (from, to) = match (covered(from), covered(to)) {
            (Ok(from), Ok(to)) => (from, to),
            (from, to) => {
                let missing = [from.err(), to.err()].into_iter().flatten().flat_map(|error| error.missing).collect();
                return Err(Unpriced { missing });
            }
        };
        let view = self.view(now);
        let unpriced =
            |(missing, reason): (Currency, Reason)| Unpriced { missing: vec![(missing.code().to_owned(), reason)] };
        let (rate, times) = if from == to {
            (Ratio::ONE, Vec::new())
        } else {
            let price = view.pair(from, to).map_err(unpriced)?;
            (price.per_usd, vec![(to, price.time)])
        };
        let result = rate.times(&Ratio::of(amount.0)).to_amount();
        let freshness = self.freshness(&view, from, &times, now);
        Ok(Conversion { from, to, rate: rate.to_rate(), result, freshness })
    }

    /// State of the rates and sources; this never fails.
    pub fn status(&self, now: u64) -> Status {
        let view = self.view(now);
        let Freshness { as_of, is_stale, .. } = self.freshness(&view, Currency::USD, &[], now);
        let states = self.states.read();
        let source = |source: &Source| {
            let quotes = || source.quotes.iter().flatten();
            SourceStatus {
                name: source.name.clone(),
                kind: source.kind,
                currencies: quotes().count(),
                as_of: quotes().map(|quote| quote.time).max(),
                answered_at: source.answered_at,
                failure: source.failure.as_ref().map(ToString::to_string),
                polls: source.polls,
                failures: source.failures,
                refused: source.refused.clone(),
            }
        };
        let sources = states.sources.iter().map(source).collect();
        Status {
            age: as_of.map(|time| now.saturating_sub(time)),
            as_of,
            is_stale,
            available: view.available(),
            sources,
        }
    }

    /// Which currencies have a price.
    pub fn coverage(&self, now: u64) -> Coverage {
        let view = self.view(now);
        let available = view.available();
        let missing = Currency::all().filter(|currency| !available.contains(currency));
        let missing = missing.map(|currency| (currency, view.of(currency).price.err().unwrap_or(Reason::NoQuotes)));
        Coverage { missing: missing.collect(), available }
    }

    /// How old the rates of an answer are; where it holds none but that of the base, how old the rates of the base are altogether.
    fn freshness(&self, view: &View, base: Currency, times: &[(Currency, u64)], now: u64) -> Freshness {
        let of_all = || {
            let others = Currency::all().filter(|other| *other != base);
            others.filter_map(|other| Some(view.pair(base, other).ok()?.time)).max()
        };
        let newest = times.iter().map(|(_, time)| *time).max().or_else(of_all);
        Freshness {
            ages: times.iter().map(|(currency, time)| (*currency, now.saturating_sub(*time))).collect(),
            // A day of validity may begin tomorrow.
            as_of: newest.map(|time| time.min(now)),
            is_stale: newest.is_none_or(|time| now.saturating_sub(time) > self.rules.stale_after),
        }
    }
}

/// The currency of a code.
fn covered(code: &str) -> Result<Currency, Unpriced> {
    Currency::of_code(code).ok_or_else(|| Unpriced { missing: vec![(code.to_uppercase(), Reason::Unsupported)] })
}

impl View {
    fn of(&self, currency: Currency) -> &Judged {
        &self.currencies[currency.index()]
    }

    /// Units of `quote` for one of `base`, as old as the older of the two; else which of them has no price.
    fn pair(&self, base: Currency, quote: Currency) -> Result<Price, (Currency, Reason)> {
        let of = |currency: Currency| self.of(currency).price.map_err(|reason| (currency, reason));
        let (base_price, quote_price) = (of(base)?, of(quote)?);
        let per_base = quote_price.per_usd.over(&base_price.per_usd).ok_or((base, Reason::NoQuotes))?;
        Ok(Price { per_usd: per_base, time: base_price.time.min(quote_price.time) })
    }

    /// The dollar counts as long as there is anything to compare it with.
    fn available(&self) -> Vec<Currency> {
        let has_price = |currency: &Currency| self.of(*currency).price.is_ok();
        let others: Vec<Currency> =
            Currency::all().filter(|currency| *currency != Currency::USD).filter(has_price).collect();
        let dollar = (!others.is_empty()).then_some(Currency::USD);
        dollar.into_iter().chain(others).collect()
    }

    fn provenance(&self, currency: Currency, now: u64) -> Option<Provenance> {
        let judged = self.of(currency);
        let offer = |(source, quote, role): &(usize, Quote, Role)| Offer {
            source: self.names[*source].clone(),
            per_usd: quote.per_usd.to_rate(),
            time: quote.time,
            age: now.saturating_sub(quote.time),
            role: *role,
        };
        let per_usd = judged.price.ok()?.per_usd.to_rate();
        Some(Provenance { per_usd, offers: judged.offers.iter().map(offer).collect() })
    }
}
