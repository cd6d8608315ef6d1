//! Canaries: schedulers that are wrong on purpose, each in one way. A harness that does not catch them would not
//! catch a real fault of that kind either; a test asserts that it catches each within the quick run, and names the
//! right promise.

use std::cmp::Ordering;

use comfy_table::{Table, presets};

use crate::case::{Case, Extra, hold_against, judge};
use crate::colibri::Colibri;
use crate::model::Model;
use crate::property::Breach;
use crate::rules::{Choice, End, Right, Rules, Situation, Time};
use crate::simulate::simulate;
use crate::subject::Subject;
use crate::trace::Why;
use crate::workload::Class;

/// Canaries are not hunted in larger crowds: they search their lists from the front, as the model that they are.
const LARGEST_HUNTED: usize = 300;

/// A broken scheduler, and what is expected of the harness.
#[derive(Clone, Copy, Debug)]
pub struct Canary {
    /// What is wrong with it.
    pub name: &'static str,
    /// The promises that it is meant to break: one of them must be named.
    pub breaks: &'static [&'static str],
    /// Runs one case on it.
    pub breach: fn(Case) -> Option<Breach>,
    /// Holds colibri's trace of a case against this scheduler as the model.
    pub parts: fn(Case) -> Option<Breach>,
}

/// A canary that was caught.
#[derive(Clone, Debug)]
pub struct Caught {
    /// In which case.
    pub case: Case,
    /// What it broke.
    pub breach: Breach,
}

impl Canary {
    /// Runs cases of `seed`, at most `cases`, until one breaks a promise that this canary is meant to break. (A run
    /// reports each promise that broke; a fault may break others as well.)
    ///
    /// # Errors
    ///
    /// What was broken instead, if anything was.
    pub fn hunt(&self, seed: u64, cases: u64) -> Result<Caught, Vec<Caught>> {
        let mut others = Vec::<Caught>::new();
        for number in 0..cases {
            let case = Case { seed, number };
            let Some(breach) = (self.breach)(case) else { continue };
            if self.breaks.contains(&breach.promise) {
                return Ok(Caught { case, breach });
            }
            if others.iter().all(|other| other.breach.promise != breach.promise) {
                others.push(Caught { case, breach });
            }
        }
        Err(others)
    }
}

/// All canaries beside what the harness saw: a table, and whether each was caught by a promise that it is meant to break.
pub fn table(seed: u64, cases: u64) -> (String, bool) {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["what is wrong", "promise that broke", "in case", "what was seen"]);
    let mut all = true;
    for canary in CANARIES {
        match canary.hunt(seed, cases) {
            Ok(Caught { case, breach }) => {
                let number = case.number.to_string();
                table.add_row([canary.name, breach.promise, &number, &breach.text]);
            }
            Err(_) => {
                all = false;
                table.add_row([canary.name, "NOT CAUGHT", "", ""]);
            }
        }
    }
    (table.to_string(), all)
}

fn breach<S: Subject>(case: Case) -> Option<Breach> {
    let workload = case.workload();
    let small = workload.tasks.len() <= LARGEST_HUNTED;
    small.then(|| judge::<S>(&workload, Extra::default()).breach).flatten()
}

fn parts<R: Rules>(case: Case) -> Option<Breach> {
    let workload = case.workload();
    let small = workload.tasks.len() <= LARGEST_HUNTED;
    small.then(|| hold_against::<R>(&simulate::<Colibri>(&workload), &workload).err()).flatten()
}

/// Declares broken rules: a name, what is wrong, the promises that it breaks, and the methods that differ.
macro_rules! canaries {
    ($($(#[doc = $doc:literal])+ $type:ident = $name:literal breaks $breaks:expr => { $($method:item)+ })+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Copy, Debug, Default)]
            pub struct $type;

            impl Rules for $type {
                $($method)+
            }
        )+

        /// All canaries.
        pub const CANARIES: &[Canary] = &[
            $(Canary { name: $name, breaks: $breaks, breach: breach::<Model<$type>>, parts: parts::<$type> },)+
        ];
    };
}

canaries! {
    /// A task whose turn is over goes to the head, one that was cut short to the tail.
    Swapped = "head and tail swapped" breaks &["round robin", "lag", "quantum"] => {
        fn goes_to(&self, why: Why) -> End {
            match why {
                Why::Own | Why::Checkpoint | Why::Quantum => End::Head,
                Why::Slice | Why::Preempted | Why::Host => End::Tail,
            }
        }
    }

    /// Nobody is ever promoted.
    NoPromotion = "no promotion" breaks &["starvation"] => {
        fn rises(&self, _waited: u64, _upgrade_after: u64) -> bool {
            false
        }
    }

    /// Tasks rise after half the time.
    EarlyPromotion = "promotion too early" breaks &["promotion"] => {
        fn rises(&self, waited: u64, upgrade_after: u64) -> bool {
            waited >= upgrade_after / 2
        }
    }

    /// Guests are always preferred: a flood of promotions starves the level's own tasks.
    Flood = "promotion flood" breaks &["promotion"] => {
        fn must_be_own(&self, _guest_before: bool) -> bool {
            false
        }

        fn takes_guest(&self, _choice: &Choice) -> bool {
            true
        }
    }

    /// A promoted task stays where it rose to.
    Upstart = "promoted for ever" breaks &["class order", "promotion"] => {
        fn guest_goes_home(&self) -> bool {
            false
        }
    }

    /// Whoever has waited for 5 ms is promoted, whatever the scheduler was told.
    ByTheClock = "promotion by the clock on the wall" breaks &["promotion", "starvation"] => {
        fn rises(&self, waited: u64, _upgrade_after: u64) -> bool {
            waited >= 5_000
        }
    }

    /// Tasks with odd numbers go before the others.
    ByTheNumber = "favourites" breaks &["round robin", "lag"] => {
        fn joins_at(&self, number: u32) -> End {
            if number.is_multiple_of(2) { End::Tail } else { End::Head }
        }
    }

    /// What a task ran beyond its quantum is forgiven.
    NoChargeBack = "no charge-back" breaks &["lag"] => {
        fn carries_over(&self, _used: u64, _quantum: u64, _guest: bool) -> u64 {
            0
        }
    }

    /// A wake that meets the task in its own poll is lost.
    LostWake = "lost wake" breaks &["no lost task"] => {
        fn keeps_wake_while_running(&self) -> bool {
            false
        }
    }

    /// A task that is woken while it is ready is queued once more.
    DoubleQueue = "double queue" breaks &["no needless poll"] => {
        fn queues_once(&self) -> bool {
            false
        }
    }

    /// Timers fire a microsecond before their time.
    EarlyTimer = "early timer" breaks &["timers not early"] => {
        fn is_due(&self, deadline: u64, now: u64) -> bool {
            deadline <= now + 1_000
        }
    }

    /// Equal timers fire in the reverse order of their making.
    ReversedTimers = "equal timers reversed" breaks &["timers in order"] => {
        fn timer_order(&self, one: (u64, u64), other: (u64, u64)) -> Ordering {
            one.0.cmp(&other.0).then(other.1.cmp(&one.1))
        }
    }

    /// Timers are looked at only when nothing is ready.
    StuckTimers = "timers wait for an idle moment" breaks &["timers not held back", "starvation"] => {
        fn looks_at_timers(&self, something_is_ready: bool) -> bool {
            !something_is_ready
        }
    }

    /// Tasks with a deadline run in the order of their coming.
    Undue = "deadline ignored" breaks &["deadlines"] => {
        fn due_order(&self, one: (Option<u64>, usize), other: (Option<u64>, usize)) -> Ordering {
            one.1.cmp(&other.1)
        }
    }

    /// A cancelled task's future is kept.
    Leak = "cancel that leaks" breaks &["cancelled never runs", "dropped once"] => {
        fn cancel_drops(&self) -> bool {
            false
        }
    }

    /// A cancelled task goes on.
    Undead = "cancel that does not stop" breaks &["cancelled never runs"] => {
        fn cancel_stops(&self) -> bool {
            false
        }
    }

    /// A paused task stays in its queue.
    Restless = "pause that does not stop" breaks &["paused never runs"] => {
        fn pause_stops(&self) -> bool {
            false
        }
    }

    /// A wake that comes while a task hovers is forgotten.
    Forgetful = "pause that forgets a wake" breaks &["no lost task", "never idle"] => {
        fn keeps_wake_while_paused(&self) -> bool {
            false
        }
    }

    /// Whoever awaits a task is not told of its end.
    DeafJoiner = "join that is not woken" breaks &["no lost task"] => {
        fn wakes_joiner(&self) -> bool {
            false
        }
    }

    /// Normal goes before Immediate.
    Inverted = "classes inverted" breaks &["class order"] => {
        fn classes(&self) -> [Class; 3] {
            [Class::Normal, Class::Immediate, Class::Idle]
        }
    }

    /// A task that a higher one waits for is not lifted.
    Inversion = "priority inversion" breaks &["class order"] => {
        fn lifts(&self) -> bool {
            false
        }
    }

    /// A running task does not give way to a higher class before its quantum ends.
    NoPreemption = "no preemption" breaks &["preemption"] => {
        fn gives_way(&self, at: &Situation) -> Option<Why> {
            Right.gives_way(&Situation { outranked: false, ..*at })
        }
    }

    /// Checkpoints do not see the end of the slice, and the next pick follows all the same.
    NoSlice = "slice ignored" breaks &["slice"] => {
        fn gives_way(&self, at: &Situation) -> Option<Why> {
            Right.gives_way(&Situation { slice_end: u64::MAX, ..*at })
        }

        fn slice_is_over(&self, _now: u64, _slice_end: u64) -> bool {
            false
        }
    }

    /// The slice's end is looked at between polls only.
    LateSlice = "slice seen too late" breaks &["slice"] => {
        fn gives_way(&self, at: &Situation) -> Option<Why> {
            Right.gives_way(&Situation { slice_end: u64::MAX, ..*at })
        }
    }

    /// A slice ends a microsecond early.
    IdleSlice = "slice ends early" breaks &["never idle"] => {
        fn slice_is_over(&self, now: u64, slice_end: u64) -> bool {
            now + 1_000 >= slice_end
        }
    }

    /// A task runs until its slice ends.
    NoQuantum = "quantum ignored" breaks &["quantum"] => {
        fn gives_way(&self, at: &Situation) -> Option<Why> {
            Right.gives_way(&Situation { quantum: u64::MAX, ..*at })
        }
    }

    /// A task gets half of its quantum.
    ShortQuantum = "quantum halved" breaks &["quantum"] => {
        fn gives_way(&self, at: &Situation) -> Option<Why> {
            Right.gives_way(&Situation { quantum: at.quantum / 2, ..*at })
        }
    }

    /// All turns are equally long.
    NoWeights = "weight ignored" breaks &["lag", "quantum", "equal service"] => {
        fn turn(&self, quantum: u64, _weight: u32) -> u64 {
            quantum
        }
    }

    /// Who has slept may run for longer.
    SleepersCredit = "sleeper's credit" breaks &["quantum", "lag"] => {
        fn credits(&self, slept: u64, quantum: u64) -> u64 {
            slept.min(quantum)
        }
    }

    /// A clock that steps back takes time back with it.
    BackInTime = "clock step honoured" breaks &["time goes on"] => {
        fn goes_by(&self, shown: u64, before: Time) -> Time {
            Time { now: shown, ..before }
        }
    }

    /// The host is asked for a turn again and again.
    Nagging = "host asked twice" breaks &["asked once"] => {
        fn asks_host(&self, _asked: bool) -> bool {
            true
        }
    }

    /// The host is asked for a turn at its first absence only.
    Shy = "host asked too seldom" breaks &["asked once"] => {
        fn asks_host(&self, _asked: bool) -> bool {
            false
        }
    }

    /// One task more than may live is accepted.
    Overfull = "limit overrun" breaks &["overload"] => {
        fn refuses(&self, live: usize, most: Option<usize>) -> bool {
            most.is_some_and(|most| live > most)
        }
    }

    /// Tasks are refused though there is room for one more.
    Haughty = "refused without need" breaks &["overload"] => {
        fn refuses(&self, live: usize, most: Option<usize>) -> bool {
            most.is_some_and(|most| live + 1 >= most)
        }
    }

    /// The host is told that nothing is ready.
    SilentHost = "host told of no work" breaks &["never idle"] => {
        fn tells_of_work(&self, _something_is_ready: bool) -> bool {
            false
        }
    }

    /// The host is told that something is ready, always.
    BusyHost = "host told of work, always" breaks &["never idle", "ends"] => {
        fn tells_of_work(&self, _something_is_ready: bool) -> bool {
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::AS_THE_MODEL;

    /// What each canary gets: a tenth of the quick run's cases.
    const CASES: u64 = 2_000;

    #[test]
    fn every_canary_is_caught_and_the_right_promise_is_named() {
        let mut missed = Vec::new();
        for canary in CANARIES {
            if let Err(others) = canary.hunt(1, CASES) {
                let others = others.iter().map(|other| format!("{} in {}", other.breach, other.case));
                missed.push(format!("{}: {:?}", canary.name, others.collect::<Vec<_>>()));
            }
        }
        assert!(missed.is_empty(), "{}", missed.join("\n"));
    }

    /// Otherwise the comparison with the model could not fail, whatever the scheduler does.
    #[test]
    fn a_model_with_any_of_these_faults_is_told_from_colibri() {
        for canary in CANARIES {
            let found = (0..CASES).map(|number| Case { seed: 1, number }).find_map(canary.parts);
            let promise = found.map(|breach| breach.promise);
            assert_eq!(promise, Some(AS_THE_MODEL), "{}", canary.name);
        }
        assert_eq!((0..50).map(|number| Case { seed: 1, number }).find_map(parts::<Right>), None);
    }

    #[test]
    fn the_model_itself_is_fair() {
        for number in 0..500 {
            let case = Case { seed: 1, number };
            assert_eq!(breach::<Model<Right>>(case), None, "{case}");
        }
    }

    #[test]
    fn there_are_at_least_thirty() {
        assert!(CANARIES.len() >= 30);
    }
}
