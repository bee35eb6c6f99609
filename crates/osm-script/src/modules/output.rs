//! `osm:output`: the functions behind the globals `output`, `log` and `console`.

use serde_json::Value;

use super::{Arguments, Native};
use crate::host::{Host, Level};

pub(super) const FUNCTIONS: &[(&str, Native)] = &[
    ("print", |host, arguments| {
        host.print(arguments.text(0)?);
        Ok(Value::Null)
    }),
    ("printError", |host, arguments| {
        host.print_error(arguments.text(0)?);
        Ok(Value::Null)
    }),
    ("tell", |host, arguments| {
        host.tell(arguments.text(0)?);
        Ok(Value::Null)
    }),
    ("log", log),
];

fn log(host: &mut dyn Host, arguments: &Arguments) -> Result<Value, String> {
    let level = arguments.text(0)?;
    let level = Level::named(level).ok_or_else(|| arguments.wrong(0, "a level"))?;
    host.log(level, arguments.text(1)?, arguments.value(2));
    Ok(Value::Null)
}
