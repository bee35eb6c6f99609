//! What changed between two states.
//!
//! Both are looked at as they are stored, from the outside in, and only where they differ: two states
//! of one session share nearly everything.

use std::collections::HashMap;

use serde_json::Value;

use crate::error::Damage;
use crate::stored_value::{Shape, StoredValue};

/// One difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Where: names, and numbers or ids of items, from the outside in.
    pub path: Vec<String>,
    /// What was there.
    pub before: Option<StoredValue>,
    /// What is there.
    pub after: Option<StoredValue>,
}

/// The differences between two values, in the order of the first and then of what is new.
///
/// Items of lists are told apart by their `id`, or by their place if they have none.
pub fn diff(before: &StoredValue, after: &StoredValue) -> Result<Vec<Difference>, Damage> {
    let mut found = Vec::new();
    compare(&mut Vec::new(), Some(before), Some(after), &mut found)?;
    Ok(found)
}

fn compare(
    path: &mut Vec<String>,
    before: Option<&StoredValue>,
    after: Option<&StoredValue>,
    found: &mut Vec<Difference>,
) -> Result<(), Damage> {
    if before == after {
        return Ok(());
    }
    let parts = match (before, after) {
        (Some(before), Some(after)) => parts(before)?.zip(parts(after)?),
        _ => None,
    };
    let Some((old, new)) = parts else {
        found.push(Difference {
            path: path.clone(),
            before: before.cloned(),
            after: after.cloned(),
        });
        return Ok(());
    };
    let by_name = |parts: &[(String, StoredValue)]| -> HashMap<String, StoredValue> {
        parts.iter().rev().cloned().collect()
    };
    let (old_parts, new_parts) = (by_name(&old), by_name(&new));
    let added = new.iter().filter(|(name, _)| !old_parts.contains_key(name));
    for (name, _) in old.iter().chain(added) {
        path.push(name.clone());
        compare(path, old_parts.get(name), new_parts.get(name), found)?;
        path.pop();
    }
    Ok(())
}

/// The named parts of an object or a list.
fn parts(value: &StoredValue) -> Result<Option<Vec<(String, StoredValue)>>, Damage> {
    Ok(match value.shape()? {
        Shape::Object(entries) => Some(entries),
        Shape::List(items) => {
            let named = items.into_iter().enumerate();
            let named =
                named.map(|(at, item)| Ok((id(&item)?.unwrap_or_else(|| at.to_string()), item)));
            Some(named.collect::<Result<_, Damage>>()?)
        }
        Shape::Text(_) | Shape::Plain(_) => None,
    })
}

/// What tells an item from others.
fn id(item: &StoredValue) -> Result<Option<String>, Damage> {
    let id = item.entries()?.into_iter().find(|(name, _)| name == "id");
    Ok(match id.map(|(_, id)| id.value()).transpose()? {
        Some(Value::Number(number)) => Some(format!("#{number}")),
        Some(Value::String(text)) => Some(format!("#{text}")),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::values::Values;

    #[test]
    fn differences_have_their_place() {
        let before = json!({"a": 1, "list": [{"id": 1, "t": "x"}, {"id": 2}], "gone": true});
        let after = json!({"a": 1, "list": [{"id": 2}, {"id": 1, "t": "y"}], "new": null});
        let stored = |value: &Value| {
            let mut values = Values::default();
            let compact = values.compact(value);
            StoredValue::new(compact, &Arc::new(values))
        };
        let (before, after) = (stored(&before), stored(&after));
        let value = |it: Option<StoredValue>| it.map(|it| it.value().unwrap());
        let shown: Vec<String> = diff(&before, &after)
            .unwrap()
            .into_iter()
            .map(|it| {
                let (before, after) = (value(it.before), value(it.after));
                format!("{} {before:?} {after:?}", it.path.join("."))
            })
            .collect();
        assert_eq!(
            shown,
            [
                "list.#1.t Some(String(\"x\")) Some(String(\"y\"))",
                "gone Some(Bool(true)) None",
                "new None Some(Null)",
            ]
        );
        assert_eq!(diff(&before, &before).unwrap(), []);
    }
}
