//! `osm:template`: templates of `MiniJinja`.

use serde_json::{Value, json};

use super::{Arguments, Native};
use crate::host::Host;
use crate::template;

pub(super) const FUNCTIONS: &[(&str, Native)] = &[("render", render), ("check", check)];

fn render(_host: &mut dyn Host, arguments: &Arguments) -> Result<Value, String> {
    let (text, name) = (arguments.text(0)?, arguments.optional_text(2)?.unwrap_or("template"));
    let data = match arguments.value(1) {
        Value::Null => json!({}),
        Value::Object(_) => arguments.value(1).clone(),
        _ => return Err(arguments.wrong(1, "an object: the names that the template knows")),
    };
    template::render(name, text, &data).map(|text| json!(text))
}

fn check(_host: &mut dyn Host, arguments: &Arguments) -> Result<Value, String> {
    let name = arguments.optional_text(1)?.unwrap_or("template");
    template::check(name, arguments.text(0)?).map(|()| Value::Null)
}
