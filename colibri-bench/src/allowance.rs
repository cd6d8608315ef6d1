//! How many rounds there is time for.

use std::time::{Duration, Instant};

use crate::cli::Options;

/// How long the rounds of a quick run may go on: with what comes before and after them, it then ends in under a minute,
/// on a slow machine too.
const QUICK: Duration = Duration::from_secs(40);
/// The same where it is one of all: together they end in some two minutes.
const QUICK_OF_ALL: Duration = Duration::from_secs(16);

/// By when a scenario has to have ended its rounds, if it has to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance {
    end: Option<Instant>,
}

impl Allowance {
    /// That of a scenario which begins now. A quick run has little time, unless its rounds were asked for by number.
    pub(crate) fn of(options: &Options) -> Self {
        let quick = if options.is_of_all { QUICK_OF_ALL } else { QUICK };
        Self { end: options.is_short_of_time().then(|| Instant::now() + quick) }
    }

    /// None any more, for tests.
    #[cfg(test)]
    pub(crate) fn over() -> Self {
        Self { end: Some(Instant::now()) }
    }

    /// The numbers of at most `most` rounds, from 1 on, each to be asked for when it begins. They end early when the next
    /// one would not end in time if it took as long as the longest so far. The first always takes place.
    pub(crate) fn rounds(self, most: u32) -> impl Iterator<Item = u32> {
        let mut pace = Pace { end: self.end, begun: Instant::now(), longest: Duration::ZERO };
        (1..=most).take_while(move |&number| number == 1 || pace.has_room(Instant::now()))
    }

    /// Whether what can be left out should be.
    pub(crate) fn is_over(self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// How long the rounds so far took.
#[derive(Debug)]
struct Pace {
    end: Option<Instant>,
    /// When the last one began.
    begun: Instant,
    longest: Duration,
}

impl Pace {
    /// The last round has ended: does another one like the longest fit in?
    fn has_room(&mut self, now: Instant) -> bool {
        self.longest = self.longest.max(now.saturating_duration_since(self.begun));
        self.begun = now;
        self.end.is_none_or(|end| now + self.longest <= end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn rounds_end_when_one_like_the_longest_does_not_fit_in_any_more() {
        let start = Instant::now();
        let mut pace = Pace { end: Some(start + 10 * SECOND), begun: start, longest: Duration::ZERO };
        assert!(pace.has_room(start + 3 * SECOND)); // 3 s long: the next may end at 6 s
        assert!(pace.has_room(start + 4 * SECOND)); // 1 s long: the next may take 3 s all the same
        assert!(pace.has_room(start + 7 * SECOND)); // the next may just end in time
        assert!(!pace.has_room(start + 8 * SECOND)); // the next may end at 11 s
    }

    #[test]
    fn without_an_end_all_rounds_take_place_and_with_one_at_least_the_first() {
        let (unlimited, over) = (Allowance { end: None }, Allowance::over());
        assert!(unlimited.rounds(4).eq(1..=4) && !unlimited.is_over());
        assert!(over.rounds(4).eq(1..=1) && over.is_over());
    }
}
