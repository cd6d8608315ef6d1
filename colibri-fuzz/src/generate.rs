//! Strategies that draw workloads, for proptest.
//!
//! They are *swarms*: each case first draws which features exist at all (about half of them) and how heavy each is,
//! then tasks by these weights. A uniform mix of everything would hide what only a pure diet shows: nothing but
//! yields, nothing but timers.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

use crate::draw::{Arrivals, Even, Shape};
use crate::workload::{
    Action, Class, ClockStep, Faults, Host, Outside, Plan, Punctuality, Settings, Step, Workload,
};

/// Kinds of steps, in the order of [`Swarm::steps`]. Shrinking prefers the earlier ones.
const STEPS: usize = 20;
/// Kinds of tasks, in the order of [`Swarm::sketches`].
const SKETCHES: usize = 7;
/// One case in so many is a crowd: it takes as long as a hundred others.
const CASES_A_CROWD: u32 = 300;
/// Work is at most so many quanta in one step, so that a case stays short.
const MOST_QUANTA_A_STEP: u32 = 64;

/// What a case is made of.
#[derive(Clone, Debug)]
struct Swarm {
    /// A weight for each kind of step; 0: it does not occur.
    steps: Vec<u32>,
    /// A weight for each kind of task.
    sketches: Vec<u32>,
    classes: [u32; 3],
    settings: Settings,
    lengths: Shape,
    /// A task's mean work in quanta, times ten.
    tenths_of_quanta: u32,
    /// The gap between checkpoints, as a part of the quantum.
    gaps: Vec<Duration>,
    arrivals: Arrivals,
    /// Between two arrivals, in tenths of the mean work: 10 means an offered load of 1.
    interval: u32,
    tasks: usize,
    outside: usize,
    /// Weights to draw from.
    weights: Vec<u32>,
    host: Vec<bool>,
    rarities: Rarities,
    /// So many tasks are made of those that were drawn, in a few cases.
    crowd: Option<usize>,
}

/// Which of the seldom features a case has.
#[derive(Clone, Copy, Debug)]
struct Rarities {
    policy: bool,
    limit: bool,
    bad_observer: bool,
    bad_drops: bool,
    deadlines: bool,
    coarse_clock: bool,
    clock_steps: bool,
}

/// Draws workloads of all kinds, of a size that simulates in about a millisecond.
pub fn any_workload() -> impl Strategy<Value = Workload> {
    // Without no_shrink, shrinking a weight would redraw the whole case.
    swarm().no_shrink().prop_flat_map(workload)
}

fn swarm() -> impl Strategy<Value = Swarm> {
    let weight = || prop_oneof![Just(0u32), 1..=4u32, 1..=100u32];
    let micros = |list: &'static [u64]| select(list).prop_map(Duration::from_micros);
    let settings = prop_oneof![
        1 => Just(Settings::default()),
        2 => (micros(&[100, 1_000, 2_000, 8_000, 50_000]), micros(&[50, 500, 2_000, 10_000]), micros(&[1_000, 10_000, 60_000, 500_000]))
            .prop_map(|(slice, quantum, upgrade_after)| Settings {
                slice,
                quantum,
                upgrade_after,
                ..Settings::default()
            }),
    ];
    let arrivals = prop_oneof![
        Just(Arrivals::AtOnce),
        Just(Arrivals::Periodic),
        Just(Arrivals::Poisson),
        (2..12u32).prop_map(Arrivals::Bursts)
    ];
    let rarity = || prop::bool::weighted(1.0 / 8.0);
    let rarities = (rarity(), rarity(), rarity(), rarity(), rarity(), rarity(), rarity()).prop_map(
        |(policy, limit, bad_observer, bad_drops, deadlines, coarse_clock, clock_steps)| Rarities {
            policy,
            limit,
            bad_observer,
            bad_drops,
            deadlines,
            coarse_clock,
            clock_steps,
        },
    );
    // From a thousand to a hundred thousand, each power of ten as likely as the other.
    let crowd = (3.0..5.0f64).prop_map(|power| Some(10f64.powf(power) as usize));
    let crowd = prop_oneof![CASES_A_CROWD - 1 => Just(None), 1 => crowd];
    let classes = prop_oneof![
        Just([0, 1, 0]),
        Just([1, 1, 1]),
        Just([1, 0, 6]),
        [weight(), weight(), weight()].prop_map(|[a, b, c]| [a, b, c + 1])
    ];
    // Few tasks find most faults, many find the rest; a third of the cases is small enough to read as it is.
    let tasks = prop_oneof![3 => 1..5usize, 5 => 4..24usize, 1 => 24..120usize];
    (
        (vec(weight(), STEPS), vec(weight(), SKETCHES), classes, settings, rarities, crowd),
        (select(Shape::ALL.to_vec()), prop_oneof![1..12u32, 10..60u32], vec(0..8usize, 1..3)),
        (
            arrivals,
            prop_oneof![2..12u32, 10..40u32],
            tasks,
            prop_oneof![Just(0usize), 1..12usize],
            vec(any::<bool>(), 3),
            prop_oneof![3 => Just(vec![1u32]), 1 => Just(vec![1, 1, 2, 3, 8])],
        ),
    )
        .prop_map(
            |(
                (steps, sketches, classes, settings, rarities, crowd),
                (lengths, tenths_of_quanta, gaps),
                arrival,
            )| {
                let (arrivals, interval, tasks, outside, host, weights) = arrival;
                let nano = Duration::from_nanos(1);
                let q = settings.quantum;
                // Gaps that divide the quantum, that just miss it on either side, and that are longer than it.
                let gap = [q / 20, q / 4, q / 3, q - nano, q, q + nano, q * 3 / 2, q * 5];
                let gaps = gaps.into_iter().map(|place| gap[place]).collect();
                Swarm {
                    steps,
                    sketches,
                    classes,
                    settings,
                    lengths,
                    tenths_of_quanta,
                    gaps,
                    arrivals,
                    interval,
                    tasks,
                    outside,
                    weights,
                    host,
                    rarities,
                    crowd,
                }
            },
        )
}

/// A task as it is drawn, before it knows its place.
#[derive(Clone, Debug)]
enum Sketch {
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
    /// Starts the next link and waits for its end, before or after work of its own: a chain of awaits.
    Link {
        work: Duration,
        first: bool,
    },
}

fn workload(swarm: Swarm) -> impl Strategy<Value = Workload> {
    let mean = mean_work(&swarm);
    let interval = (mean * swarm.interval / 10).max(Duration::from_micros(1));
    let horizon = interval * swarm.tasks as u32 + mean * swarm.tasks as u32;
    let (settings, arrivals, tasks) = (swarm.settings.clone(), swarm.arrivals, swarm.tasks);
    let class = Union::new_weighted(
        swarm
            .classes
            .iter()
            .zip(Class::ALL)
            .filter(|(weight, _)| **weight > 0)
            .map(|(weight, class)| (*weight, Just(class)))
            .collect(),
    );
    // A task in twelve comes only if another spawns it.
    let weight = select(swarm.weights.clone());
    let rarely = |on: bool| prop::bool::weighted(if on { 0.25 } else { 0.0 });
    let deadline = (rarely(swarm.rarities.deadlines), any::<Even>()).prop_map(move |(due, even)| {
        due.then(|| Shape::Exponential.at(even, mean * 4).max(Duration::from_nanos(1)))
    });
    let seldom = (deadline, rarely(swarm.rarities.bad_drops));
    let task = (class, any::<Even>(), prop::bool::weighted(1.0 / 12.0), weight, seldom, sketch(&swarm, mean));
    let outside = vec((any::<Even>(), action(tasks)), 0..=swarm.outside);
    let crowd = swarm.crowd;
    let surroundings = (outside, host(&swarm), limits(&swarm), faults(&swarm, horizon));
    (vec(task, 1..=tasks), surroundings).prop_map(move |(drawn, (outside, host, limits, clock))| {
        let times = arrivals.times(drawn.iter().map(|(_, even, ..)| *even), interval).collect::<Vec<_>>();
        let sketches = drawn.iter().map(|(.., sketch)| sketch.clone()).collect::<Vec<_>>();
        let plans = drawn.iter().zip(&times).enumerate();
        let tasks =
            plans.map(|(place, ((class, _, on_demand, weight, (deadline, bad_drop), sketch), at))| {
                let (rounds, steps) = finish(place, sketch, &sketches);
                let on_demand = *on_demand || is_later_link(place, &sketches);
                Plan {
                    class: *class,
                    arrives: (!on_demand).then_some(*at),
                    weight: *weight,
                    deadline: *deadline,
                    bad_drop: *bad_drop,
                    rounds,
                    steps,
                }
            });
        let mut outside = outside
            .into_iter()
            .map(|(even, action)| Outside { at: Shape::Uniform.at(even, horizon / 2), action })
            .collect::<Vec<_>>();
        outside.sort_by_key(|outside| outside.at);
        let (policy, max_tasks, bad_observer) = limits;
        let settings = Settings { policy, max_tasks, bad_observer, ..settings.clone() };
        let mut workload = Workload { settings, host, tasks: tasks.collect(), outside, clock };
        let many = workload.tasks.len();
        resolve(&mut workload, many);
        if let Some(crowd) = crowd {
            grow(&mut workload, crowd);
        }
        workload
    })
}

/// Makes a crowd of the tasks that were drawn: each of them again and again, with little to do.
fn grow(workload: &mut Workload, crowd: usize) {
    for plan in &mut workload.tasks {
        plan.rounds = 1;
        plan.steps.truncate(3);
        for step in &mut plan.steps {
            if let Step::Work { total, gap } = step.innermost_mut() {
                *gap = *total;
            }
        }
    }
    let many = workload.tasks.len();
    workload.tasks = workload.tasks.iter().cycle().take(crowd.max(many)).cloned().collect();
    // Else most of them would be refused.
    workload.settings.max_tasks = workload.settings.max_tasks.map(|most| most.max(crowd / 2));
}

fn is_later_link(place: usize, all: &[Sketch]) -> bool {
    let link = |sketch: &Sketch| matches!(sketch, Sketch::Link { .. });
    link(&all[place]) && all[..place].iter().any(link)
}

/// Slices by activity, the most tasks, whether the observer is a bad one.
fn limits(swarm: &Swarm) -> impl Strategy<Value = (Vec<Duration>, Option<usize>, bool)> + use<> {
    let (slice, tasks, rarities) = (swarm.settings.slice, swarm.tasks, swarm.rarities);
    let policy = if rarities.policy { vec![slice, slice / 2, slice * 6, slice * 2] } else { vec![] };
    (1..=tasks).prop_map(move |most| (policy.clone(), rarities.limit.then_some(most), rarities.bad_observer))
}

/// What is wrong with the clock. It steps back by at most 20 ms in all, or by a second and more: the scheduler waits for
/// a clock that steps back by little, but not again and again, and for how long is its own affair.
fn faults(swarm: &Swarm, horizon: Duration) -> impl Strategy<Value = Faults> + use<> {
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

fn mean_work(swarm: &Swarm) -> Duration {
    swarm.settings.quantum * swarm.tenths_of_quanta / 10
}

fn host(swarm: &Swarm) -> impl Strategy<Value = Host> + use<> {
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

fn sketch(swarm: &Swarm, mean: Duration) -> Union<BoxedStrategy<Sketch>> {
    let lengths = swarm.lengths;
    let work = move || any::<Even>().prop_map(move |even| lengths.at(even, mean));
    let few = mean / 20;
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
    ];
    kinds.extend(swarm.sketches[1..].iter().copied().zip(others).filter(|(weight, _)| *weight > 0));
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
    ];
    let mut weights = swarm.steps.clone();
    // Work always exists, waits and panics never rule: a case in which all tasks end at once shows nothing.
    weights[0] += 10;
    weights[13] = weights[13].min(4);
    weights[14] = weights[14].min(2);
    weights[15] = weights[15].min(4);
    // Each takes a thread of its own.
    weights[17] = weights[17].min(2);
    Union::new_weighted(weights.into_iter().zip(kinds).filter(|(weight, _)| *weight > 0).collect())
}

fn action(tasks: usize) -> impl Strategy<Value = Action> {
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
    ]
}

/// A sketch's steps once its place, and with it its partners, are known.
fn finish(place: usize, sketch: &Sketch, all: &[Sketch]) -> (u32, Vec<Step>) {
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

/// Writes the numbers that are meant, after shrinking has made the list shorter.
fn resolve(workload: &mut Workload, many: usize) {
    let fix = |action: &mut Action| {
        if let Some(of) = action.target_mut() {
            *of %= many;
        }
    };
    for step in workload.tasks.iter_mut().flat_map(|plan| &mut plan.steps) {
        match step.innermost_mut() {
            Step::Join(of) => *of %= many,
            Step::Do(action) | Step::WaitDoing(action) => fix(action),
            _ => {}
        }
    }
    workload.outside.iter_mut().for_each(|outside| fix(&mut outside.action));
}

#[cfg(test)]
mod tests {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;

    #[test]
    fn draws_every_kind_of_step_and_class() {
        let mut runner = TestRunner::deterministic();
        let strategy = any_workload();
        let drawn = (0..200).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect::<Vec<_>>();
        let text = drawn.iter().map(|workload| workload.to_string()).collect::<String>();
        for word in [
            "work",
            "hold",
            "yield",
            "sleep",
            "wait",
            "join",
            "spawn",
            "wake",
            "nudge",
            "cancel",
            "pause",
            "resume",
            "move",
            "request",
            "panic",
            "immediate",
            "normal",
            "idle",
            "outside",
            "away",
            "turns",
            "early",
            "late",
            "if spawned",
            "within",
            "another thread",
            "submit",
            "activity",
            "at most",
            "observer",
            "when dropped",
            "due after",
            "multiples",
            "steps back",
            "jumps ahead",
        ] {
            assert!(text.contains(word), "{word} never occurs in 200 cases");
        }
    }

    #[test]
    fn numbers_are_in_range_and_json_keeps_all() {
        let mut runner = TestRunner::deterministic();
        let strategy = any_workload();
        for _ in 0..50 {
            let mut workload = strategy.new_tree(&mut runner).unwrap().current();
            let text = serde_json::to_string(&workload).unwrap();
            assert_eq!(serde_json::from_str::<Workload>(&text).unwrap(), workload);
            let before = workload.clone();
            let many = workload.tasks.len();
            resolve(&mut workload, many);
            assert_eq!(before, workload);
        }
    }
}
