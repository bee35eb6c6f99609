//! The running system as a [`ProcessSource`](crate::ProcessSource).
//!
//! Each module reads and hands the bytes to [`parse`](crate::parse); none of them decides
//! anything. All `unsafe` code of the crate is here. A platform that we do not know gets the
//! `unknown` twin, which answers every question with "cannot tell": identity then rests on
//! variables alone and says so.

std::cfg_select! {
    target_os = "linux" => {
        mod linux;
        pub use linux::System;
    }
    target_os = "macos" => {
        mod macos;
        pub use macos::System;
    }
    any(target_os = "freebsd", target_os = "openbsd", target_os = "netbsd") => {
        mod bsd;
        pub use bsd::System;
    }
    windows => {
        mod windows;
        pub use windows::System;
    }
    _ => {
        mod unknown;
        pub use unknown::System;
    }
}

// Compiled (and tested) on Linux too, so that the twin cannot rot.
#[cfg(all(test, target_os = "linux"))]
#[expect(unreachable_pub, dead_code, reason = "a twin that only the compiler looks at here")]
mod unknown;
