//! The file that `osm goal new` writes: a working goal that shows every key.

use super::front_matter::quote;
use super::prompt_file::SUFFIX;
use super::titled;

/// The format of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    PromptFile,
    Json,
}

impl Form {
    /// The name of the file.
    pub(crate) fn file_name(self, name: &str) -> String {
        match self {
            Self::PromptFile => format!("{name}{SUFFIX}"),
            Self::Json => format!("{name}.json"),
        }
    }
}

/// The text of the file.
pub(crate) fn scaffold(form: Form, name: &str, description: Option<&str>) -> String {
    let usual = format!("{}: write what it is for", titled(name));
    let description = description.unwrap_or(&usual);
    match form {
        Form::PromptFile => include_str!("../../assets/prompts/new-goal.md")
            .replace("NAME", name)
            .replace("DESCRIPTION", &quote(description)),
        Form::Json => {
            let description = serde_json::Value::from(description).to_string();
            include_str!("../../assets/prompts/new-goal.json")
                .replace("NAME", name)
                .replace("\"DESCRIPTION\"", &description)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::goals::json;
    use crate::goals::prompt_file::{self, KEYS, Written};

    proptest! {
        #[test]
        fn what_is_written_is_read(name in "[a-z0-9][a-z0-9-]{0,20}", said in "\\PC{1,60}|[\"\\\\\n#:]{1,20}") {
            prop_assume!(crate::goals::check_name(&name).is_ok() && !said.trim().is_empty());
            let text = scaffold(Form::PromptFile, &name, Some(&said));
            let goal = prompt_file::parse(&text, "x", Written::ForUs).unwrap();
            prop_assert_eq!((&goal.name, &goal.description), (&name, &said));
            let (goal, unknown) = json::parse(&scaffold(Form::Json, &name, Some(&said))).unwrap();
            prop_assert_eq!((&goal.name, &goal.description), (&name, &said));
            prop_assert!(unknown.is_empty() && goal.has_code());
        }
    }

    #[test]
    fn every_key_is_shown() {
        let text = scaffold(Form::PromptFile, "mine", None);
        for (key, _) in KEYS {
            assert!(text.contains(&format!("{key}:")), "{key}");
        }
    }
}
