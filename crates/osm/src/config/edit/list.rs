//! Lists over several lines, with a comment here and there.
//!
//! To the parser a comment belongs to what comes after it; people write it after what it is about.
//! So when a name goes, the spacing before it is handed on to the next one.

use toml_edit::{Array, DocumentMut, Item, RawString, Value};

use super::find;

/// The list under a name, with its spacing.
fn array(text: &str, name: &str) -> Array {
    let document: DocumentMut = text.parse().expect("it was parsed before");
    find(document.as_table(), name).and_then(Item::as_array).cloned().unwrap_or_default()
}

/// The list under a name, with other names in it. Comments stay, also when their name goes.
pub(super) fn with_names(text: &str, name: &str, names: &[String]) -> String {
    let array = array(text, name);
    let indentation = array
        .get(0)
        .and_then(|first| first.decor().prefix()?.as_str()?.rsplit('\n').next().map(str::to_owned))
        .filter(|_| array.to_string().contains('\n'))
        .unwrap_or_default();
    let mut loose = String::new();
    let mut kept: Vec<Value> = Vec::new();
    let trailing = raw(Some(array.trailing()));
    for mut value in array {
        let prefix = raw(value.decor().prefix());
        let suffix = raw(value.decor().suffix());
        if value.as_str().is_some_and(|name| names.iter().any(|wanted| wanted == name)) {
            value.decor_mut().set_prefix(format!("{loose}{prefix}"));
            loose.clear();
            kept.push(value);
        } else {
            for spacing in [prefix, suffix].iter().filter(|spacing| spacing.contains('#')) {
                loose.push_str(spacing);
            }
        }
    }
    loose.push_str(&trailing);
    for name in names {
        if kept.iter().any(|value| value.as_str() == Some(name)) {
            continue;
        }
        let prefix = format!("{}\n{indentation}", loose.trim_end());
        let mut value = Value::from(name);
        value.decor_mut().set_prefix(prefix);
        loose = "\n".into();
        kept.push(value);
    }
    let mut result = Array::new();
    for value in kept {
        result.push_formatted(value);
    }
    result.set_trailing(loose);
    result.set_trailing_comma(true);
    result.decor_mut().clear();
    result.to_string()
}

fn raw(spacing: Option<&RawString>) -> String {
    spacing.and_then(|spacing| spacing.as_str()).unwrap_or_default().to_owned()
}

/// The comments in a list, one each line.
pub(super) fn comments_in(text: &str, name: &str) -> Vec<String> {
    let array = array(text, name);
    let spacing =
        array.iter().flat_map(|value| [raw(value.decor().prefix()), raw(value.decor().suffix())]);
    let all: String = spacing.chain([raw(Some(array.trailing()))]).collect();
    all.lines()
        .filter_map(|line| line.find('#').map(|at| line[at..].trim_end().to_owned()))
        .collect()
}
