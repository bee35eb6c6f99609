use serde_json::{Map, Value, json};

use super::*;

/// The goal with these values of its variables, as `goal.js` has it rendered.
fn rendered(goal: &Goal, values: &Map<String, Value>) -> String {
    let mut data = goal.data.clone();
    data.extend(values.clone());
    data.insert("context".into(), json!("THE CONTEXT"));
    osm_script::template::render(&goal.name, &goal.template, &Value::Object(data)).unwrap()
}

/// Every combination of the choices of a goal; a free text is empty or not.
fn combinations(goal: &Goal) -> Vec<Map<String, Value>> {
    goal.variables.iter().fold(vec![Map::new()], |so_far, variable| {
        let values = if variable.choices.is_empty() {
            vec![variable.default.clone(), json!("SAID BY {{ SOMEBODY }}")]
        } else {
            variable.choices.iter().map(|it| json!(it)).collect()
        };
        let with = |map: &Map<String, Value>, value: &Value| {
            let mut map = map.clone();
            map.insert(variable.key.clone(), value.clone());
            map
        };
        so_far.iter().flat_map(|map| values.iter().map(move |value| with(map, value))).collect()
    })
}

#[test]
fn every_goal_is_rendered_with_every_value() {
    for (name, text) in FILES {
        let goal = prompt_file::parse(text, "x", Written::ForUs)
            .unwrap_or_else(|mistake| panic!("{name}: {mistake}"));
        assert_eq!(goal.name, *name);
        assert_ne!(goal.category, "other", "{name}");
        let all = combinations(&goal);
        let mut seen = std::collections::HashSet::new();
        for values in &all {
            let prompt = rendered(&goal, values);
            assert!(prompt.contains("\n## Context\n"), "{name}");
            assert!(prompt.ends_with("THE CONTEXT\n") || prompt.ends_with("THE CONTEXT"), "{name}");
            assert!(!prompt.contains("{%"), "{name}: {prompt}");
            assert!(!prompt.replace("{{ SOMEBODY }}", "").contains("{{"), "{name}: {prompt}");
            assert!(!prompt.contains("\n\n\n"), "{name} has a hole: {prompt}");
            assert!(prompt.lines().all(|line| line == line.trim_end()), "{name}");
            assert!(seen.insert(prompt), "{name}: {values:?} makes no difference");
        }
        assert_eq!(seen.len(), all.len(), "{name}");
    }
}

#[test]
fn two_of_them() {
    let one = |name: &str| {
        let (name, text) = FILES.iter().find(|it| it.0 == name).unwrap();
        read(name, text)
    };
    let goal = one("code-explainer");
    let values = Map::from_iter([("depth".to_owned(), json!("brief"))]);
    insta::assert_snapshot!(rendered(&goal, &values), @"");
    let goal = one("implementation-plan");
    let values = Map::from_iter([("goal".to_owned(), json!("Say {{ hello }}."))]);
    let prompt = rendered(&goal, &values);
    let begin: Vec<&str> = prompt.lines().take(9).collect();
    insta::assert_snapshot!(begin.join("\n"), @"");
}

#[test]
fn the_goals_of_the_tool_that_came_before_are_all_there() {
    assert_eq!(FILES.len(), 20);
    assert!(FILES.is_sorted());
}
