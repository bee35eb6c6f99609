//! Variables of goals, under the keys that goals read here.
//!
//! The upstream tool stores the variable `type` of the goal `doc-generator` as `goal:doc-generator/type`
//! in the state of that goal. Here it is `type`, and some built-in goals call a variable otherwise.

use serde_json::{Map, Value};

/// Variables of built-in goals with another name: the goal, the name upstream, the name here.
const RENAMED: [(&str, &str, &str); 7] = [
    ("adaptive-editor", "instruction", "instruct"),
    ("implementation-plan", "goalText", "goal"),
    ("morale-improver", "originalInstructions", "original"),
    ("morale-improver", "failedPlan", "plan"),
    ("morale-improver", "specificFailures", "failures"),
    ("review-classifier", "outputFormat", "output-format"),
    ("which-one-is-better", "comparisonType", "type"),
];

/// Renames the variables in the state of all commands. A key that exists already stays as it is, and so
/// does the variable.
pub(super) fn rename_variables(script_state: Option<&mut Value>) {
    let commands = script_state.and_then(Value::as_object_mut);
    for (goal, state) in commands.into_iter().flatten() {
        if let Some(state) = state.as_object_mut() {
            rename(goal, state);
        }
    }
}

fn rename(goal: &str, state: &mut Map<String, Value>) {
    let ours = |key: &String| -> Option<String> {
        let theirs = key.strip_prefix("goal:")?.strip_prefix(goal)?.strip_prefix('/')?;
        let renamed = RENAMED.iter().find(|it| it.0 == goal && it.1 == theirs);
        Some(renamed.map_or(theirs, |it| it.2).to_owned())
    };
    let variables: Vec<(String, String)> =
        state.keys().filter_map(|key| Some((key.clone(), ours(key)?))).collect();
    for (theirs, ours) in variables {
        if !state.contains_key(&ours)
            && let Some(value) = state.remove(&theirs)
        {
            state.insert(ours, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn renamed(mut state: Value) -> Value {
        rename_variables(Some(&mut state));
        state
    }

    #[test]
    fn variables_get_the_keys_that_are_read() {
        let state = json!({
            "doc-generator": { "goal:doc-generator/type": "api", "other": 1 },
            "my-goal": { "goal:my-goal/a/b": 2, "goal:else/c": 3 },
            "morale-improver": { "goal:morale-improver/failedPlan": "p", "goal:morale-improver/plan2": null },
        });
        let expected = json!({
            "doc-generator": { "type": "api", "other": 1 },
            "my-goal": { "a/b": 2, "goal:else/c": 3 },
            "morale-improver": { "plan": "p", "plan2": null },
        });
        assert_eq!(renamed(state), expected);
    }

    #[test]
    fn nothing_is_lost() {
        let both = json!({ "g": { "goal:g/type": "theirs", "type": "ours" } });
        assert_eq!(renamed(both.clone()), both);
        for odd in [json!(null), json!([1]), json!({ "g": [1] }), json!({ "": { "goal:": 1 } })] {
            assert_eq!(renamed(odd.clone()), odd);
        }
        rename_variables(None);
    }
}
