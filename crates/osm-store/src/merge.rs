//! Two sides changed one key at the same time: what holds?
//!
//! The rule, for one key, with the value that both saw (`base`), ours and theirs, which is stored
//! already:
//!
//! - If only one side changed it, that side's value holds.
//! - Lists of items with an `id` each are merged item by item, by the same rule. An item that one
//!   side removed stays removed, unless the other side changed it. Two new items that were given
//!   the same number are both kept: ours is given the next free one.
//! - Otherwise we are the last writer, and ours holds. Theirs stays in the history.

use std::collections::BTreeMap;

use serde_json::Value;

/// What holds; `None` is a key that is not there.
pub(crate) fn merge(
    base: Option<&Value>,
    ours: Option<&Value>,
    theirs: Option<&Value>,
) -> Option<Value> {
    if theirs == base || ours == theirs {
        return ours.cloned();
    }
    if ours == base {
        return theirs.cloned();
    }
    let lists =
        (base.map_or(Some(BTreeMap::new()), items), ours.and_then(items), theirs.and_then(items));
    if let (Some(base), Some(our_items), Some(their_items)) = lists {
        return Some(merge_lists(&base, &our_items, &their_items, ours?, theirs?));
    }
    ours.cloned()
}

/// The items of a list by their ids, if it is one whose items all have ids of their own.
fn items(list: &Value) -> Option<BTreeMap<String, &Value>> {
    let list = list.as_array()?;
    let mut items = BTreeMap::new();
    for item in list {
        let id = id_of(item)?;
        if items.insert(id, item).is_some() {
            return None;
        }
    }
    Some(items)
}

fn id_of(item: &Value) -> Option<String> {
    match item.get("id")? {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(format!("\"{text}\"")),
        _ => None,
    }
}

fn merge_lists(
    base: &BTreeMap<String, &Value>,
    ours: &BTreeMap<String, &Value>,
    theirs: &BTreeMap<String, &Value>,
    our_order: &Value,
    their_order: &Value,
) -> Value {
    let mut merged: Vec<Value> = Vec::new();
    let mut renumbered: Vec<Value> = Vec::new();
    for item in their_order.as_array().into_iter().flatten() {
        let Some(id) = id_of(item) else { continue };
        match (base.get(&id), ours.get(&id)) {
            // Both made a new item and gave it the same id.
            (None, Some(mine)) if *mine != item => {
                merged.push(item.clone());
                renumbered.push((*mine).clone());
            }
            // We removed what they changed: a change is worth more than a removal.
            (Some(before), None) if *before != item => merged.push(item.clone()),
            (before, mine) => {
                merged.extend(merge(before.copied(), mine.copied(), Some(item)));
            }
        }
    }
    for item in our_order.as_array().into_iter().flatten() {
        let Some(id) = id_of(item) else { continue };
        if !theirs.contains_key(&id) {
            merged.extend(merge(base.get(&id).copied(), Some(item), None));
        }
    }
    for mut item in renumbered {
        let numbers = merged.iter().filter_map(|item| item.get("id").and_then(Value::as_u64));
        let next = numbers.max().map_or(1, |last| last + 1);
        if item["id"].is_number() {
            item["id"] = next.into();
            merged.push(item);
        } else if let Some(place) =
            merged.iter_mut().find(|other| other.get("id") == item.get("id"))
        {
            // An id that is text was chosen, not counted: one item, and the last writer's holds.
            *place = item;
        }
    }
    Value::Array(merged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn merged(base: &Value, ours: &Value, theirs: &Value) -> Value {
        merge(Some(base), Some(ours), Some(theirs)).unwrap()
    }

    #[test]
    fn one_side_changed() {
        let (old, new) = (json!("old"), json!("new"));
        assert_eq!(merge(Some(&old), Some(&new), Some(&old)), Some(new.clone()));
        assert_eq!(merge(Some(&old), Some(&old), Some(&new)), Some(new.clone()));
        assert_eq!(merge(Some(&old), None, Some(&old)), None);
        assert_eq!(merge(None, None, Some(&new)), Some(new));
    }

    #[test]
    fn the_last_writer_wins_a_plain_value() {
        assert_eq!(merged(&json!(1), &json!(2), &json!(3)), json!(2));
        assert_eq!(merged(&json!([1]), &json!([1, 2]), &json!([1, 3])), json!([1, 2]), "no ids");
    }

    #[test]
    fn items_are_merged_by_their_ids() {
        let base = json!([{"id": 1, "t": "a"}, {"id": 2, "t": "b"}, {"id": 3, "t": "c"}]);
        let ours = json!([{"id": 1, "t": "A"}, {"id": 3, "t": "c"}, {"id": 4, "t": "mine"}]);
        let theirs = json!([{"id": 1, "t": "a"}, {"id": 2, "t": "B"}, {"id": 4, "t": "theirs"}]);
        assert_eq!(
            merged(&base, &ours, &theirs),
            json!([
                {"id": 1, "t": "A"},
                {"id": 2, "t": "B"},
                {"id": 4, "t": "theirs"},
                {"id": 5, "t": "mine"},
            ]),
            "1 is ours; 2 we removed but they changed; 3 they removed; 4 is two new items"
        );
    }

    proptest! {
        #[test]
        fn no_new_item_is_lost(ours in 0usize..6, theirs in 0usize..6, common in 0usize..6) {
            let item = |id: usize, text: String| json!({"id": id, "text": text});
            let base: Vec<Value> = (0..common).map(|id| item(id, format!("c{id}"))).collect();
            let side = |name: &str, count: usize| {
                let mut list = base.clone();
                list.extend((0..count).map(|n| item(common + n, format!("{name}{n}"))));
                Value::from(list)
            };
            let all = merged(&Value::from(base.clone()), &side("o", ours), &side("t", theirs));
            let all = all.as_array().unwrap();
            prop_assert_eq!(all.len(), common + ours + theirs);
            let ids: std::collections::BTreeSet<_> = all.iter().map(|item| item["id"].as_u64()).collect();
            prop_assert_eq!(ids.len(), all.len());
        }
    }
}
