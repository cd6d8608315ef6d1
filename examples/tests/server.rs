//! The real server, asked by a real client over loopback while it compacts.

use server::{Way, measure, print};

#[allow(dead_code, reason = "its own main is for people")]
#[path = "../src/bin/server.rs"]
mod server;

/// Enough for a compaction of many slices, however fast the machine.
const MEGABYTES: u64 = 16;

// That each answer is right the client itself asserts.
#[test]
fn queries_are_answered_beside_a_running_compaction() {
    let held = measure(Way::Held, MEGABYTES).unwrap();
    print(Way::Held, &held);
    let colibri = measure(Way::Colibri, MEGABYTES).unwrap();
    print(Way::Colibri, &colibri);

    // From its first entry to its last the thread is its own.
    assert_eq!(held.while_running, 0, "nobody is served while a plain function runs");
    // How many depends on the machine. But not one would need a client that sleeps through all of the slices.
    assert!(colibri.while_running > 0, "no answer in {} slices", colibri.slices);
    assert!(colibri.slices > 20, "{} slices", colibri.slices);
}
