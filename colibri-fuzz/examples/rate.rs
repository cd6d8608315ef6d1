//! How fast the harness simulates: ten million dispatches of colibri's scheduler, with every event written down.
//!
//! `cargo run --release -p colibri-fuzz --example rate`

use std::time::{Duration, Instant};

use colibri_fuzz::colibri::Colibri;
use colibri_fuzz::property::check_all;
use colibri_fuzz::simulate::simulate;
use colibri_fuzz::workload::{Plan, Step, Workload};

/// A hundred parts of a hundred thousand: a trace takes 32 bytes an event, and two to three events a dispatch.
const PARTS: u32 = 100;

fn main() {
    let quantum = Duration::from_millis(2);
    let kinds = [
        ("own yields", 1_000, Step::Yield),
        ("quanta", 1, Step::Work { total: quantum * 1_000, gap: quantum }),
    ];
    for (name, rounds, step) in kinds {
        let plan = Plan { rounds, steps: vec![step], ..Plan::default() };
        let workload = Workload { tasks: vec![plan; 100], ..Workload::default() };
        let (mut dispatches, mut simulated, mut checked) = (0, Duration::ZERO, Duration::ZERO);
        for _ in 0..PARTS {
            let began = Instant::now();
            let trace = simulate::<Colibri>(&workload);
            simulated += began.elapsed();
            let began = Instant::now();
            if let Err(breach) = check_all(&trace) {
                println!("unfair: {breach}");
                std::process::exit(1);
            }
            checked += began.elapsed();
            dispatches += trace.dispatches();
        }
        println!(
            "{name}: {dispatches} dispatches simulated in {simulated:.2?}, all promises checked in {checked:.2?}"
        );
    }
}
