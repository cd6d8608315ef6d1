//! Where the curve bends: up to it longer slices buy throughput, beyond it they only cost responsiveness.

/// Beyond the knee, slices twice as long give less than this share more throughput.
pub(super) const GAIN: f64 = 0.01;

/// The law that the throughputs follow: of each slice and the host's turn behind it, the turn is lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Law {
    /// Throughput of endless slices.
    pub(super) limit: f64,
    /// What a turn costs the bulk work: its own time, and what it drives out of the caches. In the unit of the slices.
    pub(super) turn: f64,
}

impl Law {
    /// The law that is nearest to `points` of slice and throughput, of which there are two or more: the least squares of
    /// the time per work, which is linear in the number of turns.
    pub(super) fn of(points: &[(f64, f64)]) -> Self {
        let count = points.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (mean_x, mean_y) = (mean(|point| 1.0 / point.0), mean(|point| 1.0 / point.1));
        let (mut above, mut below) = (0.0, 0.0);
        for (slice, throughput) in points {
            let x = 1.0 / slice - mean_x;
            above += x * (1.0 / throughput - mean_y);
            below += x * x;
        }
        let slope = (above / below).max(0.0); // noise alone may make short slices better
        let constant = mean_y - slope * mean_x;
        Self { limit: 1.0 / constant, turn: slope / constant }
    }

    /// The share of the limit that slices of this length reach.
    pub(super) fn share(self, slice: f64) -> f64 {
        slice / (slice + self.turn)
    }

    /// How far `points` lie from the law, as a share of what it says: the root of the mean square.
    pub(super) fn residual(self, points: &[(f64, f64)]) -> f64 {
        let squares = points
            .iter()
            .map(|(slice, throughput)| (throughput / (self.limit * self.share(*slice)) - 1.0).powi(2));
        (squares.sum::<f64>() / points.len() as f64).sqrt()
    }

    /// The first of `slices`, which ascend, from which on a slice twice as long gives less than 1 % more throughput; the
    /// last if there is none.
    pub(super) fn knee(self, slices: &[f64]) -> usize {
        let gain = |slice: f64| self.share(2.0 * slice) / self.share(slice) - 1.0;
        slices.iter().position(|&slice| gain(slice) < GAIN).unwrap_or(slices.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICES: [f64; 8] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 50.0];

    fn points(turn: f64, noise: f64) -> Vec<(f64, f64)> {
        let law = Law { limit: 80.0, turn };
        let signs = [1.0, -1.0].into_iter().cycle();
        SLICES
            .iter()
            .zip(signs)
            .map(|(&slice, sign)| (slice, 80.0 * law.share(slice) * (1.0 + noise * sign)))
            .collect()
    }

    #[test]
    fn the_law_is_found_again() {
        let law = Law::of(&points(0.1, 0.0));
        assert!((law.limit - 80.0).abs() < 1e-9 && (law.turn - 0.1).abs() < 1e-9, "{law:?}");
        let noisy = Law::of(&points(0.1, 0.01));
        assert!((noisy.turn - 0.1).abs() < 0.03, "{noisy:?}");
        assert!(law.residual(&points(0.1, 0.0)) < 1e-9);
        let residual = law.residual(&points(0.1, 0.02));
        assert!((residual - 0.02).abs() < 1e-9, "{residual}");
        assert_eq!(Law::of(&[(1.0, 5.0), (2.0, 4.0)]).turn, 0.0);
    }

    #[test]
    fn the_knee_moves_with_the_cost_of_a_turn() {
        // A turn of t costs 1 % at slices of about 50 t.
        let knee = |turn| SLICES[Law { limit: 1.0, turn }.knee(&SLICES)];
        assert_eq!([0.0, 0.01, 0.05, 0.1, 0.3, 5.0].map(knee), [0.5, 0.5, 4.0, 8.0, 16.0, 50.0]);
    }
}
