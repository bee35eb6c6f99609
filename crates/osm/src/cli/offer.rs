//! Words that completion offers for an argument that takes any word: the operation has a better
//! error for an unknown word than the argument parser.

use std::ffi::OsStr;

use clap::Arg;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};

/// Takes any text, and offers some.
#[derive(Clone)]
pub(super) struct Offer(pub(super) fn() -> Vec<PossibleValue>);

impl TypedValueParser for Offer {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter()))
    }
}
