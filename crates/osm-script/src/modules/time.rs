//! `osm:time`: sleep.

use std::time::Duration;

use serde_json::Value;

use super::{Arguments, Native};
use crate::host::Host;

pub(super) const FUNCTIONS: &[(&str, Native)] = &[("sleep", sleep)];

/// The longest sleep in one call, in milliseconds.
const LONGEST: f64 = 60_000.0;

fn sleep(host: &mut dyn Host, arguments: &Arguments) -> Result<Value, String> {
    let milliseconds = arguments.number(0)?;
    if !(0.0..=LONGEST).contains(&milliseconds) {
        return Err(arguments.wrong(0, "0 to 60000 milliseconds; use setTimeout for longer"));
    }
    host.sleep(Duration::from_secs_f64(milliseconds / 1_000.0), &|| false);
    Ok(Value::Null)
}
