//! Graphs and trees: a queue, a heap, a stack.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::{Kernel, Size, Work, kernel, ways};
use crate::random::SplitMix64;

/// The kernels of this file.
pub(super) const KERNELS: &[Kernel] = &[
    kernel!(bfs, Graph, "breadth first, a VecDeque", |work| [&work.first, &work.to]),
    kernel!(dijkstra, Graph, "shortest paths, a BinaryHeap", |work| [&work.first, &work.to, &work.weight]),
    kernel!(tree_walk, Tree, "tree walk, a stack", |work| [&work.nodes]),
    kernel!(board, Board, "breadth first on a board, an array of directions", |work| [
        &work.walls,
        work.width
    ]),
    kernel!(union_find, Edges, "connected parts, two short whiles an edge", |work| [&work.edges, work.nodes]),
    kernel!(linked_list, List, "a list of boxes, while let", |work| [&work.head, work.rounds]),
];

macro_rules! bfs {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(first: &[usize], to: &[u32]) -> u64 {
            $($start)*
            let mut distance = vec![u32::MAX; first.len() - 1];
            distance[0] = 0;
            let mut sum = 0;
            let mut queue = VecDeque::from([0]);
            while let Some(node) = queue.pop_front() {
                let next = distance[node] + 1;
                for &neighbour in &to[first[node]..first[node + 1]] {
                    $($tick)*
                    let neighbour = neighbour as usize;
                    if distance[neighbour] == u32::MAX {
                        distance[neighbour] = next;
                        sum += u64::from(next);
                        queue.push_back(neighbour);
                    }
                }
            }
            sum
        }
    };
}
ways!(bfs);

macro_rules! dijkstra {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(first: &[usize], to: &[u32], weight: &[u32]) -> u64 {
            $($start)*
            let mut distance = vec![u64::MAX; first.len() - 1];
            distance[0] = 0;
            let mut sum = 0_u64;
            let mut heap = BinaryHeap::from([(Reverse(0), 0)]);
            while let Some((Reverse(cost), node)) = heap.pop() {
                if cost > distance[node] {
                    continue;
                }
                sum = sum.wrapping_add(cost);
                for edge in first[node]..first[node + 1] {
                    $($tick)*
                    let next = to[edge] as usize;
                    let there = cost + u64::from(weight[edge]);
                    if there < distance[next] {
                        distance[next] = there;
                        heap.push((Reverse(there), next));
                    }
                }
            }
            sum
        }
    };
}
ways!(dijkstra);

macro_rules! tree_walk {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(nodes: &[Node]) -> u64 {
            $($start)*
            let mut sum = 0_u64;
            let mut stack = vec![(0, 0)];
            while let Some((number, depth)) = stack.pop() {
                $($tick)*
                let node: &Node = &nodes[number as usize];
                sum = sum.wrapping_add(node.value ^ depth);
                if let Some(right) = node.right {
                    stack.push((right, depth + 1));
                }
                if let Some(left) = node.left {
                    stack.push((left, depth + 1));
                }
            }
            sum
        }
    };
}
ways!(tree_walk);

macro_rules! board {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(walls: &[bool], width: usize) -> u64 {
            $($start)*
            let height = walls.len() / width;
            let mut seen = vec![false; walls.len()];
            seen[0] = true;
            let mut queue = VecDeque::from([(0_usize, 0_usize, 0_u64)]);
            let mut farthest = 0;
            while let Some((x, y, steps)) = queue.pop_front() {
                $($tick)*
                farthest = farthest.max(steps);
                for (dx, dy) in [(0, 1), (1, 0), (0, -1), (-1, 0)] {
                    let (x, y) = (x as i32 + dx, y as i32 + dy);
                    if x < 0 || y < 0 || x >= width as i32 || y >= height as i32 {
                        continue;
                    }
                    let place = y as usize * width + x as usize;
                    if !walls[place] && !seen[place] {
                        seen[place] = true;
                        queue.push_back((x as usize, y as usize, steps + 1));
                    }
                }
            }
            farthest
        }
    };
}
ways!(board);

macro_rules! union_find {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(edges: &[(usize, usize)], nodes: usize) -> u64 {
            $($start)*
            let mut parent: Vec<usize> = (0..nodes).collect();
            let mut parts = nodes as u64;
            for &(one, other) in edges {
                let mut x = one;
                while parent[x] != x {
                    $($tick)*
                    parent[x] = parent[parent[x]];
                    x = parent[x];
                }
                let mut y = other;
                while parent[y] != y {
                    $($tick)*
                    parent[y] = parent[parent[y]];
                    y = parent[y];
                }
                if x != y {
                    parent[x] = y;
                    parts -= 1;
                }
            }
            parts
        }
    };
}
ways!(union_find);

macro_rules! linked_list {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(head: &Option<Box<Link>>, rounds: usize) -> u64 {
            $($start)*
            let mut sum = 0_u64;
            for _ in 0..rounds {
                let mut at = head;
                while let Some(link) = at {
                    $($tick)*
                    sum = sum.wrapping_mul(3).wrapping_add(link.value);
                    at = &link.next;
                }
            }
            sum
        }
    };
}
ways!(linked_list);

/// Nodes with their edges, one node's after the other's.
struct Graph {
    /// Where each node's edges begin, and the last one's end.
    first: Vec<usize>,
    to: Vec<u32>,
    weight: Vec<u32>,
}

impl Work for Graph {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(17);
        let nodes = size.of(25, 100_000);
        let mut graph = Self { first: vec![0], to: Vec::new(), weight: Vec::new() };
        for node in 0..nodes {
            for edge in 0..1 + random.below(8) {
                let to = if edge == 0 { (node + 1) % nodes } else { random.below(nodes) };
                graph.to.push(to as u32);
                graph.weight.push(1 + random.below(100) as u32);
            }
            graph.first.push(graph.to.len());
        }
        graph
    }
}

/// A board with a wall on each sixth field.
struct Board {
    walls: Vec<bool>,
    width: usize,
}

impl Work for Board {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(21);
        let width = size.of(8, 1_500);
        let walls = (0..width * width).map(|place| place > 0 && random.below(6) == 0).collect();
        Self { walls, width }
    }
}

/// Edges between nodes.
struct Edges {
    edges: Vec<(usize, usize)>,
    nodes: usize,
}

impl Work for Edges {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(22);
        let nodes = size.of(40, 1_000_000);
        let edges = (0..nodes).map(|_| (random.below(nodes), random.below(nodes))).collect();
        Self { edges, nodes }
    }
}

/// A node of a binary tree.
pub(crate) struct Node {
    value: u64,
    left: Option<u32>,
    right: Option<u32>,
}

struct Tree {
    nodes: Vec<Node>,
}

impl Work for Tree {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(18);
        let count = size.of(60, 4_000_000);
        let mut nodes: Vec<Node> = Vec::new();
        for number in 0..count {
            nodes.push(Node { value: random.next(), left: None, right: None });
            // A heap's shape, with a few places left free.
            if let Some(parent) = (number as usize).checked_sub(1).map(|number| number / 2) {
                let child = Some(number);
                if number % 2 == 1 { nodes[parent].left = child } else { nodes[parent].right = child }
            }
        }
        Self { nodes }
    }
}

/// A link of a list.
pub(crate) struct Link {
    value: u64,
    next: Option<Box<Link>>,
}

struct List {
    head: Option<Box<Link>>,
    rounds: usize,
}

impl Work for List {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(19);
        let mut head = None;
        for _ in 0..size.of(30, 2_000) {
            head = Some(Box::new(Link { value: random.next(), next: head }));
        }
        Self { head, rounds: size.of(3, 4_000) }
    }
}
