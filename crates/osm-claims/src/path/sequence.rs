//! Whether two sequences can be the same, in which some elements stand for any number of others: the
//! names of a path with `**`, the characters of a name with `*`.

/// An element of a sequence.
pub(super) trait Element {
    /// Whether it stands for any number of elements, also for none.
    fn is_any(&self) -> bool;

    /// Whether something fits both; neither stands for any number.
    fn meets(&self, other: &Self) -> bool;
}

/// Whether something fits both sequences. The cost is the product of their lengths.
pub(super) fn meet<E: Element>(one: &[E], other: &[E]) -> bool {
    // Whether the elements of `one` so far and the first so many of `other` can fit the same.
    let mut row: Vec<bool> = std::iter::once(true)
        .chain(other.iter().scan(true, |so_far, it| {
            *so_far &= it.is_any();
            Some(*so_far)
        }))
        .collect();
    for element in one {
        let mut next = vec![row[0] && element.is_any()];
        for (at, known) in other.iter().enumerate() {
            next.push(if element.is_any() || known.is_any() {
                // The one that stands for any number fits nothing more, or what the other one fits.
                row[at + 1] || next[at]
            } else {
                row[at] && element.meets(known)
            });
        }
        row = next;
    }
    row[other.len()]
}
