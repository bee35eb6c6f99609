//! The names that the templates of a goal see, for chosen values. The mode of a goal does the same
//! (`assets/modes/goal.js`).

use serde_json::{Map, Value};

use super::{Goal, Variable};

impl Goal {
    /// The data of the templates, with these values of variables and defaults for the others.
    pub(crate) fn values(&self, chosen: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        let is_known = |name: &&String| self.variables.iter().any(|it| it.name == **name);
        if let Some(unknown) = chosen.keys().find(|name| !is_known(name)) {
            let known: Vec<&str> = self.variables.iter().map(|it| it.name.as_str()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(format!("goal {} has no variable {unknown:?}; it has: {known}", self.name));
        }
        let mut data = self.data.clone();
        for (name, text) in
            [("name", &self.name), ("title", &self.title), ("description", &self.description)]
        {
            data.insert(name.into(), text.as_str().into());
        }
        let mut values = Map::new();
        for variable in &self.variables {
            let value = variable.value(chosen.get(&variable.name))?;
            values.insert(variable.name.clone(), value.clone());
            data.insert(variable.name.clone(), value.clone());
            data.insert(variable.key.clone(), value);
        }
        // A text for the value of a variable: typeInstructions for `type`.
        for (name, texts) in &self.options {
            let variable = name.strip_suffix("Instructions").unwrap_or(name);
            let value = values.get(variable).and_then(Value::as_str).unwrap_or_default();
            let text = texts.get(value).cloned().unwrap_or_else(|| "".into());
            data.insert(name.clone(), text);
        }
        data.insert("stateKeys".into(), values.into());
        Ok(data)
    }
}

impl Variable {
    fn value(&self, chosen: Option<&Value>) -> Result<Value, String> {
        let value = match chosen.unwrap_or(&self.default) {
            Value::Null => "".into(),
            value => value.clone(),
        };
        let is_choice = value.as_str().is_some_and(|it| self.choices.iter().any(|one| one == it));
        if self.choices.is_empty() || is_choice {
            return Ok(value);
        }
        let (name, choices) = (&self.name, self.choices.join(", "));
        Err(format!("{name}: invalid value {value}; choices: {choices}"))
    }
}
