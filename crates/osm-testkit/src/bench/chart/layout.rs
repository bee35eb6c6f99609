//! Where things go, so that no words are cut off or touch others. The reader's font is not known, so
//! words are given the room that a wide one needs.

/// The room for a letter.
const LETTER: f64 = 7.4;
/// From the middle of one line of words to that of the next.
const LEADING: f64 = 16.0;
/// An axis whose last place is so many times the first is logarithmic.
const FAR: f64 = 100.0;

/// The most that words take in the font of the picture.
pub(super) fn width(words: &str) -> f64 {
    words.chars().map(|_| LETTER).sum()
}

/// A number as people read it.
pub(super) fn number(value: f64) -> String {
    let whole = format!("{value:.0}");
    match whole.parse() {
        Ok(whole) if value.fract() == 0.0 => crate::bench::table::grouped(whole),
        _ => value.to_string(),
    }
}

/// The places along an axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    first: f64,
    last: f64,
    left: f64,
    right: f64,
    is_logarithmic: bool,
}

impl Scale {
    /// An axis for some places. A linear one begins at 0.
    pub(super) fn over(places: impl Iterator<Item = f64> + Clone, left: f64, right: f64) -> Self {
        let last = places.clone().fold(f64::NEG_INFINITY, f64::max);
        let first = places.fold(f64::INFINITY, f64::min);
        if first > 0.0 && last / first >= FAR {
            // The first place is not drawn on the other axis.
            let left = left + 20.0;
            return Self { first, last, left, right, is_logarithmic: true };
        }
        Self { first: 0.0, last: last.max(1.0), left, right, is_logarithmic: false }
    }

    /// Where a place is.
    pub(super) fn at(&self, place: f64) -> f64 {
        let share = if self.is_logarithmic {
            (place / self.first).ln() / (self.last / self.first).ln()
        } else {
            (place - self.first) / (self.last - self.first)
        };
        self.left + share * (self.right - self.left)
    }

    /// What its title must add.
    pub(super) fn note(&self) -> &'static str {
        if self.is_logarithmic { " (logarithmic)" } else { "" }
    }
}

/// Moves the middles of lines of words apart, as little as that takes and none below the `lowest`; their
/// order stays.
pub(super) fn apart(middles: &[f64], lowest: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..middles.len()).collect();
    order.sort_by(|one, other| middles[*one].total_cmp(&middles[*other]));
    let mut moved = middles.to_vec();
    let mut free = f64::NEG_INFINITY;
    for &at in &order {
        moved[at] = moved[at].max(free);
        free = moved[at] + LEADING;
    }
    let mut free = lowest;
    for &at in order.iter().rev() {
        moved[at] = moved[at].min(free);
        free = moved[at] - LEADING;
    }
    moved
}

/// Chooses the ends of an axis and the step of its ticks: a round number that gives at most eight
/// of them.
pub(super) fn axis(low: f64, high: f64) -> (f64, f64, f64) {
    let span = if high > low { high - low } else { 1.0 };
    let step = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0]
        .into_iter()
        .find(|step| span / step <= 7.0)
        .unwrap_or(span / 7.0);
    let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
    (low, if high > low { high } else { low + step }, step)
}
