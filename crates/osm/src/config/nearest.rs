//! The nearest known name, for "did you mean" hints.

use strsim::levenshtein;

/// The name nearest to `typed`, unless all differ too much. `typed` may be the last part of a dotted name.
pub(crate) fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let far = 2 + typed.chars().count() / 5;
    names
        .map(|name| {
            let end = name.rsplit('.').next().unwrap_or(name);
            (levenshtein(typed, name).min(levenshtein(typed, end)), name)
        })
        .filter(|(distance, _)| *distance < far)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
