//! One slice: the scheduler's turn on the host's thread.

use alloc::rc::Rc;
use core::cell::Cell;
use core::time::Duration;

use crate::activity::Activity;
use crate::engine::{Engine, Polls, Root};
use crate::instant::Instant;
use crate::local::{self, Enter};
use crate::task::TaskId;

/// How long the scheduler may hold the host's thread: 8 ms, half a frame at 60 Hz (16.7 ms), so that the host keeps
/// the other half for input, layout and drawing.
pub const DEFAULT_SLICE: Duration = Activity::Foreground.slice();

/// How long a task may run before an equal gets its turn: 2 ms, a quarter of a slice, so that four equals share each
/// slice; a switch (some 100 ns with cold caches) costs a ten-thousandth of it.
pub const DEFAULT_QUANTUM: Duration = Duration::from_millis(2);

/// How long a task may be ready without running before it rises one class: 500 ms, half the Idle class's latency
/// target of 1000 ms, so that what has to rise twice still runs near its target under a full load.
pub const DEFAULT_UPGRADE_AFTER: Duration = Duration::from_millis(500);

/// What one slice did: the host's loop condition, the metric, and the tests' oracle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SliceReport {
    /// Polls of tasks.
    pub tasks_run: u64,
    /// Tasks that ended: finished, panicked, or cancelled while they ran.
    pub finished: u64,
    /// Polls after which the task stayed ready.
    pub yielded: u64,
    /// Tasks that rose a class because they had waited too long.
    pub promoted: u64,
    /// How long the slice took.
    pub used: Duration,
    /// How much longer than its length that was; zero if not.
    pub overrun: Duration,
    /// The task that ran when the slice's time was over, if it was overrun. Not known if that was the future of `block_on`, or no
    /// task at all, and where polls were timed together: as long as they are shorter than 20 µs and pass no check that looks at
    /// the clock, the clock is read after up to sixteen of them. With an [`Observer`](crate::Observer) or a
    /// `StallDetector` each poll is timed, and the task always named.
    pub overrun_by: Option<TaskId>,
    /// The loop whose checkpoint that task passed last in that poll: its function, file and line. Checkpoints that come within
    /// 20 µs after one another are not told apart.
    pub last_checkpoint: Option<(&'static str, &'static str, u32)>,
    /// Whether there is something to do now, a task that is ready for example: the host should come back as soon as it can.
    pub work_left: bool,
    /// When the next timer is due: with no work left, the host may sleep until then or until it is notified.
    pub next_timer: Option<Instant>,
}

/// Marks the scheduler as being in a slice; a panic that gets out (none should) does not leave the mark.
struct InSlice<'e>(&'e Cell<bool>);

impl Drop for InSlice<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl Engine {
    /// Runs tasks for at most `length` nanoseconds, until none is ready, or until the host asks for the thread; `root` in
    /// the turns of its stand-in.
    pub(crate) fn run_slice<'r>(self: &Rc<Self>, length: u64, root: Option<&'r mut Root<'r>>) -> SliceReport {
        assert!(
            !self.in_slice.get(),
            "a task must not run its own scheduler (run_slice, run, block_on): spawn the work and await its handle"
        );
        let _enter = Enter::new(self);
        self.in_slice.set(true);
        let _in_slice = InSlice(&self.in_slice);
        self.remote.host_came();

        let start = self.read_clock();
        self.look(start);
        self.time_each_switch();
        self.slice_end.set(start.saturating_add(length));
        if self.events.wanted() {
            self.events.note_slice_start(Instant::from_nanos(start));
        }
        let before = self.counters.totals();
        let mut report = SliceReport::default();
        self.take_news();
        self.fire_timers();
        self.promote_overdue();
        // Each a loop of its own: who has no observer is asked once a slice, and not three times a poll.
        if self.events.wanted() || self.is_watched() {
            self.run_until_slice_ends::<true>(&mut report, Polls::new(root));
        } else {
            self.run_until_slice_ends::<false>(&mut report, Polls::new(root));
        }

        // Stamps outside of slices begin with a look.
        self.time_each_switch();
        let end = self.now();
        // Counted once, by class: a second count for each poll would be the slice's dearest line.
        let after = self.counters.totals();
        report.tasks_run = after.runs - before.runs;
        report.yielded = after.yields - before.yields;
        report.promoted = after.promotions - before.promotions;
        let overrun = end.saturating_sub(self.slice_end.get());
        self.counters.slice(end - start, overrun);
        report.used = Duration::from_nanos(end - start);
        report.overrun = Duration::from_nanos(overrun);
        report.work_left = self.has_work();
        report.next_timer = self.next_due().map(Instant::from_nanos);
        self.remote.clear_yield_request();
        if self.events.wanted() {
            self.events.note_slice_end(report, Instant::from_nanos(end));
            self.events.tell(self.contained());
        }
        if let Some(summaries) = self.summaries.get() {
            summaries.slice_ended(self, end);
        }
        report
    }

    #[inline(always)]
    fn run_until_slice_ends<'e, const WATCHED: bool>(
        &'e self,
        report: &mut SliceReport,
        mut polls: Polls<'e, '_>,
    ) {
        while self.now() < self.slice_end.get() && !self.remote.is_yield_requested() {
            let Some(turn) = self.pick() else {
                if self.look_for_more() {
                    continue;
                }
                break;
            };
            if self.poll::<WATCHED>(&turn, &mut polls) {
                report.finished += 1;
            }
            if self.looked.get() {
                self.after_look(turn.index, report);
            }
            self.take_news();
            if WATCHED {
                self.tell();
            }
        }
    }

    /// What a look at the clock between two polls may have brought.
    #[inline(never)]
    fn after_look(&self, index: u32, report: &mut SliceReport) {
        self.looked.set(false);
        self.fire_timers();
        self.promote_overdue();
        // Of polls that were timed together nobody knows which one took long: better nobody is named than an innocent.
        if self.now() > self.slice_end.get() && self.timed_alone() {
            report.overrun_by = self.visible_id(index);
            report.last_checkpoint = local::with(|local| local.meter.last_checkpoint());
        }
    }

    /// Nothing is ready by the last look; but time has passed since.
    #[cold]
    fn look_for_more(&self) -> bool {
        self.look(self.read_clock());
        self.fire_timers();
        self.take_news();
        self.has_work()
    }

    /// Whether there is something to do now.
    fn has_work(&self) -> bool {
        self.has_ready() || self.has_news() || self.has_due_timers()
    }
}
