//! What a session is told beside the answer to its request.

use osm_claims::Notices;

use super::{mark_told, words};
use crate::interaction::Interaction;
use crate::invocation::Invocation;

/// Tells the session what it lost, once, and what others want of it.
pub(crate) fn tell_notices(
    notices: &Notices,
    invocation: &Invocation,
    interaction: &mut dyn Interaction,
) {
    for waiter in &notices.waiting {
        interaction.note(&words::waiter(waiter));
    }
    for message in &notices.messages {
        interaction.note(&words::message(message));
    }
    if !notices.messages.is_empty() {
        interaction.hint("`osm inbox` acknowledges messages; answer with `osm ask SESSION TEXT`");
    }
    if notices.losses.is_empty() {
        return;
    }
    for loss in &notices.losses {
        let (name, fate) =
            (words::one_line(&loss.claim.resource.to_string()), words::fate(&loss.claim));
        interaction.warn(&format!("{name} is no longer yours: {fate}"));
    }
    interaction.hint("stop working on it, then acknowledge the loss with `osm release`");
    // If this fails, it is told again.
    drop(mark_told(invocation));
}

/// The same, and what it may resume.
pub(crate) fn tell_resumable(
    notices: &Notices,
    invocation: &Invocation,
    interaction: &mut dyn Interaction,
) {
    tell_notices(notices, invocation, interaction);
    let names: Vec<String> = notices.resumable.iter().map(|it| it.resource.to_string()).collect();
    if !names.is_empty() {
        let names = words::one_line(&names.join(", "));
        interaction.warn(&format!("this session held before its process died: {names}"));
        interaction.hint("take them over with `osm claim resume`, or leave them to other sessions");
    }
}
