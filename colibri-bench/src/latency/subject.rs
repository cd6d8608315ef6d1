//! A subject of `latency`, and what its rounds gave.

use hdrhistogram::Histogram;

use crate::loads::Bulk;
use crate::measure::{self, Disturbed, Rounds};
use crate::peers::{Peer, Round};

/// A subject's rounds, together and one by one.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) name: &'static str,
    pub(super) slug: &'static str,
    /// Whether it says anything that its thread was kept off the CPU.
    pub(super) is_alone: bool,
    /// From the planned arrivals on.
    pub(super) waits: Histogram<u64>,
    /// From the sending on.
    pub(super) since_sent: Histogram<u64>,
    /// By how much the sender was late.
    pub(super) late: Histogram<u64>,
    /// The 99th percentile of the waits of each round that had any, ns.
    pub(super) p99_nanos: Vec<f64>,
    /// MB in a second, per round.
    pub(super) throughput: Vec<f64>,
    /// MB in a second of the bulk thread's own time, per round; of the wall's where the system does not tell.
    pub(super) own_throughput: Vec<f64>,
    /// Share of each round in which the thread was kept off the CPU.
    pub(super) off_cpu: Vec<Option<f64>>,
    /// Slices of the bulk work that other programs disturbed.
    pub(super) disturbed: Disturbed,
    /// The plan was over before the bulk work was.
    pub(super) is_exhausted: bool,
}

impl Subject {
    /// Without any round.
    pub(super) fn of<B: Bulk>(peer: &dyn Peer<B>) -> Self {
        Self {
            name: peer.name(),
            slug: peer.slug(),
            is_alone: peer.is_alone(),
            waits: measure::histogram(),
            since_sent: measure::histogram(),
            late: measure::histogram(),
            p99_nanos: Vec::new(),
            throughput: Vec::new(),
            own_throughput: Vec::new(),
            off_cpu: Vec::new(),
            disturbed: Disturbed::default(),
            is_exhausted: false,
        }
    }

    /// Adds a round with a bulk work of so many bytes.
    pub(super) fn add(&mut self, round: &Round, bytes: u64) {
        let waits = measure::histogram_of(&round.waits.planned);
        if !waits.is_empty() {
            self.p99_nanos.push(waits.value_at_quantile(0.99) as f64);
        }
        self.waits.add(&waits).expect("it resizes itself");
        self.since_sent.add(measure::histogram_of(&round.waits.sent)).expect("it resizes itself");
        self.late.add(measure::histogram_of(&round.sent.late_nanos)).expect("it resizes itself");
        self.throughput.push(bytes as f64 / 1e6 / round.bulk.used.wall.as_secs_f64());
        self.own_throughput.push(bytes as f64 / 1e6 / round.bulk.used.cpu_or_wall().as_secs_f64());
        if self.is_alone {
            self.off_cpu.push(round.bulk.used.off_cpu());
            self.disturbed.merge(round.disturbed);
        }
        self.is_exhausted |= round.sent.exhausted;
    }

    /// The 99th percentile of the middle round: one that another program disturbed does not move it.
    pub(super) fn median_p99_nanos(&self) -> f64 {
        Rounds::of(self.p99_nanos.iter().copied()).median
    }

    /// Throughput of the rounds.
    pub(super) fn rates(&self) -> Rounds {
        Rounds::of(self.throughput.iter().copied())
    }

    /// The largest share of a round in which the thread was kept off the CPU; none if that is not known.
    pub(super) fn worst_off_cpu(&self) -> Option<f64> {
        self.off_cpu.iter().copied().flatten().reduce(f64::max)
    }

    /// Throughput as a share of `base`'s: the middle one of the rounds' ratios, each to the round beside it.
    pub(super) fn median_ratio(&self, base: &Subject) -> f64 {
        median_ratio(&self.throughput, &base.throughput)
    }

    /// The same by the thread's own time, in which interruptions are not.
    pub(super) fn median_own_ratio(&self, base: &Subject) -> f64 {
        median_ratio(&self.own_throughput, &base.own_throughput)
    }
}

fn median_ratio(own: &[f64], base: &[f64]) -> f64 {
    Rounds::of(own.iter().zip(base).map(|(own, base)| own / base)).median
}
