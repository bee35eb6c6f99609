//! The content of a block.
//!
//! Ten thousand files in ten thousand allocations make the threads that read them wait for each
//! other in the allocator. So a thread reads many files into one text, and a body is a part of it.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A text, or a part of a text that several bodies share.
#[derive(Clone)]
pub struct Body {
    text: Arc<String>,
    range: Range<usize>,
}

impl Body {
    /// A part of a text. The range must begin and end between two characters.
    pub(crate) fn part(text: &Arc<String>, range: Range<usize>) -> Self {
        Self { text: Arc::clone(text), range }
    }
}

impl Deref for Body {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text[self.range.clone()]
    }
}

impl<T: Into<String>> From<T> for Body {
    fn from(text: T) -> Self {
        let text = text.into();
        Self { range: 0..text.len(), text: Arc::new(text) }
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Body {}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
