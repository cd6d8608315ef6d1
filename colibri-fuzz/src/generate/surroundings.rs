//! What surrounds the tasks, as it is drawn: the host, the scheduler's limits, the clock.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Rarities, Swarm};
use crate::draw::{Even, Shape};
use crate::workload::{ClockStep, Faults, Host, Punctuality, Settings};

pub(super) fn host(swarm: &Swarm) -> impl Strategy<Value = Host> + use<> {
    let slice = swarm.settings.slice;
    let nano = Duration::from_nanos(1);
    let lengths = vec![slice, slice / 3, slice * 4, nano, Duration::ZERO];
    let away = vec![
        Duration::ZERO,
        nano,
        slice / 2,
        slice * 3,
        swarm.settings.upgrade_after,
        Duration::from_secs(5),
    ];
    let timers = vec![
        Punctuality::InTime,
        Punctuality::Early(nano),
        Punctuality::Late(nano),
        Punctuality::Late(slice * 2),
        Punctuality::Early(slice),
    ];
    let most = |which: usize| if swarm.host[which] { 3usize } else { 0 };
    (vec(select(lengths), 0..=most(0)), vec(select(away), 0..=most(1)), vec(select(timers), 0..=most(2)))
        .prop_map(|(turns, away, timers)| {
            // Turns of no length at all need one that gets on with the work beside them.
            let useless = turns.iter().all(|turn| turn.is_zero());
            Host { turns: if useless { Vec::new() } else { turns }, away, timers }
        })
}

/// Slices by activity, the most tasks, whether the observer is a bad one.
pub(super) fn limits(swarm: &Swarm) -> impl Strategy<Value = (Vec<Duration>, Option<usize>, bool)> + use<> {
    let (slice, tasks, rarities) = (swarm.settings.slice, swarm.tasks, swarm.rarities);
    let policy = if rarities.policy { vec![slice, slice / 2, slice * 6, slice * 2] } else { vec![] };
    (1..=tasks).prop_map(move |most| (policy.clone(), rarities.limit.then_some(most), rarities.bad_observer))
}

/// What is wrong with the clock. It steps back by at most 20 ms in all, or by a second and more: the scheduler waits for
/// a clock that steps back by little, but not again and again, and for how long is its own affair.
pub(super) fn faults(swarm: &Swarm, horizon: Duration) -> impl Strategy<Value = Faults> + use<> {
    let Settings { slice, quantum, .. } = swarm.settings;
    let ms = Duration::from_millis;
    let grains = vec![Duration::from_micros(100), ms(1), ms(2), ms(16), quantum, quantum + ms(1)];
    let ahead = (any::<Even>(), select(vec![ms(1), slice, quantum, ms(700), ms(2_000)]));
    let ahead = ahead.prop_map(move |(at, by)| ClockStep::Ahead(Shape::Uniform.at(at, horizon / 2), by));
    let back = (any::<Even>(), select(vec![Duration::from_nanos(1), ms(1), ms(5), ms(2_000)]));
    let back = back.prop_map(move |(at, by)| ClockStep::Back(Shape::Uniform.at(at, horizon / 2), by));
    let Rarities { coarse_clock, clock_steps, .. } = swarm.rarities;
    let most = if clock_steps { 4 } else { 0 };
    (select(grains), vec(prop_oneof![ahead, back], 0..=most)).prop_map(move |(grain, mut steps)| {
        steps.sort_by_key(|step| match step {
            ClockStep::Ahead(at, _) | ClockStep::Back(at, _) => *at,
        });
        Faults { coarse: coarse_clock.then_some(grain), steps }
    })
}
