//! x
use super::row::Row;
pub(crate) const ROWS: &[Row] = &[];
