//! The scenario `slices`: one load under slices from 0.5 to 50 ms, responsiveness against throughput.
//!
//! A host owns the thread: it gives colibri a slice, then takes its turn, in which it answers the queries that have come and
//! paints a picture. Short slices let the queries wait less, and give the bulk work less of the thread.

mod host;
mod knee;
mod text;

use std::time::Duration;

use crate::allowance::Allowance;
use crate::cli::{Options, Scenario};
use crate::failure::Failure;
use crate::job::{self, Job};
use crate::loads::Index;
use crate::measure::{self, Disturbed};
use crate::progress::Progress;
use crate::report::{Report, duration};

use self::text::Setting;

/// The scenario.
pub(crate) const SLICES: Scenario = Scenario {
    name: "slices",
    about: "slices from 0.5 to 50 ms: the host's responsiveness against throughput, and the curve's knee",
    run,
};

/// Lengths of slices: doubled each time.
const LENGTHS: [Duration; 8] = [
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_millis(2),
    Duration::from_millis(4),
    Duration::from_millis(8),
    Duration::from_millis(16),
    Duration::from_millis(32),
    Duration::from_millis(50),
];

/// In a quick run the bulk job is to take about this long: eight of the longest slices.
const BULK_QUICK: Duration = Duration::from_millis(400);

/// Measures it.
fn run(options: &Options) -> Result<Report, Failure> {
    let allowance = Allowance::of(options);
    let rounds = options.rounds();
    let progress = Progress::new("slices", 1 + u64::from(rounds) * LENGTHS.len() as u64);
    progress.begin("warming up".to_owned());
    let job = Job::<Index>::fit(options, BULK_QUICK)?;
    progress.step();
    let plan = job.plan(options);

    let mut settings = LENGTHS.map(|length| Setting {
        length,
        waits: measure::histogram(),
        p99_nanos: Vec::new(),
        throughput: Vec::new(),
        own_throughput: Vec::new(),
        held: measure::histogram(),
        disturbed: Disturbed::default(),
        late: measure::histogram(),
        off_cpu: Vec::new(),
        is_exhausted: false,
    });
    for number in allowance.rounds(rounds) {
        for setting in &mut settings {
            let name = duration(setting.length.as_nanos() as u64);
            progress.begin(format!("round {number} of {rounds}: {name}"));
            let round = host::round(setting.length, &job.corpus, &plan)?;
            job.check(&name, &round.done, round.index)?;
            job::check_answers(&name, round.sent.late_nanos.len(), round.waits.planned.len())?;
            setting.add(&round, job.corpus.bytes());
            progress.step();
        }
    }
    drop(progress);
    Ok(text::report(options, &job, &settings))
}
