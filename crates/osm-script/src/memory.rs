//! The memory limit of a script.
//!
//! The engine has a limit of its own, but a script that fills the memory with small objects leaves no
//! room for the exception: the engine then throws `null`, or loses a rejected promise. This allocator
//! enforces the limit instead. It records that the limit was reached, and then grants a small reserve
//! for the exception. All builds use it, on top of the program's allocator.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::allocator::{Allocator, RustAllocator};

/// Bytes beyond the limit for the exception and for reporting it.
const RESERVE: usize = 256 << 10;

/// The memory that an engine uses.
#[derive(Clone, Debug)]
pub(crate) struct Memory(Rc<Usage>);

#[derive(Debug)]
struct Usage {
    limit: usize,
    used: Cell<usize>,
    is_exceeded: Cell<bool>,
}

impl Memory {
    pub(crate) fn new(limit: usize) -> Self {
        Self(Rc::new(Usage { limit, used: Cell::new(0), is_exceeded: Cell::new(false) }))
    }

    /// The limit in bytes.
    pub(crate) fn limit(&self) -> usize {
        self.0.limit
    }

    /// Whether a script reached the limit since the last [`start`](Self::start).
    pub(crate) fn is_exceeded(&self) -> bool {
        self.0.is_exceeded.get()
    }

    /// Forgets that an earlier script reached the limit.
    pub(crate) fn start(&self) {
        self.0.is_exceeded.set(false);
    }

    /// Whether so many more bytes are within the limit.
    fn permits(&self, more: usize) -> bool {
        let Usage { limit, used, is_exceeded } = &*self.0;
        let wanted = used.get().saturating_add(more);
        if wanted <= *limit {
            return true;
        }
        // The request that reaches the limit fails; the reserve is for those that report it.
        is_exceeded.replace(true) && wanted <= limit.saturating_add(RESERVE)
    }

    fn add(&self, bytes: usize) {
        self.0.used.set(self.0.used.get().saturating_add(bytes));
    }

    fn subtract(&self, bytes: usize) {
        self.0.used.set(self.0.used.get().saturating_sub(bytes));
    }
}

#[expect(unsafe_code, reason = "the engine takes an allocator in no other form")]
mod allocator {
    use super::{Allocator, Memory, RustAllocator};

    /// The size of a region, 0 for a null pointer.
    ///
    /// # Safety
    /// The region must be null, or one that [`RustAllocator`] returned and that was not freed.
    unsafe fn size(region: *mut u8) -> usize {
        if region.is_null() {
            return 0;
        }
        // SAFETY: the region is one of `RustAllocator`, as the caller guarantees.
        unsafe { RustAllocator::usable_size(region) }
    }

    // SAFETY: every region comes from `RustAllocator`, which fulfils the contract of the trait; the
    // other results are null pointers, which the trait permits.
    unsafe impl Allocator for Memory {
        fn alloc(&mut self, bytes: usize) -> *mut u8 {
            if !self.permits(bytes) {
                return std::ptr::null_mut();
            }
            let region = RustAllocator.alloc(bytes);
            // SAFETY: `RustAllocator` has just returned it.
            self.add(unsafe { size(region) });
            region
        }

        fn calloc(&mut self, count: usize, bytes: usize) -> *mut u8 {
            match count.checked_mul(bytes) {
                Some(total) if self.permits(total) => {}
                _ => return std::ptr::null_mut(),
            }
            let region = RustAllocator.calloc(count, bytes);
            // SAFETY: `RustAllocator` has just returned it.
            self.add(unsafe { size(region) });
            region
        }

        unsafe fn dealloc(&mut self, region: *mut u8) {
            // SAFETY: the caller guarantees that it is a region of this allocator.
            unsafe {
                self.subtract(size(region));
                RustAllocator.dealloc(region);
            }
        }

        unsafe fn realloc(&mut self, region: *mut u8, bytes: usize) -> *mut u8 {
            if region.is_null() {
                return self.alloc(bytes);
            }
            // SAFETY: the caller guarantees that it is a region of this allocator.
            let before = unsafe { size(region) };
            if !self.permits(bytes.saturating_sub(before)) {
                return std::ptr::null_mut();
            }
            // SAFETY: as above; the old region is not used after this succeeded.
            let moved = unsafe { RustAllocator.realloc(region, bytes) };
            if !moved.is_null() {
                self.subtract(before);
                // SAFETY: `RustAllocator` has just returned it.
                self.add(unsafe { size(moved) });
            }
            moved
        }

        unsafe fn usable_size(region: *mut u8) -> usize {
            // SAFETY: the caller guarantees that it is a region of this allocator.
            unsafe { size(region) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_that_reaches_the_limit_fails_and_the_reserve_follows() {
        let memory = Memory::new(1000);
        assert!(memory.permits(1000) && !memory.is_exceeded());
        memory.add(900);
        assert!(!memory.permits(200) && memory.is_exceeded());
        assert!(memory.permits(200), "the reserve");
        assert!(!memory.permits(RESERVE + 200));
        memory.start();
        assert!(!memory.is_exceeded() && !memory.permits(200));
        memory.subtract(900);
        assert!(memory.permits(1000));
    }
}
