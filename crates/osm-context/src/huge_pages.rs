//! Large pages for large texts.
//!
//! Each page of 4 KiB costs a page fault when it is first written to, and time at the end of the
//! program. A hundred megabytes of files are 28 000 pages, which take as long as copying the files.

/// Asks the system for large pages behind a text with room for so many bytes, before it is filled.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "madvise")]
pub(crate) fn advise(text: &str, room: usize) {
    use rustix::mm::{Advice, madvise};

    /// The size of a large page.
    const LARGE: usize = 2 << 20;

    let start = text.as_ptr().addr().next_multiple_of(LARGE);
    let end = (text.as_ptr().addr() + room) / LARGE * LARGE;
    if start < end {
        let pages = text.as_ptr().with_addr(start).cast_mut().cast();
        // SAFETY: the range is within the memory of the text, and the advice changes no content.
        let _refused = unsafe { madvise(pages, end - start, Advice::LinuxHugepage) };
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn advise(_text: &str, _room: usize) {}
