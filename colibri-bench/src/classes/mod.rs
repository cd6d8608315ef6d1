//! The scenario `classes`: a burst of 1000 tasks of 0.5 ms, all equal, then 10, 30 and 60 % of them in three classes.
//!
//! How much longer does all of it take than the work in it? How long does a task of each class wait? How long is the thread
//! held from whoever lives on it beside the scheduler?

mod burst;
mod peers;
mod react;
mod result;
mod text;

use crate::allowance::Allowance;
use crate::cli::{Options, Scenario};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::report::Report;

use self::burst::Mix;
use self::react::React;
use self::result::Subject;

/// The scenario.
pub(crate) const CLASSES: Scenario = Scenario {
    name: "classes",
    about: "1000 tasks of 0.5 ms, equal and in three classes: overhead, waits, longest hold of the thread",
    run,
};

/// Measures it.
fn run(options: &Options) -> Result<Report, Failure> {
    let rounds = options.rounds();
    let mixes = [Mix::equal(), Mix::of_classes(options.seed)];
    let mut peers = peers::all();
    let react = match React::find() {
        Ok(react) => {
            let said = react.say();
            peers.push(Box::new(react));
            said
        }
        Err(why) => why,
    };
    let allowance = Allowance::of(options); // from now on: installing a package is no measuring
    let progress = Progress::new("classes", u64::from(rounds) * (mixes.len() * peers.len()) as u64);
    let mut results: Vec<[Subject; 2]> =
        peers.iter().map(|peer| [(); 2].map(|()| Subject::new(peer.name(), peer.slug()))).collect();
    for number in allowance.rounds(rounds) {
        for (place, mix) in mixes.iter().enumerate() {
            for (peer, subjects) in peers.iter().zip(&mut results) {
                progress.begin(format!("round {number} of {rounds}: {}, {}", peer.name(), mix.name));
                subjects[place].add(peer.burst(mix)?);
                progress.step();
            }
        }
    }
    drop(progress);
    Ok(text::report(options, &results, &react))
}
