//! Values and exceptions on their way between Rust and JavaScript.

use rquickjs::{Ctx, Exception, Value as JsValue};
use serde_json::Value;

use crate::error::{Kind, ScriptError};

/// A value of JavaScript as JSON; `undefined` and functions are null.
pub(crate) fn to_json<'js>(ctx: &Ctx<'js>, value: JsValue<'js>) -> rquickjs::Result<Value> {
    let Some(text) = ctx.json_stringify(value)? else { return Ok(Value::Null) };
    let text = text.to_string()?;
    serde_json::from_str(&text)
        .map_err(|error| Exception::throw_message(ctx, &format!("a value is no JSON: {error}")))
}

/// JSON as a value of JavaScript.
pub(crate) fn to_js<'js>(ctx: &Ctx<'js>, value: &Value) -> rquickjs::Result<JsValue<'js>> {
    ctx.json_parse(value.to_string())
}

/// What was thrown, as far as it can be told.
pub(crate) struct Thrown {
    pub(crate) name: String,
    pub(crate) message: String,
    pub(crate) stack: String,
}

impl Thrown {
    /// Anything can be thrown: an error says what and where, all else is shown as it is.
    pub(crate) fn of<'js>(ctx: &Ctx<'js>, value: &JsValue<'js>) -> Self {
        let Some(object) = value.as_object().filter(|it| it.is_error()) else {
            let shown = to_json(ctx, value.clone()).map(|json| match json {
                Value::String(text) => text,
                other => other.to_string(),
            });
            // Looking at it may throw again, which is of no interest.
            let shown = shown.unwrap_or_else(|_| {
                drop(ctx.catch());
                format!("a value of type {}", value.type_name())
            });
            return Self { name: "Uncaught".into(), message: shown, stack: String::new() };
        };
        let text = |key: &str| object.get::<_, Option<String>>(key).ok().flatten();
        Self {
            name: text("name").unwrap_or_else(|| "Error".into()),
            message: text("message").unwrap_or_default(),
            stack: text("stack").unwrap_or_default(),
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        let is_memory = ["out of memory", "string too long"].contains(&self.message.as_str());
        if self.name == "InternalError" && is_memory { Kind::OutOfMemory } else { Kind::Thrown }
    }

    pub(crate) fn into_error(self, kind: Kind) -> ScriptError {
        let (name, message) = match kind {
            Kind::Interrupted => ("Interrupted".into(), "the script was stopped".into()),
            Kind::TimedOut => ("TimeLimit".into(), "the script computed for too long".into()),
            Kind::OutOfMemory => ("MemoryLimit".into(), "the script needs too much memory".into()),
            Kind::Thrown | Kind::Spoiled => (self.name, self.message),
        };
        ScriptError::new(kind, &name, message)
    }
}
