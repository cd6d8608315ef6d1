//! Strategies that draw workloads, for proptest.
//!
//! They are *swarms*: each case first draws which features exist at all (about half of them) and how heavy each is,
//! then tasks by these weights. A uniform mix of everything would hide what only a pure diet shows: nothing but
//! yields, nothing but timers.

mod sketch;
mod surroundings;

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

use self::sketch::{action, finish, is_later_link, sketch};
use self::surroundings::{faults, host, limits};
use crate::draw::{Arrivals, Even, Shape};
use crate::workload::{Action, Class, Outside, Plan, Settings, Step, Workload};

/// Kinds of steps, in the order of [`Swarm::steps`]. Shrinking prefers the earlier ones.
const STEPS: usize = 21;
/// Kinds of tasks, in the order of [`Swarm::sketches`].
const SKETCHES: usize = 7;
/// One case in so many is a crowd: it takes as long as a hundred others.
const CASES_A_CROWD: u32 = 300;

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
    bad_wakers: bool,
    deadlines: bool,
    coarse_clock: bool,
    clock_steps: bool,
    /// A quarter of the tasks come from other threads.
    threads: bool,
    /// Most tasks work for dozens of quanta, and do nothing else: so long must equals stay beside each other until their shares
    /// can be judged.
    steady: bool,
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
    let rarities = [(); 10].map(|()| rarity()).prop_map(
        |[
            policy,
            limit,
            bad_observer,
            bad_drops,
            bad_wakers,
            deadlines,
            coarse_clock,
            clock_steps,
            threads,
            steady,
        ]| {
            Rarities {
                policy,
                limit,
                bad_observer,
                bad_drops,
                bad_wakers,
                deadlines,
                coarse_clock,
                clock_steps,
                threads,
                steady,
            }
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
    let [bad_drop, bad_waker, from_afar] =
        [swarm.rarities.bad_drops, swarm.rarities.bad_wakers, swarm.rarities.threads].map(rarely);
    let seldom = (deadline, bad_drop, bad_waker, from_afar);
    let task = (class, any::<Even>(), prop::bool::weighted(1.0 / 12.0), weight, seldom, sketch(&swarm, mean));
    let outside = vec((any::<Even>(), action(tasks)), 0..=swarm.outside);
    let crowd = swarm.crowd;
    let surroundings = (outside, host(&swarm), limits(&swarm), faults(&swarm, horizon));
    (vec(task, 1..=tasks), surroundings).prop_map(move |(drawn, (outside, host, limits, clock))| {
        let mut sent = Vec::new();
        let times = arrivals.times(drawn.iter().map(|(_, even, ..)| *even), interval).collect::<Vec<_>>();
        let sketches = drawn.iter().map(|(.., sketch)| sketch.clone()).collect::<Vec<_>>();
        let plans = drawn.iter().zip(&times).enumerate();
        let tasks = plans.map(
            |(
                place,
                ((class, _, on_demand, weight, (deadline, bad_drop, bad_waker, from_afar), sketch), at),
            )| {
                let (rounds, steps) = finish(place, sketch, &sketches);
                let on_demand = *on_demand || is_later_link(place, &sketches);
                let (weight, deadline) = if *from_afar { (1, None) } else { (*weight, *deadline) };
                if *from_afar && !on_demand {
                    sent.push(Outside { at: *at, action: Action::SpawnFromAfar(place) });
                }
                Plan {
                    class: *class,
                    arrives: (!on_demand && !from_afar).then_some(*at),
                    weight,
                    deadline,
                    bad_drop: *bad_drop,
                    bad_waker: *bad_waker,
                    rounds,
                    steps,
                }
            },
        );
        let tasks = tasks.collect();
        let mut outside = outside
            .into_iter()
            .map(|(even, action)| Outside { at: Shape::Uniform.at(even, horizon / 2), action })
            .chain(sent)
            .collect::<Vec<_>>();
        outside.sort_by_key(|outside| outside.at);
        let (policy, max_tasks, bad_observer) = limits;
        let settings = Settings { policy, max_tasks, bad_observer, ..settings.clone() };
        let mut workload = Workload { settings, host, tasks, outside, clock };
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

fn mean_work(swarm: &Swarm) -> Duration {
    swarm.settings.quantum * swarm.tenths_of_quanta / 10
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
            "wakers panic",
            "due after",
            "multiples",
            "steps back",
            "jumps ahead",
        ] {
            assert!(text.contains(word), "{word} never occurs in 200 cases");
        }
    }

    #[test]
    fn there_are_lone_tasks_and_crowds() {
        let mut runner = TestRunner::deterministic();
        let strategy = any_workload();
        let counts = (0..2_000).map(|_| strategy.new_tree(&mut runner).unwrap().current().tasks.len());
        let counts = counts.collect::<Vec<_>>();
        assert!(
            counts.contains(&1) && counts.iter().any(|many| *many >= 10_000),
            "{:?}",
            counts.iter().max()
        );
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
