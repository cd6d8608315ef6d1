//! Floating point: an escape-time nest, n-body, matrices, k-means, a reduction.

use super::{Kernel, Size, Work, fingerprint, kernel, ways};
use crate::random::SplitMix64;

/// The kernels of this file.
pub(super) const KERNELS: &[Kernel] = &[
    kernel!(mandelbrot, Picture, "escape-time nest", |work| [work.side, work.limit]),
    kernel!(nbody, Planets, "n-body with arrays of arrays", |work| [
        &mut work.positions,
        &mut work.velocities,
        &work.masses,
        work.steps
    ]),
    kernel!(matmul, Matrices, "matrix product, vectorised rows", |work| [
        &work.a,
        &work.b,
        &mut work.c,
        work.side
    ]),
    kernel!(kmeans, Points, "k-means with 12 centres", |work| [&work.points, &mut work.centres, work.rounds]),
    kernel!(dot, Vectors, "float reduction in order", |work| [&work.a, &work.b, work.rounds]),
    kernel!(axpy, Vectors, "vectorised a·x + y", |work| [&work.a, &mut work.c, work.rounds]),
];

macro_rules! mandelbrot {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(side: usize, limit: u32) -> u64 {
            $($start)*
            let mut total = 0;
            for row in 0..side {
                for column in 0..side {
                    let cx = column as f64 * 3.0 / side as f64 - 2.0;
                    let cy = row as f64 * 2.0 / side as f64 - 1.0;
                    let mut x = 0.0;
                    let mut y = 0.0;
                    let mut steps = 0;
                    while steps < limit && x * x + y * y <= 4.0 {
                        $($tick)*
                        let next = x * x - y * y + cx;
                        y = 2.0 * x * y + cy;
                        x = next;
                        steps += 1;
                    }
                    total += u64::from(steps);
                }
            }
            total
        }
    };
}
ways!(mandelbrot);

macro_rules! nbody {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(
            positions: &mut [[f64; 3]; 5],
            velocities: &mut [[f64; 3]; 5],
            masses: &[f64; 5],
            steps: usize
        ) -> f64 {
            $($start)*
            for _ in 0..steps {
                for i in 0..5 {
                    for j in i + 1..5 {
                        $($tick)*
                        let mut apart = [0.0; 3];
                        for axis in 0..3 {
                            apart[axis] = positions[i][axis] - positions[j][axis];
                        }
                        let square = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
                        let pull = 0.001 / (square * square.sqrt());
                        for axis in 0..3 {
                            velocities[i][axis] -= apart[axis] * masses[j] * pull;
                            velocities[j][axis] += apart[axis] * masses[i] * pull;
                        }
                    }
                }
                for i in 0..5 {
                    for axis in 0..3 {
                        positions[i][axis] += 0.001 * velocities[i][axis];
                    }
                }
            }
            positions[0][0]
        }
    };
}
ways!(nbody);

macro_rules! matmul {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(a: &[f64], b: &[f64], c: &mut [f64], side: usize) {
            $($start)*
            for i in 0..side {
                for k in 0..side {
                    let factor = a[i * side + k];
                    for j in 0..side {
                        $($tick)*
                        c[i * side + j] += factor * b[k * side + j];
                    }
                }
            }
        }
    };
}
ways!(matmul);

macro_rules! kmeans {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(points: &[[f64; 2]], centres: &mut [[f64; 2]], rounds: usize) -> u64 {
            $($start)*
            let mut moved = 0;
            let mut owners = vec![0; points.len()];
            for _ in 0..rounds {
                let mut sums = vec![[0.0; 3]; centres.len()];
                for (point, owner) in points.iter().zip(owners.iter_mut()) {
                    let mut nearest = 0;
                    let mut least = f64::INFINITY;
                    for (number, centre) in centres.iter().enumerate() {
                        $($tick)*
                        let (x, y) = (point[0] - centre[0], point[1] - centre[1]);
                        let distance = x * x + y * y;
                        if distance < least {
                            least = distance;
                            nearest = number;
                        }
                    }
                    if *owner != nearest {
                        moved += 1;
                        *owner = nearest;
                    }
                    sums[nearest][0] += point[0];
                    sums[nearest][1] += point[1];
                    sums[nearest][2] += 1.0;
                }
                for (centre, sum) in centres.iter_mut().zip(&sums) {
                    if sum[2] > 0.0 {
                        *centre = [sum[0] / sum[2], sum[1] / sum[2]];
                    }
                }
            }
            moved
        }
    };
}
ways!(kmeans);

macro_rules! dot {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(a: &[f64], b: &[f64], rounds: usize) -> f64 {
            $($start)*
            let mut sum = 0.0;
            for _ in 0..rounds {
                for (x, y) in a.iter().zip(b) {
                    $($tick)*
                    sum += x * y;
                }
            }
            sum
        }
    };
}
ways!(dot);

macro_rules! axpy {
    ([$($fn:tt)*] { $($start:tt)* } { $($tick:tt)* }) => {
        $($fn)*(x: &[f64], y: &mut [f64], rounds: usize) {
            $($start)*
            for round in 0..rounds {
                let factor = 1.0 / (round + 1) as f64;
                for i in 0..x.len().min(y.len()) {
                    $($tick)*
                    y[i] += factor * x[i];
                }
            }
        }
    };
}
ways!(axpy);

struct Picture {
    side: usize,
    limit: u32,
}

impl Work for Picture {
    fn new(size: Size) -> Self {
        Self { side: size.of(12, 280), limit: size.of(30, 400) }
    }
}

struct Planets {
    positions: [[f64; 3]; 5],
    velocities: [[f64; 3]; 5],
    masses: [f64; 5],
    steps: usize,
}

impl Work for Planets {
    fn new(size: Size) -> Self {
        let mut planets = Self {
            positions: [[0.0; 3]; 5],
            velocities: [[0.0; 3]; 5],
            masses: [39.5, 0.038, 0.011, 0.0017, 0.002],
            steps: size.of(20, 450_000),
        };
        planets.reset();
        planets
    }

    fn reset(&mut self) {
        self.positions =
            [[0.0; 3], [4.8, -1.2, -0.1], [8.3, 4.1, -0.4], [12.9, -15.1, -0.2], [15.4, -25.9, 0.2]];
        self.velocities =
            [[0.0; 3], [0.6, 2.8, 0.02], [-1.0, 1.8, 0.01], [1.1, 0.9, -0.01], [1.0, 0.6, -0.03]];
    }

    fn trace(&self) -> u64 {
        fingerprint(self.velocities.iter().flatten().map(|axis| axis.to_bits()))
    }
}

struct Matrices {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    side: usize,
}

impl Work for Matrices {
    fn new(size: Size) -> Self {
        let side = size.of(9, 400);
        let mut random = SplitMix64::new(3);
        let mut matrix = || (0..side * side).map(|_| random.unit()).collect();
        Self { a: matrix(), b: matrix(), c: vec![0.0; side * side], side }
    }

    fn reset(&mut self) {
        self.c.fill(0.0);
    }

    fn trace(&self) -> u64 {
        fingerprint(self.c.iter().map(|value| value.to_bits()))
    }
}

struct Points {
    points: Vec<[f64; 2]>,
    centres: Vec<[f64; 2]>,
    rounds: usize,
}

impl Work for Points {
    fn new(size: Size) -> Self {
        let mut random = SplitMix64::new(4);
        let points = (0..size.of(40, 40_000)).map(|_| [random.unit(), random.unit()]).collect();
        let mut points = Self { points, centres: vec![[0.0; 2]; 12], rounds: size.of(3, 40) };
        points.reset();
        points
    }

    fn reset(&mut self) {
        self.centres.copy_from_slice(&self.points[..12]);
    }

    fn trace(&self) -> u64 {
        fingerprint(self.centres.iter().flatten().map(|axis| axis.to_bits()))
    }
}

struct Vectors {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    rounds: usize,
}

impl Work for Vectors {
    fn new(size: Size) -> Self {
        let length = size.of(50, 4096);
        let mut random = SplitMix64::new(5);
        let mut vector = || (0..length).map(|_| random.unit()).collect();
        Self { a: vector(), b: vector(), c: vec![0.0; length], rounds: size.of(7, 9_000) }
    }

    fn reset(&mut self) {
        self.c.fill(0.0);
    }

    fn trace(&self) -> u64 {
        fingerprint(self.c.iter().map(|value| value.to_bits()))
    }
}
