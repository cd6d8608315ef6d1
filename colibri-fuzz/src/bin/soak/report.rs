//! What the rounds did, and whether the memory grew.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use colibri_fuzz::span;

use crate::arguments::Arguments;
use crate::memory::Memory;
use crate::round::Round;

/// By how much the most memory of the second half of the rounds may exceed that of the first, beyond what more tasks at
/// once take. Tables grow to the largest number of tasks, wakers and timers that there ever were at once, which depends on
/// what else the machine does, and each of them doubles at a step. What leaks for each task shows all the same: in an hour
/// half a byte of each exceeds it.
const ALLOWED_GROWTH: f64 = 0.25;

/// Over less than this a slope an hour says nothing.
const LEAST_FOR_A_SLOPE: Duration = Duration::from_secs(60);

const MIB: f64 = (1 << 20) as f64;

/// All rounds so far.
pub(crate) struct Report {
    seed: u64,
    tasks: usize,
    rounds: Vec<Round>,
    memory: Vec<(Duration, Memory)>,
    /// When it was over, and the memory before and after all.
    end: Option<(Duration, Memory, Memory)>,
}

impl Report {
    pub(crate) fn new(arguments: &Arguments) -> Self {
        Report {
            seed: arguments.seed,
            tasks: arguments.tasks,
            rounds: Vec::new(),
            memory: Vec::new(),
            end: None,
        }
    }

    /// After a round, at `at`.
    pub(crate) fn add(&mut self, at: Duration, round: Round, memory: Memory) {
        self.rounds.push(round);
        self.memory.push((at, memory));
    }

    /// What it takes of the heap itself.
    pub(crate) fn bytes(&self) -> usize {
        let texts = self.rounds.iter().filter_map(|round| round.lost.as_ref());
        self.rounds.capacity() * size_of::<Round>()
            + self.memory.capacity() * size_of::<(Duration, Memory)>()
            + texts.map(String::capacity).sum::<usize>()
    }

    /// The last round in a few words.
    pub(crate) fn line(&self) -> String {
        let live = self.memory.last().map_or(0, |(_, memory)| memory.live);
        format!("round {}, {:.1} MiB live", self.rounds.len(), live as f64 / MIB)
    }

    /// After the scheduler's end: whether all was well.
    pub(crate) fn end(&mut self, took: Duration, before: Memory, after: Memory) -> Result<(), String> {
        self.end = Some((took, before, after));
        if let Some(lost) = self.rounds.iter().find_map(|round| round.lost.as_ref()) {
            return Err(format!("something was lost: {lost}"));
        }
        if after.live > before.live {
            return Err(format!(
                "the scheduler is gone, and {} bytes more are in use than before it",
                after.live - before.live
            ));
        }
        let half = self.rounds.len() / 2;
        match (self.most(0..half), self.most(half..self.rounds.len())) {
            (Some((bytes, tasks)), Some((later_bytes, later_tasks)))
                if later_bytes as f64
                    > bytes as f64
                        * (later_tasks as f64 / tasks as f64).max(1.0)
                        * (1.0 + ALLOWED_GROWTH) =>
            {
                Err(format!(
                    "memory grows: at most {bytes} bytes after the rounds of the first half, with at most {tasks} tasks at \
                     once, {later_bytes} after those of the second, with {later_tasks}"
                ))
            }
            _ => Ok(()),
        }
    }

    /// The most bytes after, and the most tasks at once in, these rounds.
    fn most(&self, rounds: Range<usize>) -> Option<(usize, usize)> {
        let bytes = self.memory[rounds.clone()].iter().map(|(_, memory)| memory.live).max()?;
        let tasks = self.rounds[rounds].iter().map(|round| round.most_live).max()?;
        Some((bytes, tasks))
    }

    fn sum(&self, of: impl Fn(&Round) -> u64) -> u64 {
        self.rounds.iter().map(of).sum()
    }

    /// The slope of the straight line nearest to the second half's memory, in bytes an hour.
    fn growth_an_hour(&self, of: impl Fn(&Memory) -> Option<usize>) -> Option<f64> {
        let second = &self.memory[self.memory.len() / 2..];
        let points: Vec<(f64, f64)> = second
            .iter()
            .filter_map(|(at, memory)| Some((at.as_secs_f64() / 3600.0, of(memory)? as f64)))
            .collect();
        let (first, last) = (second.first()?.0, second.last()?.0);
        if last - first < LEAST_FOR_A_SLOPE {
            return None;
        }
        let count = points.len() as f64;
        let (mean_x, mean_y) =
            points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
        let (above, below) = points.iter().fold((0.0, 0.0), |(above, below), (x, y)| {
            (above + (x - mean_x) * (y - mean_y), below + (x - mean_x).powi(2))
        });
        (below > 0.0).then(|| above / below)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((took, before, after)) = self.end else { return f.write_str("not over") };
        writeln!(
            f,
            "soak: {} rounds of {} tasks in {}, seed {}",
            self.rounds.len(),
            self.tasks,
            span::to_text(Duration::from_millis(took.as_millis() as u64)),
            self.seed
        )?;
        let (spawned, finished) = (self.sum(|round| round.spawned), self.sum(|round| round.finished));
        let panicked = self.sum(|round| round.panicked);
        writeln!(
            f,
            "tasks:   {spawned} accepted (at most {} at once) = {finished} finished + {panicked} panicked + {} cancelled, \
             aborted or out of time; {} refused; {} polls",
            self.rounds.iter().map(|round| round.most_live).max().unwrap_or(0),
            spawned.saturating_sub(finished + panicked),
            self.sum(|round| round.refused),
            self.sum(|round| round.polls),
        )?;
        writeln!(
            f,
            "threads: {} wakes, {} aborts, {} spawns",
            self.sum(|round| round.deeds.wakes),
            self.sum(|round| round.deeds.aborts),
            self.sum(|round| round.deeds.spawns)
        )?;
        let live = |index: usize| self.memory[index].1.live as f64 / MIB;
        write!(
            f,
            "memory:  live after the first round {:.2} MiB, after the last {:.2} MiB",
            live(0),
            live(self.memory.len() - 1)
        )?;
        if let Some(growth) = self.growth_an_hour(|memory| Some(memory.live)) {
            write!(f, ", growing by {:.2} MiB an hour over the second half", growth / MIB)?;
        }
        if let Some(growth) = self.growth_an_hour(|memory| memory.resident) {
            let resident = self.memory.last().and_then(|(_, memory)| memory.resident).unwrap_or(0);
            write!(f, "; resident {:.1} MiB, {:.2} MiB an hour", resident as f64 / MIB, growth / MIB)?;
        }
        write!(
            f,
            "\n         after the scheduler's end {} bytes, before it {} bytes",
            after.live, before.live
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of rounds with so many tasks at once, after which so many bytes are in use.
    fn verdict(rounds: &[(usize, usize)]) -> Result<(), String> {
        let nothing = Memory { live: 0, resident: None };
        let (rounds, memory) = rounds
            .iter()
            .map(|&(most_live, live)| {
                let round = Round { most_live, ..Round::default() };
                (round, (Duration::ZERO, Memory { live, resident: None }))
            })
            .unzip();
        Report { seed: 1, tasks: 1000, rounds, memory, end: None }.end(Duration::ZERO, nothing, nothing)
    }

    #[test]
    fn memory_may_grow_with_the_tasks_at_once_and_not_else() {
        assert_eq!(verdict(&[(1000, 100_000), (1000, 110_000)]), Ok(()));
        assert_eq!(verdict(&[(1000, 100_000), (2000, 220_000)]), Ok(()));
        assert!(verdict(&[(1000, 100_000), (500, 130_000)]).unwrap_err().contains("memory grows"));
        assert!(verdict(&[(1000, 100_000), (2000, 260_000)]).unwrap_err().contains("memory grows"));
    }
}
