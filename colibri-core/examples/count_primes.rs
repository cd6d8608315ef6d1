//! A long report, and a click that is answered at once although it comes later.

use colibri_core::{Priority, Scheduler, cooperative};

#[cooperative]
fn count_primes(limit: u64) -> u64 {
    let mut found = 0;
    for n in 2..limit {
        let mut d = 2;
        let mut prime = true;
        while d * d <= n {
            if n % d == 0 {
                prime = false;
                break;
            }
            d += 1;
        }
        if prime {
            found += 1;
        }
    }
    found
}

pub(crate) fn main() {
    let scheduler = Scheduler::new();
    let report = scheduler.spawn(Priority::Idle, count_primes(200_000));
    let click = scheduler.spawn(Priority::Immediate, async { "clicked" });
    println!("{}", scheduler.block_on(click).unwrap()); // at once, though the other is long
    assert!(!report.is_finished());
    let primes = scheduler.block_on(report).unwrap();
    println!("{primes} primes");
    assert_eq!(primes, 17_984);
}
