//! The name that was probably meant.

/// The name nearest to what was typed, unless all are far off. The end of a name will do.
pub(crate) fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let far = 2 + typed.chars().count() / 5;
    names
        .map(|name| {
            let end = name.rsplit('.').next().unwrap_or(name);
            (distance(typed, name).min(distance(typed, end)), name)
        })
        .filter(|(distance, _)| *distance < far)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// How many letters must be added, removed or replaced to get from one to the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, wanted) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *wanted);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (one, other, expected) in
            [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("ab", "ba", 2), ("ä", "a", 1)]
        {
            assert_eq!(distance(one, other), expected, "{one} {other}");
            assert_eq!(distance(other, one), expected, "{other} {one}");
        }
    }

    #[test]
    fn what_was_meant() {
        let names = ["session.max_count", "session.max_age_days", "store.backend"];
        let nearest = |typed| nearest(typed, names.into_iter());
        assert_eq!(nearest("session.max_cuont"), Some("session.max_count"));
        assert_eq!(nearest("max_count"), Some("session.max_count"));
        assert_eq!(nearest("sessions.max-age-days"), Some("session.max_age_days"));
        assert_eq!(nearest("backends"), Some("store.backend"));
        assert_eq!(nearest("colour"), None);
        assert_eq!(nearest(""), None);
    }
}
