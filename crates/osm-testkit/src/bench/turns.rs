//! Turns in a new order each round: whatever else the machine does in a moment hits all alike, and
//! none always follows the same neighbour.

/// Orders of turns; the same ones in every run.
#[derive(Debug)]
pub struct Turns {
    order: Vec<usize>,
    dice: u64,
}

impl Turns {
    /// Turns of so many.
    #[must_use]
    pub fn of(count: usize) -> Self {
        Self { order: (0..count).collect(), dice: 0x9e37_79b9_7f4a_7c15 }
    }

    /// The order of the next round, shuffled by Fisher and Yates.
    pub fn next_round(&mut self) -> &[usize] {
        for last in (1..self.order.len()).rev() {
            let bound = last as u64 + 1;
            let other = usize::try_from(self.roll() % bound).unwrap_or(last);
            self.order.swap(last, other);
        }
        &self.order
    }

    /// A xorshift generator: the order of turns needs no better one.
    fn roll(&mut self) -> u64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        self.dice
    }
}
