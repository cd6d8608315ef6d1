//! Kinds of loops that people write: stencils, tables, scanners, encoders, sorts, searches of graphs, arithmetic.

#![allow(clippy::all, reason = "written as people write")]

mod cooperative_support;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use cooperative_support::same;

both! {
    fn base64(b: &[u8]) -> Vec<u8> {
        const T: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = Vec::new();
        for c in b.chunks(3) {
            let n =
                (c[0] as u32) << 16 | (*c.get(1).unwrap_or(&0) as u32) << 8 | *c.get(2).unwrap_or(&0) as u32;
            out.push(T[(n >> 18) as usize & 63]);
            out.push(T[(n >> 12) as usize & 63]);
            out.push(if c.len() > 1 { T[(n >> 6) as usize & 63] } else { b'=' });
            out.push(if c.len() > 2 { T[n as usize & 63] } else { b'=' });
        }
        out
    }

    fn heap_sort(v: &mut [u32]) {
        let n = v.len();
        for s in (0..n / 2).rev() {
            let mut i = s;
            loop {
                let mut c = 2 * i + 1;
                if c >= n {
                    break;
                }
                if c + 1 < n && v[c + 1] > v[c] {
                    c += 1;
                }
                if v[i] >= v[c] {
                    break;
                }
                v.swap(i, c);
                i = c;
            }
        }
        for e in (1..n).rev() {
            v.swap(0, e);
            let mut i = 0;
            loop {
                let mut c = 2 * i + 1;
                if c >= e {
                    break;
                }
                if c + 1 < e && v[c + 1] > v[c] {
                    c += 1;
                }
                if v[i] >= v[c] {
                    break;
                }
                v.swap(i, c);
                i = c;
            }
        }
    }

    fn radix_sort(v: &mut Vec<u32>) {
        let mut t = vec![0; v.len()];
        for shift in [0, 8, 16, 24] {
            let mut count = [0usize; 256];
            for &x in v.iter() {
                count[(x >> shift) as usize & 255] += 1;
            }
            let mut sum = 0;
            for c in count.iter_mut() {
                let n = *c;
                *c = sum;
                sum += n;
            }
            for &x in v.iter() {
                let p = &mut count[(x >> shift) as usize & 255];
                t[*p] = x;
                *p += 1;
            }
            std::mem::swap(v, &mut t);
        }
    }

    fn dijkstra(g: &[Vec<(usize, u64)>], s: usize) -> Vec<u64> {
        let mut d = vec![u64::MAX; g.len()];
        let mut q = BinaryHeap::new();
        d[s] = 0;
        q.push(Reverse((0, s)));
        while let Some(Reverse((c, u))) = q.pop() {
            if c > d[u] {
                continue;
            }
            for &(v, w) in &g[u] {
                let n = c + w;
                if n < d[v] {
                    d[v] = n;
                    q.push(Reverse((n, v)));
                }
            }
        }
        d
    }

    fn breadth_first(grid: &[u8], w: usize, h: usize) -> usize {
        let mut seen = vec![false; w * h];
        let mut q = VecDeque::new();
        q.push_back((0usize, 0usize, 0usize));
        seen[0] = true;
        let mut far = 0;
        while let Some((x, y, d)) = q.pop_front() {
            far = far.max(d);
            for (dx, dy) in [(0i32, 1i32), (1, 0), (0, -1), (-1, 0)] {
                let (nx, ny) = (x as i32 + dx, y as i32 + dy);
                if nx < 0 || ny < 0 || nx >= w as i32 || ny >= h as i32 {
                    continue;
                }
                let p = ny as usize * w + nx as usize;
                if grid[p] % 4 == 0 || seen[p] {
                    continue;
                }
                seen[p] = true;
                q.push_back((nx as usize, ny as usize, d + 1));
            }
        }
        far
    }

    fn blur_onto(out: &mut [u8], img: &[u8], w: usize, h: usize) {
        const K: [[u32; 3]; 3] = [[1, 2, 1], [2, 4, 2], [1, 2, 1]];
        for y in 1..h - 1 {
            for x in 1..w - 1 {
                let mut s = 0;
                for (j, row) in K.iter().enumerate() {
                    for (i, k) in row.iter().enumerate() {
                        s += k * img[(y + j - 1) * w + x + i - 1] as u32;
                    }
                }
                out[y * w + x] = (s / 16) as u8;
            }
        }
    }

    fn varint(v: &[u64]) -> Vec<u8> {
        let mut out = Vec::new();
        for &x in v {
            let mut x = x;
            while x >= 128 {
                out.push(x as u8 | 128);
                x >>= 7;
            }
            out.push(x as u8);
        }
        out
    }

    fn unvarint(b: &[u8]) -> Option<u64> {
        let mut sum = 0u64;
        let mut i = 0;
        while i < b.len() {
            let (mut x, mut s) = (0u64, 0);
            loop {
                let c = *b.get(i)?;
                i += 1;
                x |= ((c & 127) as u64) << s;
                if c < 128 {
                    break;
                }
                s += 7;
                if s > 63 {
                    return None;
                }
            }
            sum = sum.wrapping_add(x);
        }
        Some(sum)
    }

    fn gravity_of(p: &mut [[f64; 3]], steps: usize, m: &[f64]) {
        let mut v = vec![[0.0; 3]; p.len()];
        for _ in 0..steps {
            for i in 0..p.len() {
                for j in 0..p.len() {
                    if i == j {
                        continue;
                    }
                    let mut d = [0.0; 3];
                    let mut r = 0.01;
                    for k in 0..3 {
                        d[k] = p[j][k] - p[i][k];
                        r += d[k] * d[k];
                    }
                    let f = m[j] / (r * r.sqrt());
                    for k in 0..3 {
                        v[i][k] += d[k] * f * 0.001;
                    }
                }
            }
            for (p, v) in p.iter_mut().zip(v.iter()) {
                for k in 0..3 {
                    p[k] += v[k] * 0.001;
                }
            }
        }
    }

    fn union_find(edges: &[(usize, usize)], n: usize) -> usize {
        let mut p: Vec<usize> = (0..n).collect();
        let mut sets = n;
        for &(a, b) in edges {
            let mut x = a;
            while p[x] != x {
                p[x] = p[p[x]];
                x = p[x];
            }
            let mut y = b;
            while p[y] != y {
                p[y] = p[p[y]];
                y = p[y];
            }
            if x != y {
                p[x] = y;
                sets -= 1;
            }
        }
        sets
    }

    fn transform(parts: &mut (Vec<f64>, Vec<f64>)) {
        let (re, im) = (&mut parts.0, &mut parts.1);
        let n = re.len();
        let mut j = 0;
        for i in 1..n {
            let mut bit = n >> 1;
            while j & bit != 0 {
                j ^= bit;
                bit >>= 1;
            }
            j ^= bit;
            if i < j {
                re.swap(i, j);
                im.swap(i, j);
            }
        }
        let mut len = 2;
        while len <= n {
            let a = -2.0 * std::f64::consts::PI / len as f64;
            let (wr, wi) = (a.cos(), a.sin());
            let mut i = 0;
            while i < n {
                let (mut cr, mut ci) = (1.0, 0.0);
                for k in 0..len / 2 {
                    let (p, q) = (i + k, i + k + len / 2);
                    let (tr, ti) = (re[q] * cr - im[q] * ci, re[q] * ci + im[q] * cr);
                    re[q] = re[p] - tr;
                    im[q] = im[p] - ti;
                    re[p] += tr;
                    im[p] += ti;
                    (cr, ci) = (cr * wr - ci * wi, cr * wi + ci * wr);
                }
                i += len;
            }
            len <<= 1;
        }
    }

    fn clusters(c: &mut [[f32; 2]], p: &[[f32; 2]], rounds: usize) -> f32 {
        let mut cost = 0.0;
        for _ in 0..rounds {
            let mut sum = vec![[0.0f32; 3]; c.len()];
            cost = 0.0;
            for q in p {
                let (mut best, mut at) = (f32::MAX, 0);
                for (i, k) in c.iter().enumerate() {
                    let d = (q[0] - k[0]).powi(2) + (q[1] - k[1]).powi(2);
                    if d < best {
                        best = d;
                        at = i;
                    }
                }
                cost += best;
                sum[at][0] += q[0];
                sum[at][1] += q[1];
                sum[at][2] += 1.0;
            }
            for (k, s) in c.iter_mut().zip(&sum) {
                if s[2] > 0.0 {
                    *k = [s[0] / s[2], s[1] / s[2]];
                }
            }
        }
        cost
    }

    fn queens(n: u32) -> u64 {
        let all = (1u32 << n) - 1;
        let mut st = vec![(0u32, 0u32, 0u32)];
        let mut found = 0;
        while let Some((c, l, r)) = st.pop() {
            if c == all {
                found += 1;
                continue;
            }
            let mut free = all & !(c | l | r);
            while free != 0 {
                let b = free & free.wrapping_neg();
                free ^= b;
                st.push((c | b, (l | b) << 1, (r | b) >> 1));
            }
        }
        found
    }

    fn linear_sieve(n: usize) -> usize {
        let mut p = Vec::new();
        let mut c = vec![false; n + 1];
        for i in 2..=n {
            if !c[i] {
                p.push(i);
            }
            for &q in &p {
                if i * q > n {
                    break;
                }
                c[i * q] = true;
                if i % q == 0 {
                    break;
                }
            }
        }
        p.len()
    }

    fn parse_ints(t: &str) -> Result<i64, std::num::ParseIntError> {
        let mut s = 0i64;
        for l in t.lines() {
            for w in l.split(' ') {
                s += w.parse::<i64>()?;
            }
        }
        Ok(s)
    }

    fn pairs(v: &[u8]) -> [[u32; 16]; 16] {
        let mut h = [[0; 16]; 16];
        for w in v.windows(2) {
            h[(w[0] & 15) as usize][(w[1] & 15) as usize] += 1;
        }
        h
    }

    // Behind a `&mut`, what is bound of a part can be a `&mut` again.
    fn parts_behind_exclusive_references(pairs: &mut [(u32, &mut (u32, u32))]) -> u32 {
        let mut sum = 0;
        for &mut (rounds, (one, other)) in pairs.iter_mut() {
            // With it the loops inside move each by itself.
            let twice = |number: u32| 2 * number;
            sum += twice(rounds);
            for i in 0..rounds {
                add(one, i);
                *other ^= *one;
            }
            while *one > 2 {
                *one -= 1;
            }
            sum += *one + *other;
        }
        sum
    }

    fn pascal(n: usize) -> Vec<Vec<u64>> {
        let mut t: Vec<Vec<u64>> = Vec::new();
        for i in 0..n {
            let mut r = vec![1; i + 1];
            for j in 1..i {
                r[j] = t[i - 1][j - 1].wrapping_add(t[i - 1][j]);
            }
            t.push(r);
        }
        t
    }

}

fn add(to: &mut u32, number: u32) {
    *to += number;
}

/// So many numbers that look like chance.
fn numbers(count: usize) -> Vec<u32> {
    let mut state = 12345u32;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 8
        })
        .collect()
}

fn bytes(count: usize) -> Vec<u8> {
    numbers(count).into_iter().map(|number| (number % 7) as u8).collect()
}

fn floats(count: usize) -> Vec<f64> {
    numbers(count).into_iter().map(|number| f64::from(number) / 1e6).collect()
}

/// Runs both on a copy of `$of`, which they change, and compares that as well.
macro_rules! same_changed {
    ($name:ident($of:expr $(, $argument:expr)*)) => {
        same(
            || {
                let mut changed = $of;
                let result = plain::$name(&mut changed $(, $argument)*);
                (changed, result)
            },
            || async {
                let mut changed = $of;
                let result = stopping::$name(&mut changed $(, $argument)*).await;
                (changed, result)
            },
        )
    };
}

#[test]
fn sorts() {
    for count in [0, 1, 2, 40] {
        same_changed!(heap_sort(numbers(count)));
        same_changed!(radix_sort(numbers(count)));
    }
}

#[test]
fn searches_of_graphs_and_of_a_board() {
    let edges = numbers(60);
    let graph: Vec<Vec<(usize, u64)>> = edges
        .chunks(4)
        .map(|to| to.iter().map(|to| (*to as usize % 15, u64::from(*to % 9) + 1)).collect())
        .collect();
    same(|| plain::dijkstra(&graph, 0), || stopping::dijkstra(&graph, 0));
    let grid = bytes(60);
    same(|| plain::breadth_first(&grid, 10, 6), || stopping::breadth_first(&grid, 10, 6));
    let edges: Vec<(usize, usize)> =
        edges.chunks(2).map(|edge| (edge[0] as usize % 20, edge[1] as usize % 20)).collect();
    same(|| plain::union_find(&edges, 20), || stopping::union_find(&edges, 20));
    same(|| plain::queens(5), || stopping::queens(5));
}

#[test]
fn stencils_and_particles() {
    let image = bytes(48);
    same_changed!(blur_onto(vec![0u8; 48], &image, 8, 6));
    let masses = [1.0, 2.0, 0.5];
    let places = [[0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [4.0, 1.0, 2.0]];
    same_changed!(gravity_of(places, 3, &masses));
    let points: Vec<[f32; 2]> = numbers(20).chunks(2).map(|at| [at[0] as f32, at[1] as f32]).collect();
    same_changed!(clusters(vec![[0.0f32, 0.0], [9e6, 3e6], [1e7, 1e7]], &points, 3));
}

#[test]
fn encoders_and_what_reads_them() {
    let values: Vec<u64> = numbers(20).into_iter().map(|number| u64::from(number) << (number % 40)).collect();
    same(|| plain::varint(&values), || stopping::varint(&values));
    let encoded = plain::varint(&values);
    same(|| plain::unvarint(&encoded), || stopping::unvarint(&encoded));
    let cut = &encoded[..encoded.len() - 1];
    same(|| plain::unvarint(cut), || stopping::unvarint(cut));
    for count in [0, 1, 2, 3, 16] {
        let bytes = bytes(count);
        same(|| plain::base64(&bytes), || stopping::base64(&bytes));
        same(|| plain::pairs(&bytes), || stopping::pairs(&bytes));
    }
}

#[test]
fn parts_of_items() {
    same(
        || {
            let (mut a, mut b) = ((1, 2), (5, 6));
            let sum = plain::parts_behind_exclusive_references(&mut [(3, &mut a), (4, &mut b)]);
            (sum, a, b)
        },
        || async {
            let (mut a, mut b) = ((1, 2), (5, 6));
            let sum = stopping::parts_behind_exclusive_references(&mut [(3, &mut a), (4, &mut b)]).await;
            (sum, a, b)
        },
    );
}

#[test]
fn lines_of_numbers() {
    for text in ["", "1", "1 2\n-3 40\n5", "1 2\nx 3\n4"] {
        same(|| plain::parse_ints(text), || stopping::parse_ints(text));
    }
}

#[test]
fn tables_and_transforms() {
    same(|| plain::pascal(9), || stopping::pascal(9));
    same(|| plain::linear_sieve(60), || stopping::linear_sieve(60));
    same_changed!(transform((floats(16), vec![0.0; 16])));
}
