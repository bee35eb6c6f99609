//! Windows: milliseconds since the system started, sleep included.
#![expect(unsafe_code, reason = "the Windows API")]

use std::time::Duration;

use windows_sys::Win32::System::SystemInformation::GetTickCount64;

pub(super) fn uptime() -> Duration {
    // SAFETY: takes nothing and cannot fail.
    Duration::from_millis(unsafe { GetTickCount64() })
}
