//! The arguments of a call, with errors that name the invalid argument.

use serde_json::Value;

/// The arguments that a script passed to a function.
pub struct Arguments<'a> {
    function: &'a str,
    values: &'a [Value],
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(function: &'a str, values: &'a [Value]) -> Self {
        Self { function, values }
    }

    /// All arguments.
    #[must_use]
    pub fn all(&self) -> &'a [Value] {
        self.values
    }

    /// One argument; null if it was not passed.
    #[must_use]
    pub fn value(&self, place: usize) -> &'a Value {
        self.values.get(place).unwrap_or(&Value::Null)
    }

    /// A string.
    pub fn text(&self, place: usize) -> Result<&'a str, String> {
        self.value(place).as_str().ok_or_else(|| self.wrong(place, "a string"))
    }

    /// An optional string.
    pub fn optional_text(&self, place: usize) -> Result<Option<&'a str>, String> {
        match self.value(place) {
            Value::Null => Ok(None),
            _ => self.text(place).map(Some),
        }
    }

    /// A number.
    pub fn number(&self, place: usize) -> Result<f64, String> {
        self.value(place).as_f64().ok_or_else(|| self.wrong(place, "a number"))
    }

    /// An array of strings.
    pub fn texts(&self, place: usize) -> Result<Vec<String>, String> {
        let wrong = || self.wrong(place, "an array of strings");
        let list = self.value(place).as_array().ok_or_else(wrong)?;
        list.iter().map(|it| it.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
    }

    /// The error message for an invalid argument.
    #[must_use]
    pub fn wrong(&self, place: usize, wanted: &str) -> String {
        format!("{}: argument {} must be {wanted}", self.function, place + 1)
    }
}
