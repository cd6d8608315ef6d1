//! A scheduler in a page's turns.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::{Rc, Weak};
use std::time::Duration;

use colibri_core::{Activity, Scheduler};

/// What a host needs of its page. Every call comes back to the host by [`Host::turn`].
pub trait Page: 'static {
    /// Asks for a turn as soon as the page has had its own.
    fn ask(&self);
    /// Asks for a turn after a time, in the place of what was asked so before; or, by `None`, for none.
    fn ask_after(&self, delay: Option<Duration>);
    /// What the page and its user are doing.
    fn activity(&self) -> Activity;
}

/// Runs a scheduler in a page's turns: a slice, then whatever the page has to do.
///
/// The slice follows the page: 8 ms, 4 ms while somebody scrolls, types or moves the pointer, 50 ms while the page is hidden
/// ([`Activity`]). Dropping the host shuts the scheduler down.
pub struct Host<P: Page> {
    turns: Rc<Turns<P>>,
    number: u64,
}

struct Turns<P> {
    scheduler: Scheduler,
    page: P,
    asked: Cell<bool>,
    activity: Cell<Activity>,
}

/// A host, whatever its page is.
trait Asked {
    fn ask(&self);
}

thread_local! {
    /// The hosts of this thread. A scheduler's hook may be called from any thread, and so can hold no page, but a number.
    static HOSTS: RefCell<BTreeMap<u64, Weak<dyn Asked>>> = const { RefCell::new(BTreeMap::new()) };
    static MADE: Cell<u64> = const { Cell::new(0) };
}

impl<P: Page> Turns<P> {
    fn turn(&self) {
        self.asked.set(false);
        let activity = self.page.activity();
        if self.activity.replace(activity) != activity {
            self.scheduler.set_activity(activity);
        }
        let report = self.scheduler.run_slice();
        if report.work_left {
            self.ask();
        }
        // While work is left the next turn comes sooner than any timer of the page.
        let due = report.next_timer.filter(|_| !report.work_left);
        self.page.ask_after(due.map(|due| due.duration_since(self.scheduler.now())));
    }
}

impl<P: Page> Asked for Turns<P> {
    fn ask(&self) {
        if !self.asked.replace(true) {
            self.page.ask();
        }
    }
}

impl<P: Page> Host<P> {
    /// Runs `scheduler` in the turns of `page`. Its hook ([`Scheduler::on_ready`]) is the host's from now on.
    pub fn new(scheduler: Scheduler, page: P) -> Self {
        let turns = Rc::new(Turns {
            scheduler,
            page,
            asked: Cell::new(false),
            activity: Cell::new(Activity::default()),
        });
        let number = MADE.with(|made| made.replace(made.get() + 1));
        let asked: Weak<dyn Asked> = Rc::downgrade(&turns) as Weak<dyn Asked>;
        HOSTS.with_borrow_mut(|hosts| hosts.insert(number, asked));
        turns.scheduler.on_ready(move || ask(number));
        Host { turns, number }
    }

    /// The scheduler: spawn here.
    pub fn scheduler(&self) -> &Scheduler {
        &self.turns.scheduler
    }

    /// The page.
    pub fn page(&self) -> &P {
        &self.turns.page
    }

    /// The turn that the page was asked for.
    pub fn turn(&self) {
        self.turns.turn();
    }

    /// The same, for what the page holds: it does nothing once the host is gone.
    pub fn turn_later(&self) -> impl Fn() + 'static {
        let turns = Rc::downgrade(&self.turns);
        move || {
            if let Some(turns) = turns.upgrade() {
                turns.turn();
            }
        }
    }
}

/// Asks the page of a host of this thread; from another thread there is none, and the program has to wake its page itself.
fn ask(number: u64) {
    // Not at the thread's end, when the table may be gone.
    let host = HOSTS.try_with(|hosts| hosts.borrow().get(&number).and_then(Weak::upgrade)).ok().flatten();
    if let Some(host) = host {
        host.ask();
    }
}

impl<P: Page> Drop for Host<P> {
    fn drop(&mut self) {
        let _ = HOSTS.try_with(|hosts| hosts.borrow_mut().remove(&self.number));
        self.turns.scheduler.shutdown();
        self.turns.page.ask_after(None);
    }
}

impl<P: Page> fmt::Debug for Host<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("live_tasks", &self.turns.scheduler.live_tasks()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use colibri_core::{ManualClock, Priority, sleep, yield_now};

    const MS: Duration = Duration::from_millis(1);

    /// A page that only notes what it is asked for.
    #[derive(Clone, Default)]
    struct Played {
        asked: Rc<Cell<u32>>,
        timer: Rc<Cell<Option<Duration>>>,
        activity: Rc<Cell<Activity>>,
    }

    impl Page for Played {
        fn ask(&self) {
            self.asked.set(self.asked.get() + 1);
        }
        fn ask_after(&self, delay: Option<Duration>) {
            self.timer.set(delay);
        }
        fn activity(&self) -> Activity {
            self.activity.get()
        }
    }

    fn host() -> (Host<Played>, Played, ManualClock) {
        let (clock, page) = (ManualClock::new(), Played::default());
        let scheduler = Scheduler::builder().clock(clock.clone()).build();
        (Host::new(scheduler, page.clone()), page, clock)
    }

    #[test]
    fn the_page_is_asked_once_and_again_while_work_is_left() {
        let (host, page, clock) = host();
        let busy = clock.clone();
        for _ in 0..3 {
            let clock = busy.clone();
            drop(host.scheduler().spawn(Priority::Normal, async move {
                for _ in 0..10 {
                    clock.advance(MS);
                    yield_now().await;
                }
            }));
        }
        assert_eq!(page.asked.get(), 1);
        let mut turns = 0;
        while page.asked.get() > turns {
            turns += 1;
            host.turn();
        }
        assert_eq!(turns, 4); // 30 ms of work in slices of 8 ms
        assert_eq!((clock.now().as_nanos(), page.timer.get()), (30_000_000, None));
    }

    #[test]
    fn a_timer_is_waited_for_and_an_earlier_one_takes_its_place() {
        let (host, page, clock) = host();
        drop(host.scheduler().spawn(Priority::Normal, sleep(20 * MS)));
        host.turn();
        assert_eq!(page.timer.get(), Some(20 * MS));
        let asked = page.asked.get();
        drop(host.scheduler().spawn(Priority::Normal, sleep(5 * MS)));
        assert_eq!(page.asked.get(), asked + 1);
        host.turn();
        assert_eq!(page.timer.get(), Some(5 * MS));
        clock.advance(5 * MS);
        host.turn();
        assert_eq!(page.timer.get(), Some(15 * MS));
    }

    #[test]
    fn slices_follow_the_page() {
        let (host, page, clock) = host();
        for (activity, length) in
            [(Activity::Interacting, 4), (Activity::Background, 50), (Activity::Foreground, 8)]
        {
            page.activity.set(activity);
            let work = clock.clone();
            let task = host.scheduler().spawn(Priority::Normal, async move {
                loop {
                    work.advance(MS);
                    yield_now().await;
                }
            });
            let before = clock.now();
            host.turn();
            assert_eq!(clock.now().duration_since(before), length * MS);
            task.cancel();
        }
    }

    #[test]
    fn a_turn_after_the_host_is_gone_does_nothing() {
        let (host, page, _clock) = host();
        let later = host.turn_later();
        let task = host.scheduler().spawn(Priority::Normal, async {});
        drop(host);
        later();
        assert!(task.is_finished());
        assert_eq!(page.timer.get(), None);
    }
}
