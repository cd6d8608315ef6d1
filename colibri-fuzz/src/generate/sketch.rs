//! What tasks do, as it is drawn: a sketch at first, since who plays with whom is known only when all are there.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

use super::{STEPS, Swarm};
use crate::draw::{Even, Shape};
use crate::workload::{Action, Class, Settings, Step};

/// Work is at most so many quanta in one step, so that a case stays short.
const MOST_QUANTA_A_STEP: u32 = 64;

/// In a case of steady tasks these are most of all: the other kinds have 100 at most, each.
const STEADY_WEIGHT: u32 = 400;

/// A task as it is drawn, before it knows its place.
#[derive(Clone, Debug)]
pub(super) enum Sketch {
    Steps {
        rounds: u32,
        steps: Vec<Step>,
    },
    /// Two that wake each other in turn.
    PingPong {
        rounds: u32,
        work: Duration,
    },
    /// One that wakes all [`Sketch::Woken`], again and again.
    Storm {
        rounds: u32,
        pause: Duration,
    },
    Woken {
        rounds: u32,
        work: Duration,
    },
    /// Only gives way.
    Spinner {
        rounds: u32,
    },
    /// Thinks, asks for work, waits for it, again and again: a closed loop, which never asks faster than it is served.
    Client {
        turns: Vec<(Duration, Duration)>,
    },
    /// Works for dozens of quanta, and does nothing else.
    Steady {
        work: Duration,
        gap: Duration,
    },
    /// Starts the next link and waits for its end, before or after work of its own: a chain of awaits.
    Link {
        work: Duration,
        first: bool,
    },
}

pub(super) fn sketch(swarm: &Swarm, mean: Duration) -> Union<BoxedStrategy<Sketch>> {
    let lengths = swarm.lengths;
    let work = move || any::<Even>().prop_map(move |even| lengths.at(even, mean));
    let few = mean / 20;
    let quantum = swarm.settings.quantum;
    let steps = vec(step(swarm, mean), 1..7);
    // Straight plans always exist: the plainest cases, and what everything else shrinks to.
    let mut kinds = vec![(
        25 + swarm.sketches[0],
        (prop_oneof![6 => Just(1u32), 1 => 2..9u32], steps)
            .prop_map(|(rounds, steps)| Sketch::Steps { rounds, steps })
            .boxed(),
    )];
    let others = [
        (1..60u32, work())
            .prop_map(move |(rounds, work)| Sketch::PingPong { rounds, work: work.min(few) })
            .boxed(),
        (1..20u32, work()).prop_map(|(rounds, pause)| Sketch::Storm { rounds, pause }).boxed(),
        (1..20u32, work()).prop_map(|(rounds, work)| Sketch::Woken { rounds, work }).boxed(),
        (1..80u32).prop_map(|rounds| Sketch::Spinner { rounds }).boxed(),
        vec((any::<Even>(), any::<Even>()), 1..8)
            .prop_map(move |draws| {
                let turn = |(think, ask)| (Shape::Exponential.at(think, mean), lengths.at(ask, mean / 4));
                Sketch::Client { turns: draws.into_iter().map(turn).collect() }
            })
            .boxed(),
        (work(), any::<bool>()).prop_map(move |(work, first)| Sketch::Link { work: work / 8, first }).boxed(),
        (20..MOST_QUANTA_A_STEP, select(vec![quantum / 4, quantum / 3, quantum]))
            .prop_map(move |(quanta, gap)| Sketch::Steady { work: quantum * quanta, gap })
            .boxed(),
    ];
    let weights = swarm.sketches[1..].iter().copied();
    let steady = if swarm.rarities.steady { STEADY_WEIGHT } else { 0 };
    kinds.extend(weights.chain([steady]).zip(others).filter(|(weight, _)| *weight > 0));
    Union::new_weighted(kinds)
}

fn step(swarm: &Swarm, mean: Duration) -> Union<BoxedStrategy<Step>> {
    let (lengths, settings) = (swarm.lengths, swarm.settings.clone());
    let most = settings.quantum * MOST_QUANTA_A_STEP;
    let nano = Duration::from_nanos(1);
    let Settings { slice, quantum, .. } = settings;
    // Just before, at and just after what the scheduler measures by.
    let edges =
        vec![quantum - nano, quantum, quantum + nano, quantum * 2, slice - nano, slice, slice + nano, nano];
    let span = move || {
        prop_oneof![
            5 => any::<Even>().prop_map(move |even| lengths.at(even, mean)),
            1 => select(edges.clone()),
        ]
    };
    let tasks = swarm.tasks;
    let gaps = swarm.gaps.clone();
    let to = move || 0..tasks;
    let sleeps = vec![Duration::ZERO, nano, quantum, slice - nano, slice, slice + nano, slice * 3];
    let acts = |strategy: BoxedStrategy<Action>| strategy.prop_map(Step::Do).boxed();
    let kinds: [BoxedStrategy<Step>; STEPS] = [
        (span(), select(gaps))
            .prop_map(move |(total, gap)| Step::Work { total: total.min(most), gap: gap.max(nano) })
            .boxed(),
        Just(Step::Yield).boxed(),
        prop_oneof![span(), select(sleeps)].prop_map(Step::Sleep).boxed(),
        span().prop_map(|total| Step::Hold(total.min(Duration::from_secs(1)))).boxed(),
        acts(to().prop_map(Action::Wake).boxed()),
        acts(to().prop_map(Action::Spawn).boxed()),
        to().prop_map(Step::Join).boxed(),
        acts(to().prop_map(Action::Cancel).boxed()),
        acts(to().prop_map(Action::Pause).boxed()),
        acts(to().prop_map(Action::Resume).boxed()),
        acts((to(), select(Class::ALL.to_vec())).prop_map(|(of, class)| Action::SetClass(of, class)).boxed()),
        acts(to().prop_map(Action::Nudge).boxed()),
        acts(Just(Action::RequestYield).boxed()),
        Just(Step::Wait).boxed(),
        Just(Step::Panic).boxed(),
        prop_oneof![to().prop_map(Action::Wake), to().prop_map(Action::Nudge), to().prop_map(Action::Pause)]
            .prop_map(Step::WaitDoing)
            .boxed(),
        (span(), span(), 0..3u32)
            .prop_map(move |(limit, span, kind)| {
                let step = match kind {
                    0 => Step::Work { total: span.min(most), gap: (span / 7).max(nano) },
                    1 => Step::Sleep(span),
                    _ => Step::Wait,
                };
                Step::Within { limit, step: Box::new(step) }
            })
            .boxed(),
        acts(to().prop_map(Action::WakeFromAfar).boxed()),
        acts(to().prop_map(Action::Submit).boxed()),
        acts((0..4usize).prop_map(Action::SetActivity).boxed()),
        acts(to().prop_map(Action::SpawnFromAfar).boxed()),
    ];
    let mut weights = swarm.steps.clone();
    // Work always exists, waits and panics never rule: a case in which all tasks end at once shows nothing.
    weights[0] += 10;
    weights[13] = weights[13].min(4);
    weights[14] = weights[14].min(2);
    weights[15] = weights[15].min(4);
    // Each takes a thread of its own.
    weights[17] = weights[17].min(2);
    weights[20] = weights[20].min(2);
    Union::new_weighted(weights.into_iter().zip(kinds).filter(|(weight, _)| *weight > 0).collect())
}

pub(super) fn action(tasks: usize) -> impl Strategy<Value = Action> {
    prop_oneof![
        (0..tasks).prop_map(Action::Wake),
        (0..tasks).prop_map(Action::Spawn),
        (0..tasks).prop_map(Action::Cancel),
        (0..tasks).prop_map(Action::Pause),
        (0..tasks).prop_map(Action::Resume),
        (0..tasks, select(Class::ALL.to_vec())).prop_map(|(of, class)| Action::SetClass(of, class)),
        (0..tasks).prop_map(Action::Nudge),
        Just(Action::RequestYield),
        (0..tasks).prop_map(Action::WakeFromAfar),
        (0..tasks).prop_map(Action::Submit),
        (0..4usize).prop_map(Action::SetActivity),
        (0..tasks).prop_map(Action::SpawnFromAfar),
    ]
}

pub(super) fn is_later_link(place: usize, all: &[Sketch]) -> bool {
    let link = |sketch: &Sketch| matches!(sketch, Sketch::Link { .. });
    link(&all[place]) && all[..place].iter().any(link)
}

/// A sketch's steps once its place, and with it its partners, are known.
pub(super) fn finish(place: usize, sketch: &Sketch, all: &[Sketch]) -> (u32, Vec<Step>) {
    let work = |span: &Duration| Step::Work { total: *span, gap: *span };
    match sketch {
        Sketch::Steps { rounds, steps } => (*rounds, steps.clone()),
        Sketch::PingPong { rounds, work: span } => {
            let pongs = (0..all.len())
                .filter(|other| matches!(all[*other], Sketch::PingPong { .. }))
                .collect::<Vec<_>>();
            let mine = pongs.iter().position(|other| *other == place).unwrap_or(0);
            // The last one without a partner plays with itself: it wakes itself and goes on.
            let other = pongs.get(mine ^ 1).copied().unwrap_or(place);
            let (wake, wait) = (Step::Do(Action::Wake(other)), Step::Wait);
            (
                *rounds,
                if mine.is_multiple_of(2) {
                    vec![work(span), wake, wait]
                } else {
                    vec![wait, work(span), wake]
                },
            )
        }
        Sketch::Storm { rounds, pause } => {
            let woken = (0..all.len()).filter(|other| matches!(all[*other], Sketch::Woken { .. }));
            (*rounds, woken.map(|of| Step::Do(Action::Wake(of))).chain([Step::Sleep(*pause)]).collect())
        }
        Sketch::Woken { rounds, work: span } => (*rounds, vec![Step::Wait, work(span)]),
        Sketch::Steady { work, gap } => (1, vec![Step::Work { total: *work, gap: *gap }]),
        Sketch::Spinner { rounds } => (*rounds, vec![Step::Yield]),
        Sketch::Client { turns } => {
            let turn = |(think, ask): &(Duration, Duration)| {
                [
                    Step::Sleep(*think),
                    Step::Work { total: *ask, gap: (*ask / 4).max(Duration::from_nanos(1)) },
                ]
            };
            (1, turns.iter().flat_map(turn).collect())
        }
        Sketch::Link { work: span, first } => {
            let next = (place + 1..all.len()).find(|other| matches!(all[*other], Sketch::Link { .. }));
            let next = next.map(|next| [Step::Do(Action::Spawn(next)), Step::Join(next)]);
            let mut steps = next.into_iter().flatten().collect::<Vec<_>>();
            steps.insert(if *first { 0 } else { steps.len() }, work(span));
            (1, steps)
        }
    }
}
