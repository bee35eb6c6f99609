//! The arguments of tools: one table is their schema, and what they are checked against.

use std::time::Duration;

use serde_json::{Map, Value, json};

/// What a tool can be given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    name: &'static str,
    kind: Kind,
    is_required: bool,
    about: &'static str,
}

/// The type of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Texts,
    /// A number of seconds.
    Seconds,
    Switch,
    /// An object of texts.
    Values,
}

pub(super) const fn text(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Text, is_required: false, about }
}

pub(super) const fn texts(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Texts, is_required: false, about }
}

pub(super) const fn seconds(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Seconds, is_required: false, about }
}

pub(super) const fn switch(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Switch, is_required: false, about }
}

pub(super) const fn values(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, kind: Kind::Values, is_required: false, about }
}

impl Parameter {
    pub(super) const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }
}

/// The longest time that can be asked for, which fits every clock.
const MOST_SECONDS: u64 = 365 * 24 * 3600;

impl Kind {
    fn schema(self) -> Value {
        match self {
            Self::Text => json!({ "type": "string" }),
            Self::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Self::Seconds => json!({ "type": "integer", "minimum": 0, "maximum": MOST_SECONDS }),
            Self::Switch => json!({ "type": "boolean" }),
            Self::Values => {
                json!({ "type": "object", "additionalProperties": { "type": "string" } })
            }
        }
    }

    fn fits(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Text, Value::String(_)) | (Self::Switch, Value::Bool(_)) => true,
            (Self::Texts, Value::Array(items)) => items.iter().all(Value::is_string),
            (Self::Seconds, number) => number.as_u64().is_some_and(|it| it <= MOST_SECONDS),
            (Self::Values, Value::Object(values)) => values.values().all(Value::is_string),
            _ => false,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Texts => "an array of strings",
            Self::Seconds => "a whole number of seconds, at most a year",
            Self::Switch => "true or false",
            Self::Values => "an object of strings",
        }
    }
}

/// The schema of a tool's arguments.
pub(super) fn schema(parameters: &[Parameter]) -> Map<String, Value> {
    let property = |it: &Parameter| {
        let mut schema = it.kind.schema();
        schema["description"] = it.about.into();
        (it.name.to_owned(), schema)
    };
    let properties: Map<String, Value> = parameters.iter().map(property).collect();
    let required: Vec<&str> =
        parameters.iter().filter(|it| it.is_required).map(|it| it.name).collect();
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema.insert("additionalProperties".into(), false.into());
    schema
}

/// The arguments of a call, which fit the parameters of its tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Checks what a client sent. A value of null counts as absent, as some clients send it.
    pub(super) fn new(
        mut given: Map<String, Value>,
        parameters: &[Parameter],
    ) -> Result<Self, String> {
        given.retain(|_, value| !value.is_null());
        for (name, value) in &given {
            let Some(parameter) = parameters.iter().find(|it| it.name == name) else {
                let known: Vec<&str> = parameters.iter().map(|it| it.name).collect();
                return Err(format!("unknown argument {name:?}; known are: {}", known.join(", ")));
            };
            if !parameter.kind.fits(value) {
                return Err(format!("the argument {name} must be {}", parameter.kind.name()));
            }
        }
        let is_missing = |it: &&Parameter| it.is_required && !given.contains_key(it.name);
        match parameters.iter().find(is_missing) {
            Some(missing) => {
                Err(format!("the argument {} is missing: {}", missing.name, missing.about))
            }
            None => Ok(Self(given)),
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(super) fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    pub(super) fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    pub(super) fn seconds(&self, name: &str) -> Option<Duration> {
        self.0.get(name).and_then(Value::as_u64).map(Duration::from_secs)
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    pub(super) fn values(&self, name: &str) -> Map<String, Value> {
        self.0.get(name).and_then(Value::as_object).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETERS: &[Parameter] = &[
        text("name", "the name").required(),
        texts("list", "some"),
        seconds("wait", "how long"),
        switch("all", "whether"),
        values("values", "more"),
    ];

    fn check(given: &Value) -> Result<Arguments, String> {
        Arguments::new(given.as_object().unwrap().clone(), PARAMETERS)
    }

    #[test]
    fn arguments_fit_their_schema_or_are_refused() {
        let good =
            json!({"name": "a", "list": ["b"], "wait": 3, "all": true, "values": {"k": "v"}});
        let arguments = check(&good).unwrap();
        assert_eq!(arguments.text("name"), Some("a"));
        assert_eq!(arguments.texts("list").collect::<Vec<_>>(), ["b"]);
        assert_eq!(arguments.seconds("wait"), Some(Duration::from_secs(3)));
        assert!(arguments.is("all"));
        assert!(check(&json!({"name": "a", "wait": null})).is_ok());
        for (bad, why) in [
            (json!({}), "name is missing: the name"),
            (json!({"name": null}), "name is missing"),
            (json!({"name": 7}), "name must be a string"),
            (json!({"name": "a", "list": "b"}), "list must be an array of strings"),
            (json!({"name": "a", "list": [7]}), "list must be an array of strings"),
            (json!({"name": "a", "wait": -1}), "wait must be a whole number"),
            (json!({"name": "a", "wait": 1e300}), "wait must be a whole number"),
            (json!({"name": "a", "wait": u64::MAX}), "wait must be a whole number"),
            (json!({"name": "a", "all": "yes"}), "all must be true or false"),
            (json!({"name": "a", "values": {"k": 1}}), "values must be an object of strings"),
            (json!({"name": "a", "nmae": "b"}), "unknown argument \"nmae\"; known are: name, list"),
        ] {
            let error = check(&bad).unwrap_err();
            assert!(error.contains(why), "{bad}: {error}");
        }
    }
}
