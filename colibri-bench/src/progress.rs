//! A progress bar on a terminal, nothing in a pipe.

use indicatif::{ProgressBar, ProgressStyle};

/// Steps of one scenario on standard error. It is drawn between rounds only: no thread of its own disturbs a measurement.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A bar of `steps` steps; hidden unless standard error is a terminal.
    pub(crate) fn new(scenario: &str, steps: u64) -> Self {
        let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {wide_msg}")
            .expect("the template is a constant")
            .progress_chars("=> ");
        Self(ProgressBar::new(steps).with_style(style).with_prefix(scenario.to_owned()))
    }

    /// Says what runs now.
    pub(crate) fn begin(&self, what: String) {
        self.0.set_message(what);
        self.0.tick();
    }

    /// One step is done.
    pub(crate) fn step(&self) {
        self.0.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
