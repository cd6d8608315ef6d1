//! Recursion over a deep tree: each call of the function to itself is awaited and boxed by the attribute, so that the
//! walk gives way at any depth.

use colibri_core::{Priority, Scheduler, cooperative};

pub(crate) struct Node {
    value: u64,
    children: Vec<Node>,
}

#[cooperative]
fn sum(node: &Node) -> u64 {
    let mut total = node.value;
    for child in &node.children {
        total += sum(child);
    }
    total
}

#[cooperative]
fn depth(node: &Node) -> usize {
    let mut deepest = 0;
    for child in &node.children {
        deepest = deepest.max(depth(child));
    }
    deepest + 1
}

/// A tree whose left edge is `levels` long, with a leaf beside each step.
fn tree(levels: u64) -> Node {
    let mut node = Node { value: 0, children: Vec::new() };
    for level in 1..levels {
        let leaf = Node { value: 1, children: Vec::new() };
        node = Node { value: level, children: vec![node, leaf] };
    }
    node
}

pub(crate) fn main() {
    // A call in progress takes stack, some kilobytes where nothing is optimised, as any recursion's does.
    const LEVELS: u64 = 400;
    let scheduler = Scheduler::new();
    let walk = scheduler.spawn(Priority::Idle, async {
        let tree = tree(LEVELS);
        (sum(&tree).await, depth(&tree).await)
    });
    let click = scheduler.spawn(Priority::Immediate, async { "clicked" });
    println!("{}", scheduler.block_on(click).unwrap());
    let (sum, depth) = scheduler.block_on(walk).unwrap();
    println!("{sum} in {depth} levels");
    assert_eq!(sum, (LEVELS - 1) * LEVELS / 2 + LEVELS - 1);
    assert_eq!(depth as u64, LEVELS);
}
