//! `osm:state`: the functions behind `tui.createState` and `tui.runPrompt`.

use serde_json::{Value, json};

use super::{Arguments, Native};
use crate::host::StateKey;

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("get", |host, arguments| {
        // A list distinguishes a stored null from no value.
        let stored = host.state(&key(arguments)?)?;
        Ok(Value::Array(stored.into_iter().collect()))
    }),
    ("set", |host, arguments| {
        host.set_state(&key(arguments)?, Some(arguments.value(1).clone()))?;
        Ok(Value::Null)
    }),
    ("setDefault", |host, arguments| {
        host.set_default(&key(arguments)?, arguments.value(1).clone())?;
        Ok(Value::Null)
    }),
    ("replace", |host, arguments| {
        host.replace_state(&key(arguments)?, arguments.value(1).clone())?;
        Ok(Value::Null)
    }),
    ("remove", |host, arguments| {
        host.set_state(&key(arguments)?, None)?;
        Ok(Value::Null)
    }),
    ("reserve", |host, arguments| {
        let number = |at: usize| {
            arguments.value(at).as_u64().ok_or_else(|| arguments.wrong(at, "a whole number"))
        };
        Ok(json!(host.reserve(&key(arguments)?, number(1)?, number(2)?)?))
    }),
    ("readLine", |host, arguments| Ok(json!(host.read_line(arguments.text(0)?)))),
];

/// The key in the first argument.
fn key(arguments: &Arguments) -> Result<StateKey, String> {
    StateKey::from_json(arguments.value(0)).ok_or_else(|| arguments.wrong(0, "a key of the state"))
}

impl StateKey {
    /// The key as scripts know it.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Shared(name) => json!({ "shared": name }),
            Self::Script { command, name } => json!({ "command": command, "name": name }),
        }
    }

    fn from_json(value: &Value) -> Option<Self> {
        let text = |field: &str| value.get(field)?.as_str().map(str::to_owned);
        if let Some(name) = text("shared") {
            return Some(Self::Shared(name));
        }
        Some(Self::Script { command: text("command")?, name: text("name")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_cross_and_come_back() {
        let own = StateKey::Script { command: "a".into(), name: "shared".into() };
        for key in [StateKey::Shared("command".into()), own] {
            assert_eq!(StateKey::from_json(&key.to_json()), Some(key));
        }
        for wrong in [json!(null), json!({ "name": "x" }), json!({ "shared": 1 })] {
            assert_eq!(StateKey::from_json(&wrong), None, "{wrong}");
        }
    }
}
