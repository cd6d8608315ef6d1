//! A bulk job that is ready to be run: its input, what it comes to, and the queries beside it.

use std::marker::PhantomData;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::cli::Options;
use crate::failure::Failure;
use crate::input::Corpus;
use crate::loads::{Bulk, Done, LocalIndex};
use crate::measure::Watch;
use crate::plan::{self, Query};
use crate::report::{count, digits};

/// How much is worked on to find out how fast this machine is.
const TRIAL_BYTES: u64 = 8 << 20;
/// Input is cut to whole MiB, so that --input-limit can name it.
const MEBIBYTE: u64 = 1 << 20;

/// The plan reaches this many times as far as the bulk job takes without any query: no subject may run out of load.
const HORIZON_FACTOR: u32 = 8;
/// The least the plan reaches beyond that.
const HORIZON_LEAST: Duration = Duration::from_secs(1);

/// The job `B` with its input. It was run once, alone; this also warms memory and caches for everyone.
#[derive(Debug)]
pub(crate) struct Job<B> {
    /// What it works on.
    pub(crate) corpus: Arc<Corpus>,
    /// How long the plain function took for it.
    pub(crate) wall: Duration,
    /// At most so much is read.
    limit_bytes: u64,
    done: Done,
    /// Different words in the index.
    terms: usize,
    /// The index's fingerprint in the end.
    index: u64,
    kind: PhantomData<fn() -> B>,
}

impl<B: Bulk> Job<B> {
    /// Reads the input; for a quick run as much as this machine gets through in `quick`, about: more text makes the index
    /// outgrow the caches, so that it takes rather longer. At least 1 MiB, and whole ones.
    ///
    /// # Errors
    ///
    /// [`Failure::Input`] if there is nothing to work on.
    pub(crate) fn fit(options: &Options, quick: Duration) -> Result<Self, Failure> {
        let corpus = B::read(options)?;
        let limit_bytes = options.input_limit_bytes(B::INPUT_FACTOR);
        if !options.fits_input() {
            return Ok(Self { limit_bytes, ..Self::of(corpus) });
        }
        let trial = Self::of(corpus.beginning(TRIAL_BYTES));
        let bytes = trial.corpus.bytes() as f64 * quick.as_secs_f64() / trial.wall.as_secs_f64();
        let limit_bytes = limit_bytes.min((bytes as u64 / MEBIBYTE).max(1) * MEBIBYTE);
        Ok(Self { limit_bytes, ..Self::of(corpus.beginning(limit_bytes)) })
    }

    /// All of `corpus`.
    pub(crate) fn of(corpus: Corpus) -> Self {
        let corpus = Arc::new(corpus);
        let index = Rc::new(LocalIndex::new());
        B::begin(&corpus, Rc::clone(&index));
        let watch = Watch::start();
        let done = B::plain(Arc::clone(&corpus), Rc::clone(&index));
        let wall = watch.stop().wall;
        let (terms, index, limit_bytes) = (index.terms(), index.fingerprint(), corpus.bytes());
        Self { corpus, wall, limit_bytes, done, terms, index, kind: PhantomData }
    }

    /// The queries of a round.
    pub(crate) fn plan(&self, options: &Options) -> Arc<Vec<Query>> {
        let horizon = self.wall * HORIZON_FACTOR + HORIZON_LEAST;
        Arc::new(plan::poisson(options.seed, options.rate, horizon, &self.corpus))
    }

    /// A figure of work that was not done is worth nothing.
    ///
    /// # Errors
    ///
    /// [`Failure::Run`] if `done` and the index are not what the plain function came to.
    pub(crate) fn check(&self, name: &str, done: &Done, index: u64) -> Result<(), Failure> {
        if (done, index) == (&self.done, self.index) {
            return Ok(());
        }
        Err(Failure::Run(format!(
            "\"{name}\" came to another result than the plain function: {done:?} instead of {:?}. Please report this.",
            self.done
        )))
    }

    /// The options of the command line that make the same job again.
    pub(crate) fn options(&self, options: &Options) -> String {
        let limit_mib = self.limit_bytes / MEBIBYTE;
        let Options { seed, rate, input, .. } = options;
        let input = input.as_ref().map_or(String::new(), |folder| format!(" --input {}", folder.display()));
        let lossy = if options.lossy { " --lossy" } else { "" };
        format!("--seed {seed} --rate {rate} --input-limit {limit_mib}{input}{lossy}")
    }

    /// What it does, in a sentence.
    pub(crate) fn say(&self) -> String {
        let corpus = &self.corpus;
        format!(
            "it {}, {} MB in {} files below {}: {}.",
            B::ABOUT,
            digits(corpus.bytes() as f64 / 1e6),
            count(corpus.documents().count() as u64),
            shorten(corpus.folder()),
            B::say(corpus, &self.done, self.terms)
        )
    }

    /// What the reader has to know about the input, a line each.
    pub(crate) fn notes(&self) -> String {
        self.corpus.notes().iter().flat_map(|note| ["\n", note]).collect()
    }
}

/// A query that was not answered would be missing among the longest waits.
///
/// # Errors
///
/// [`Failure::Run`] if not all were.
pub(crate) fn check_answers(name: &str, sent: usize, answered: usize) -> Result<(), Failure> {
    if sent == answered {
        return Ok(());
    }
    Err(Failure::Run(format!("\"{name}\" answered {answered} queries of {sent}. Please report this.")))
}

/// A path below the home folder as `~/…`.
fn shorten(path: &Path) -> String {
    match std::env::home_dir().and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::Index;

    #[test]
    fn work_that_was_not_done_is_a_failure() {
        let job = Job::<Index>::of(Corpus::of(&["a few words", "and some more"]));
        let Done { items, .. } = job.done;
        assert_eq!((items, job.terms), (6, 6));
        job.check("a", &job.done, job.index).unwrap();
        let failure = job.check("a", &Done { items: 5, ..job.done }, job.index).unwrap_err().to_string();
        assert!(failure.contains("\"a\" came to another result"), "{failure}");
        assert!(job.check("a", &job.done, job.index + 1).is_err());
        assert!(check_answers("a", 2, 1).is_err() && check_answers("a", 2, 2).is_ok());
    }
}
