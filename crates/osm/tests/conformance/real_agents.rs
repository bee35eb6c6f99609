//! The real agents.
use crate::situation::Situation;
pub const SITUATIONS: &[Situation] = &[];
