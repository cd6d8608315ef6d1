//! The queries of a round: when each arrives and what it asks, drawn before anything runs.
//!
//! The plan does not know how fast a subject answers (an open loop): a subject that is late finds the next queries
//! waiting, as users would.

use std::time::Duration;

use crate::input::Corpus;
use crate::loads::Words;
use crate::random::SplitMix64;

/// One query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Query {
    /// When it arrives, counted from the round's start.
    pub(crate) at: Duration,
    /// The word it looks up.
    pub(crate) word: Box<[u8]>,
}

/// Draws the queries of a Poisson process of `rate` per second until `horizon`: independent gaps, exponential in
/// length. The words are taken from random places of the texts, so frequent ones are asked for more often.
///
/// The same arguments give the same plan on every machine (but for the last bit of the platform's logarithm).
pub(crate) fn poisson(seed: u64, rate: u32, horizon: Duration, corpus: &Corpus) -> Vec<Query> {
    let mut random = SplitMix64::new(seed);
    let mut at = Duration::ZERO;
    let mut queries = Vec::with_capacity((f64::from(rate) * horizon.as_secs_f64() * 1.1) as usize);
    loop {
        at += Duration::from_secs_f64(-(1.0 - random.unit()).ln() / f64::from(rate));
        if at >= horizon {
            return queries;
        }
        queries.push(Query { at, word: word(&mut random, corpus) });
    }
}

/// Tries for a place with a word behind it, before a query asks for the empty word.
const TRIES: u32 = 16;

fn word(random: &mut SplitMix64, corpus: &Corpus) -> Box<[u8]> {
    for _ in 0..TRIES {
        let text = corpus.texts()[random.below(corpus.texts().len())].as_bytes();
        let rest = &text[random.below(text.len() + 1)..];
        // The first run may be the tail of a word that begins before it.
        if let Some(word) = Words::of(rest).nth(1) {
            return word.into();
        }
    }
    Box::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus() -> Corpus {
        Corpus::of(&[include_str!("plan.rs"), "", ";;;", include_str!("arrivals.rs")])
    }

    #[test]
    fn the_same_seed_gives_the_same_plan() {
        let second = Duration::from_secs(1);
        let plan = |seed| poisson(seed, 500, second, &corpus());
        assert_eq!(plan(7), plan(7));
        assert_ne!(plan(7), plan(8));
    }

    #[test]
    fn arrivals_are_a_poisson_process_of_the_rate_asked_for() {
        let plan = poisson(1, 1000, Duration::from_secs(100), &corpus());
        // 100 000 expected, standard deviation 316.
        assert!((98_500..101_500).contains(&plan.len()), "{}", plan.len());
        assert!(
            plan.is_sorted_by_key(|query| query.at) && plan.last().unwrap().at < Duration::from_secs(100)
        );
        // In an exponential distribution 63.2 % of the gaps are below the mean, and the deviation equals the mean.
        let gaps: Vec<f64> =
            plan.windows(2).map(|pair| (pair[1].at - pair[0].at).as_secs_f64() * 1e3).collect();
        let below = gaps.iter().filter(|&&gap| gap < 1.0).count() as f64 / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - 1.0).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((0.62..0.645).contains(&below), "{below}");
        assert!((0.95..1.05).contains(&variance), "{variance}");
    }

    #[test]
    fn queries_ask_for_words_of_the_texts() {
        let corpus = corpus();
        let known: std::collections::HashSet<&[u8]> = corpus.documents().flat_map(Words::of::<str>).collect();
        for query in poisson(3, 1000, Duration::from_secs(1), &corpus) {
            assert!(query.word.is_empty() || known.contains(&*query.word), "{query:?}");
        }
    }
}
