//! `malloc` for the C in the static program (SQLite, QuickJS): Rust's allocator.
//!
//! musl's own maps and unmaps pages of the system all the time; a claim made a hundred of these calls for
//! the pages of its database. Every function of musl that allocates is here, because a region of one
//! allocator must not reach another.

#![expect(unsafe_code, reason = "these are functions of C")]

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc as resize};
use std::ffi::{c_int, c_void};
use std::ptr;

/// Stands before each region: C does not say how large a region is that it frees.
#[derive(Clone, Copy)]
#[repr(C)]
struct Header {
    size: usize,
    align: usize,
}

/// What C expects of every region, and the room of a header.
const ALIGN: usize = 16;

impl Header {
    const fn new(size: usize) -> Self {
        Self { size, align: ALIGN }
    }

    /// The memory of the header and its region, which starts `align` bytes after it.
    fn layout(self) -> Option<Layout> {
        Layout::from_size_align(self.size.checked_add(self.align)?, self.align).ok()
    }

    /// The header of a region.
    ///
    /// # Safety
    /// The region is one of these functions.
    unsafe fn of(region: *mut c_void) -> Self {
        // SAFETY: the caller guarantees that a header stands before it.
        unsafe { *region.cast::<Self>().sub(1) }
    }

    /// A region in new memory, which must have this header's layout; null if there is no memory.
    ///
    /// # Safety
    /// The memory is null or has the layout.
    unsafe fn put(self, memory: *mut u8) -> *mut c_void {
        if memory.is_null() {
            return ptr::null_mut();
        }
        // SAFETY: the region starts `align` bytes into the memory, which is room for a header.
        unsafe {
            let region = memory.add(self.align);
            region.cast::<Self>().sub(1).write(self);
            region.cast()
        }
    }
}

fn allocate(header: Header, how: unsafe fn(Layout) -> *mut u8) -> *mut c_void {
    let Some(layout) = header.layout() else { return ptr::null_mut() };
    // SAFETY: the layout has room for a header at least, so it is not empty.
    unsafe { header.put(how(layout)) }
}

#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    allocate(Header::new(size), alloc)
}

#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    count
        .checked_mul(size)
        .map_or(ptr::null_mut(), |size| allocate(Header::new(size), alloc_zeroed))
}

#[unsafe(no_mangle)]
extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
    allocate(Header { size, align: align.max(ALIGN) }, alloc)
}

#[unsafe(no_mangle)]
extern "C" fn memalign(align: usize, size: usize) -> *mut c_void {
    aligned_alloc(align, size)
}

/// # Safety
/// As in C: there is room for a pointer at `place`.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(place: *mut *mut c_void, align: usize, size: usize) -> c_int {
    let region = aligned_alloc(align, size);
    if region.is_null() {
        return rustix::io::Errno::NOMEM.raw_os_error();
    }
    // SAFETY: the caller guarantees it.
    unsafe { place.write(region) };
    0
}

/// # Safety
/// As in C: the region is null or one of these functions, and was not freed.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(region: *mut c_void, size: usize) -> *mut c_void {
    if region.is_null() {
        return malloc(size);
    }
    // SAFETY: the caller guarantees that it is a region of ours, which has the layout of its header.
    unsafe {
        let old = Header::of(region);
        let new = Header { size, ..old };
        match (old.layout(), new.layout()) {
            (Some(was), Some(becomes)) => {
                new.put(resize(region.cast::<u8>().sub(old.align), was, becomes.size()))
            }
            _ => ptr::null_mut(),
        }
    }
}

/// # Safety
/// As in C: the region is null or one of these functions, and was not freed.
#[unsafe(no_mangle)]
unsafe extern "C" fn free(region: *mut c_void) {
    if region.is_null() {
        return;
    }
    // SAFETY: the caller guarantees that it is a region of ours, which has the layout of its header.
    unsafe {
        let header = Header::of(region);
        if let Some(layout) = header.layout() {
            dealloc(region.cast::<u8>().sub(header.align), layout);
        }
    }
}

/// # Safety
/// As in C: the region is null or one of these functions, and was not freed.
#[unsafe(no_mangle)]
unsafe extern "C" fn malloc_usable_size(region: *mut c_void) -> usize {
    // SAFETY: the caller guarantees it.
    if region.is_null() { 0 } else { unsafe { Header::of(region).size } }
}
