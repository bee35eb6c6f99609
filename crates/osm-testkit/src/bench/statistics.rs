//! The little arithmetic that reports need.

/// Where times lie, in whatever unit they came.
#[derive(Debug, Clone, Copy)]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// The median.
    pub p50: f64,
    /// What 95 of 100 stay below.
    pub p95: f64,
}

impl Spread {
    /// Sums up times, of which there is at least one.
    #[must_use]
    pub fn of(times: &[f64]) -> Self {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |percent: usize| sorted[(sorted.len() - 1) * percent / 100];
        Self { min: at(0), p50: at(50), p95: at(95) }
    }
}

/// The slope of the straight line nearest to the points, by least squares.
#[must_use]
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let mean = |values: &mut dyn Iterator<Item = f64>| {
        let (sum, count) =
            values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        sum / count
    };
    let mean_x = mean(&mut points.iter().map(|point| point.0));
    let mean_y = mean(&mut points.iter().map(|point| point.1));
    let (mut together, mut alone) = (0.0, 0.0);
    for (x, y) in points {
        together += (x - mean_x) * (y - mean_y);
        alone += (x - mean_x).powi(2);
    }
    together / alone
}
