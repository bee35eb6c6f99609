//! Builds the prompt of a goal from the items of the session, outside of its mode.

use serde_json::{Map, Value};

use super::{Error, open};
use crate::ops::prompt::{self, BuildRequest, Prompt};
use crate::{Interaction, Invocation};

/// Builds the prompt of a goal, with these values for its variables and defaults for the others.
pub fn build(
    invocation: &Invocation,
    name: &str,
    values: &Map<String, Value>,
    interaction: &mut dyn Interaction,
) -> Result<Prompt, Error> {
    let goal = open(invocation, name, interaction)?.goal;
    let data = goal.values(values).map_err(Error::Invalid)?;
    let request = BuildRequest { template: goal.template, data: data.into() };
    Ok(prompt::build(invocation, &request, interaction)?)
}
