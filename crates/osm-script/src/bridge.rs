//! Converts values and exceptions between Rust and JavaScript.

use rquickjs::{Ctx, Exception, Object, Value as JsValue};
use serde_json::Value;

use crate::error::{Kind, ScriptError};

/// A JavaScript value as JSON; `undefined` and functions become null.
pub(crate) fn to_json<'js>(ctx: &Ctx<'js>, value: JsValue<'js>) -> rquickjs::Result<Value> {
    let Some(text) = ctx.json_stringify(value)? else { return Ok(Value::Null) };
    let text = text.to_string()?;
    serde_json::from_str(&text).map_err(|error| {
        Exception::throw_message(ctx, &format!("a value is not valid JSON: {error}"))
    })
}

/// JSON as a JavaScript value.
pub(crate) fn to_js<'js>(ctx: &Ctx<'js>, value: &Value) -> rquickjs::Result<JsValue<'js>> {
    ctx.json_parse(value.to_string())
}

/// A thrown value.
pub(crate) struct Thrown {
    pub(crate) name: String,
    pub(crate) message: String,
    pub(crate) stack: String,
}

impl Thrown {
    /// A `null` that the engine threw.
    pub(crate) fn null() -> Self {
        Self { name: "Uncaught".into(), message: "null".into(), stack: String::new() }
    }

    /// An `Error` has a message and a stack; any other thrown value is shown as JSON.
    pub(crate) fn of<'js>(ctx: &Ctx<'js>, value: &JsValue<'js>) -> Self {
        let Some(object) = value.as_object().filter(|it| is_error(ctx, it)) else {
            let shown = to_json(ctx, value.clone()).map(|json| match json {
                Value::String(text) => text,
                other => other.to_string(),
            });
            // Converting it may throw again; that error is ignored.
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
            Kind::TimedOut => ("TimeLimit".into(), "the script exceeded its time limit".into()),
            Kind::OutOfMemory => {
                ("MemoryLimit".into(), "the script exceeded its memory limit".into())
            }
            Kind::Thrown | Kind::Unusable => (self.name, self.message),
        };
        ScriptError::new(kind, &name, message)
    }
}

/// Whether an object is an error. A `DOMException` is one that the engine does not know as such.
fn is_error<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> bool {
    let exception: rquickjs::Result<Object> = ctx.globals().get("DOMException");
    object.is_error() || exception.is_ok_and(|it| object.is_instance_of(it))
}
