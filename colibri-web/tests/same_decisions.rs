//! The scheduler for Rust and the decisions of the package for JavaScript, under the same generated load: who runs when must be the
//! same, step by step. Promotions are left to their own tests: one raises whoever waited longest first, the other one list after the
//! other.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use colibri_core::{ManualClock, Priority, Scheduler, Task, checkpoint, spawn};
use colibri_web::turns::{FORGOTTEN, KEPT, NOBODY, OVER, Turns};
use proptest::prelude::*;

/// What a task does: steps, each so many µs long; after one it may start another task.
#[derive(Clone, Debug)]
struct Plan {
    class: usize,
    steps: Vec<u32>,
    starts: Option<(usize, Box<Plan>)>,
}

/// What the host does between two slices.
#[derive(Clone, Debug)]
enum Deed {
    Start(Plan),
    /// Each of the task's number among those that the host has started.
    Cancel(usize),
    Pause(usize),
    Resume(usize),
    Move(usize, usize),
    /// Its own turn, in µs, and then a slice of so many.
    Slice(u32, u32),
}

/// Names tasks in the order in which they were started.
type Log = Rc<RefCell<Vec<usize>>>;

/// The scheduler for Rust.
fn by_scheduler(deeds: &[Deed]) -> Vec<usize> {
    let clock = ManualClock::new();
    let scheduler = Scheduler::builder().clock(clock.clone()).build();
    let (log, names) = (Log::default(), Rc::new(RefCell::new(0)));
    let mut tasks: Vec<Task<()>> = Vec::new();
    for deed in deeds {
        match deed {
            Deed::Start(plan) => {
                let work = work(plan.clone(), clock.clone(), log.clone(), names.clone());
                tasks.push(scheduler.spawn(Priority::ALL[plan.class], work));
            }
            Deed::Cancel(task) => with(&tasks, *task, |task| task.cancel()),
            Deed::Pause(task) => with(&tasks, *task, |task| task.pause()),
            Deed::Resume(task) => with(&tasks, *task, |task| task.resume()),
            Deed::Move(task, class) => with(&tasks, *task, |task| task.set_priority(Priority::ALL[*class])),
            Deed::Slice(pause, length) => {
                clock.advance(micros(*pause));
                scheduler.run_for(micros(*length));
            }
        }
    }
    drop(tasks);
    scheduler.shutdown();
    log.take()
}

fn micros(micros: u32) -> Duration {
    Duration::from_micros(micros.into())
}

fn with<T>(tasks: &[T], place: usize, call: impl Fn(&T)) {
    if !tasks.is_empty() {
        call(&tasks[place % tasks.len()]);
    }
}

fn work(
    plan: Plan,
    clock: ManualClock,
    log: Log,
    names: Rc<RefCell<usize>>,
) -> impl Future<Output = ()> + 'static {
    let name = names.replace_with(|name| *name + 1);
    let last = plan.steps.len() - 1;
    async move {
        for (place, &step) in plan.steps.iter().enumerate() {
            clock.advance(micros(step));
            log.borrow_mut().push(name);
            if let Some((after, other)) = &plan.starts
                && *after == place
            {
                let started = work((**other).clone(), clock.clone(), log.clone(), names.clone());
                // Boxed, as the type of a task that starts such tasks would have no end.
                let started: std::pin::Pin<Box<dyn Future<Output = ()>>> = Box::pin(started);
                drop(spawn(Priority::ALL[other.class], started));
            }
            if place < last {
                checkpoint().await;
            }
        }
    }
}

/// The package: what its JavaScript does, in Rust.
#[derive(Default)]
struct Page {
    now: u32,
    turns: Turns<1024>,
    /// By number: the plan, the next step, whether it hovers or has ended. The first is nobody's.
    tasks: Vec<(Plan, usize, bool, bool)>,
    log: Vec<usize>,
}

impl Page {
    fn start(&mut self, plan: &Plan) -> u32 {
        self.tasks.push((plan.clone(), 0, false, false));
        let number = self.tasks.len() as u32;
        self.turns.put(self.now, number, plan.class as u32);
        number
    }

    fn put(&mut self, number: u32, class: u32) {
        self.turns.put(self.now, number, class);
    }

    fn slice(&mut self, length: u32) {
        let mut blocked = 0;
        loop {
            let number = self.turns.next(self.now, length, blocked);
            if number == NOBODY || number == OVER {
                return;
            }
            blocked = self.run(number);
        }
    }

    /// Steps until the task must give way: what blocks it then.
    fn run(&mut self, number: u32) -> u32 {
        loop {
            let (plan, next, ..) = self.tasks[number as usize - 1].clone();
            self.now += plan.steps[next];
            self.log.push(number as usize - 1);
            self.tasks[number as usize - 1].1 += 1;
            if let Some((after, other)) = &plan.starts
                && *after == next
            {
                self.start(other);
            }
            if next + 1 == plan.steps.len() {
                self.tasks[number as usize - 1].3 = true;
                self.put(number, FORGOTTEN);
                return 4;
            }
            if self.turns.check(self.now) {
                return 0;
            }
        }
    }
}

fn by_turns(deeds: &[Deed]) -> Vec<usize> {
    let mut page = Page::default();
    let mut started: Vec<u32> = Vec::new();
    for deed in deeds {
        let of = |place: &usize| started.get(place % started.len().max(1)).copied();
        match deed {
            Deed::Start(plan) => started.push(page.start(plan)),
            Deed::Slice(pause, length) => {
                page.now += pause;
                page.slice(*length);
            }
            Deed::Cancel(place) => {
                if let Some(number) = of(place) {
                    page.tasks[number as usize - 1].3 = true;
                    page.put(number, FORGOTTEN);
                }
            }
            Deed::Pause(place) => {
                if let Some(number) = of(place)
                    && !page.tasks[number as usize - 1].3
                {
                    page.tasks[number as usize - 1].2 = true;
                    page.put(number, KEPT);
                }
            }
            Deed::Resume(place) => {
                if let Some(number) = of(place)
                    && !page.tasks[number as usize - 1].3
                    && std::mem::take(&mut page.tasks[number as usize - 1].2)
                {
                    let class = page.tasks[number as usize - 1].0.class;
                    page.put(number, class as u32);
                }
            }
            Deed::Move(place, class) => {
                if let Some(number) = of(place)
                    && !page.tasks[number as usize - 1].3
                    && page.tasks[number as usize - 1].0.class != *class
                {
                    page.tasks[number as usize - 1].0.class = *class;
                    if !page.tasks[number as usize - 1].2 {
                        page.put(number, *class as u32);
                    }
                }
            }
        }
    }
    page.log
}

fn plans() -> impl Strategy<Value = Plan> {
    let step = prop_oneof![Just(500_u32), 1..3000_u32, Just(2000), Just(7000)];
    let steps = || prop::collection::vec(step.clone(), 1..8);
    let inner = (0..3_usize, steps()).prop_map(|(class, steps)| Plan { class, steps, starts: None });
    (0..3_usize, steps(), prop::option::weighted(0.3, (0..8_usize, inner.prop_map(Box::new))))
        .prop_map(|(class, steps, starts)| Plan { class, steps, starts })
}

fn deeds() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => plans().prop_map(Deed::Start),
        1 => (0..20_usize).prop_map(Deed::Cancel),
        1 => (0..20_usize).prop_map(Deed::Pause),
        1 => (0..20_usize).prop_map(Deed::Resume),
        1 => (0..20_usize, 0..3_usize).prop_map(|(task, class)| Deed::Move(task, class)),
        4 => (0..3000_u32, 1..9000_u32).prop_map(|(pause, length)| Deed::Slice(pause, length)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_load_is_decided_the_same_way(load in prop::collection::vec(deeds(), 1..40)) {
        let decisions = by_scheduler(&load);
        prop_assert_eq!(by_turns(&load), decisions);
    }
}
