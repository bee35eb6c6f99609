//! What changed between two states.

use serde_json::Value;

/// One difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Where: names, and numbers or ids of items, from the outside in.
    pub path: Vec<String>,
    /// What was there.
    pub before: Option<Value>,
    /// What is there.
    pub after: Option<Value>,
}

/// The differences between two values, in the order of the first and then of what is new.
///
/// Items of lists are told apart by their `id`, or by their place if they have none.
#[must_use]
pub fn diff(before: &Value, after: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(&mut Vec::new(), Some(before), Some(after), &mut found);
    found
}

fn compare(
    path: &mut Vec<String>,
    before: Option<&Value>,
    after: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    if before == after {
        return;
    }
    let parts = before.and_then(parts).zip(after.and_then(parts));
    let Some((old, new)) = parts else {
        found.push(Difference {
            path: path.clone(),
            before: before.cloned(),
            after: after.cloned(),
        });
        return;
    };
    let value = |parts: &[(String, &Value)], name: &str| -> Option<Value> {
        parts.iter().find(|(key, _)| key == name).map(|(_, value)| (*value).clone())
    };
    let added = new.iter().filter(|(name, _)| !old.iter().any(|(other, _)| other == name));
    let names: Vec<&String> = old.iter().chain(added).map(|(name, _)| name).collect();
    for name in names {
        path.push(name.clone());
        compare(path, value(&old, name).as_ref(), value(&new, name).as_ref(), found);
        path.pop();
    }
}

/// The named parts of an object or a list.
fn parts(value: &Value) -> Option<Vec<(String, &Value)>> {
    match value {
        Value::Object(entries) => {
            Some(entries.iter().map(|(name, value)| (name.clone(), value)).collect())
        }
        Value::Array(items) => {
            let id = |item: &Value| match item.get("id")? {
                Value::Number(number) => Some(format!("#{number}")),
                Value::String(text) => Some(format!("#{text}")),
                _ => None,
            };
            let named = items.iter().enumerate();
            let named = named.map(|(at, item)| (id(item).unwrap_or_else(|| at.to_string()), item));
            Some(named.collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_have_their_place() {
        let before = json!({"a": 1, "list": [{"id": 1, "t": "x"}, {"id": 2}], "gone": true});
        let after = json!({"a": 1, "list": [{"id": 2}, {"id": 1, "t": "y"}], "new": null});
        let shown: Vec<String> = diff(&before, &after)
            .into_iter()
            .map(|it| format!("{} {:?} {:?}", it.path.join("."), it.before, it.after))
            .collect();
        assert_eq!(
            shown,
            [
                "list.#1.t Some(String(\"x\")) Some(String(\"y\"))",
                "gone Some(Bool(true)) None",
                "new None Some(Null)",
            ]
        );
        assert_eq!(diff(&before, &before), []);
    }
}
