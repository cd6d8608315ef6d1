//! Whether the rounds of two files differ by more than rounds differ anyway.

use crate::measure::Rounds;

/// How often chance alone may call any figure of two files moved.
pub(super) const CHANCE: f64 = 0.01;
/// Up to this many rounds on each side the chance is counted exactly.
const EXACT_MOST: usize = 40;

/// What two files say about a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judgement {
    /// The middle rounds.
    pub(super) before: f64,
    pub(super) after: f64,
    /// By how much the rounds of a file lie apart, as a share of their median; the noisier file's.
    pub(super) noise: f64,
    /// Whether there are rounds enough for so many figures.
    pub(super) can_tell: bool,
    /// Whether it is another figure now.
    pub(super) has_moved: bool,
    /// How likely it is that chance alone moves it so far.
    chance: f64,
    /// How little that could be with so many rounds.
    least_chance: f64,
    /// Whether the middle rounds differ by more than the noise.
    is_beyond: bool,
}

/// Judges all figures of two files, each with its rounds before and after; none where one side has no rounds.
///
/// Of many figures, chance moves some. So the rarest must be rarer than the allowed chance by the number of figures, the
/// next by one less, and so on (Holm's correction).
pub(super) fn judge<'a>(figures: impl IntoIterator<Item = (&'a [f64], &'a [f64])>) -> Vec<Option<Judgement>> {
    let mut judgements: Vec<_> = figures.into_iter().map(|(before, after)| look(before, after)).collect();
    // Those that not even by themselves could be told from chance are no candidates.
    let mut candidates: Vec<&mut Judgement> =
        judgements.iter_mut().flatten().filter(|one| one.least_chance < CHANCE).collect();
    candidates.sort_by(|one, other| one.chance.total_cmp(&other.chance));
    let count = candidates.len();
    let mut is_rare = true;
    for (place, judgement) in candidates.into_iter().enumerate() {
        is_rare &= judgement.chance < CHANCE / (count - place) as f64;
        judgement.can_tell = is_rare || judgement.least_chance < CHANCE / count as f64;
        judgement.has_moved = is_rare && judgement.is_beyond;
    }
    judgements
}

/// The least number of rounds in each of two files that can tell `figures` figures from chance.
pub(super) fn rounds_least(figures: usize) -> usize {
    let is_enough = |&rounds: &usize| least_chance(rounds, rounds) < CHANCE / figures.max(1) as f64;
    (1..=EXACT_MOST).find(is_enough).unwrap_or(EXACT_MOST)
}

/// If all rounds of one side lie above all of the other.
fn least_chance(a: usize, b: usize) -> f64 {
    // Twice one of all the orders: 2 / (a + b choose a).
    (1..=a).fold(2.0, |chance, number| chance * number as f64 / (b + number) as f64).min(1.0)
}

fn look(before: &[f64], after: &[f64]) -> Option<Judgement> {
    if before.is_empty() || after.is_empty() {
        return None;
    }
    let median = |rounds: &[f64]| Rounds::of(rounds.iter().copied()).median;
    let (first, second) = (median(before), median(after));
    let noise = noise_of(before).max(noise_of(after));
    let is_beyond = (second - first).abs() > noise * first.abs().min(second.abs());
    Some(Judgement {
        before: first,
        after: second,
        noise,
        can_tell: false,
        has_moved: false,
        chance: chance(before, after),
        least_chance: least_chance(before.len(), after.len()),
        is_beyond,
    })
}

/// Half the range of the middle half of `rounds`, as a share of their median.
fn noise_of(rounds: &[f64]) -> f64 {
    let mut sorted = rounds.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    let median = Rounds::of(sorted.iter().copied()).median;
    if median == 0.0 { 0.0 } else { (at(0.75) - at(0.25)) / 2.0 / median.abs() }
}

/// How likely it is that rounds of one and the same figure lie at least as far apart as these: the test of Mann, Whitney
/// and Wilcoxon, both sides. It looks at their order only, so that a single wild round counts for one.
fn chance(one: &[f64], other: &[f64]) -> f64 {
    // How often one of the first is above one of the second; equal ones count half. Doubled, so that it is whole.
    let doubled: usize =
        one.iter().flat_map(|a| other.iter().map(move |b| if a > b { 2 } else { usize::from(a == b) })).sum();
    let pairs = one.len() * other.len();
    let far = doubled.min(2 * pairs - doubled); // from the nearer end
    let tail = if one.len() <= EXACT_MOST && other.len() <= EXACT_MOST {
        exact_tail(one.len(), other.len(), far / 2)
    } else {
        normal_tail(one.len() as f64, other.len() as f64, far as f64 / 2.0)
    };
    (2.0 * tail).min(1.0)
}

/// The share of all orders of `a` and `b` rounds in which at most `most` pairs are the wrong way round.
fn exact_tail(a: usize, b: usize, most: usize) -> f64 {
    // ways[i][u]: orders of i of the first and j of the second with u such pairs, for j that grows.
    let mut ways = vec![vec![0.0_f64; a * b + 1]; a + 1];
    ways.iter_mut().for_each(|of| of[0] = 1.0);
    for j in 1..=b {
        for i in 1..=a {
            // The last is one of the first, above all j; or one of the second, which is above all i in none.
            for u in (j..=a * b).rev() {
                // In place: ways[i] is still that of j - 1, ways[i - 1] already that of j.
                let with = ways[i - 1][u - j];
                ways[i][u] += with;
            }
        }
    }
    let all: f64 = ways[a].iter().sum();
    ways[a][..=most.min(a * b)].iter().sum::<f64>() / all
}

/// The same for many rounds, by the normal distribution.
fn normal_tail(a: f64, b: f64, most: f64) -> f64 {
    let deviation = (a * b * (a + b + 1.0) / 12.0).sqrt();
    let distance = ((a * b / 2.0 - most - 0.5) / deviation).max(0.0);
    // Abramowitz and Stegun 26.2.17, to 1e-7.
    let t = 1.0 / (1.0 + 0.231_641_9 * distance);
    let polynomial = t
        * (0.319_381_530
            + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    (-distance * distance / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * polynomial
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chance_is_that_of_the_published_tables() {
        // All of five above all of five: 1 of 252 orders on each side.
        assert!((exact_tail(5, 5, 0) - 1.0 / 252.0).abs() < 1e-12);
        // Critical values at 0.05, both sides: U = 2 for 5 and 5, 23 for 10 and 10, 64 for 15 and 15.
        for (rounds, critical) in [(5, 2), (10, 23), (15, 64)] {
            assert!(2.0 * exact_tail(rounds, rounds, critical) <= 0.05, "{rounds}");
            assert!(2.0 * exact_tail(rounds, rounds, critical + 1) > 0.05, "{rounds}");
        }
        let (exact, normal) = (exact_tail(30, 30, 300), normal_tail(30.0, 30.0, 300.0));
        assert!((exact - normal).abs() < 0.001, "{exact} {normal}");
        assert!((exact_tail(4, 6, 24) - 1.0).abs() < 1e-12);
    }

    /// One figure by itself.
    fn judge(before: &[f64], after: &[f64]) -> Option<Judgement> {
        super::judge([(before, after)]).remove(0)
    }

    #[test]
    fn of_many_figures_chance_moves_none() {
        assert!((least_chance(5, 5) - 2.0 / 252.0).abs() < 1e-12 && least_chance(1, 1) == 1.0);
        assert_eq!([1, 2, 30, 300].map(rounds_least), [5, 6, 8, 10]);
        let before: Vec<f64> = (0..10).map(|number| 100.0 + f64::from(number) / 10.0).collect();
        let higher: Vec<f64> = before.iter().map(|round| round * 1.1).collect();
        // Nine of ten rounds above: rare for one figure, not for one of thirty.
        let mut mixed = higher.clone();
        mixed[0] = 99.0;
        assert!(judge(&before, &mixed).unwrap().has_moved);
        let same = (&before[..], &before[..]);
        let mut figures = vec![same; 30];
        figures[3] = (&before, &mixed);
        figures[7] = (&before, &higher);
        let moved: Vec<usize> = super::judge(figures.clone())
            .iter()
            .enumerate()
            .filter(|(_, judgement)| judgement.is_some_and(|one| one.has_moved))
            .map(|(place, _)| place)
            .collect();
        assert_eq!(moved, [7]);
        assert!(super::judge(figures).iter().flatten().all(|one| one.can_tell));
        // Five rounds are enough for one figure, for two they are not.
        let five = (&before[..5], &higher[..5]);
        assert!(super::judge([five]).iter().flatten().all(|one| one.can_tell && one.has_moved));
        assert!(super::judge([five, five]).iter().flatten().all(|one| !one.can_tell && !one.has_moved));
    }

    #[test]
    fn rounds_that_lie_apart_have_moved() {
        let before = [100.0, 101.0, 99.0, 100.5, 99.5];
        let higher = before.map(|round| round * 1.1);
        let judgement = judge(&before, &higher).unwrap();
        assert!(judgement.has_moved && judgement.can_tell, "{judgement:?}");
        assert_eq!(judgement.before, 100.0);
        assert!(judge(&higher, &before).unwrap().has_moved);
    }

    #[test]
    fn noise_has_not_moved() {
        let noisy = [100.0, 140.0, 80.0, 120.0, 90.0];
        let other = [130.0, 85.0, 110.0, 95.0, 150.0];
        assert!(!judge(&noisy, &other).unwrap().has_moved);
        assert!(!judge(&noisy, &noisy).unwrap().has_moved);
        // One wild round does not move a figure, nor do four good rounds prove anything.
        let wild = [100.0, 101.0, 99.0, 100.5, 900.0];
        assert!(!judge(&[100.0, 101.0, 99.0, 100.5, 99.5], &wild).unwrap().has_moved);
        let few = judge(&[1.0; 4], &[2.0; 4]).unwrap();
        assert!(!few.can_tell && !few.has_moved);
        assert_eq!(judge(&[], &[1.0]), None);
        assert!(!judge(&[0.0; 5], &[0.0; 5]).unwrap().has_moved);
    }
}
