//! The examples do what they say.

#[path = "../examples/own.rs"]
mod own;

#[test]
fn a_task_a_policy_and_a_scheduler_of_ones_own_are_tested() {
    own::main();
}
