//! Waiting for somebody else's change, or for somebody's death, without asking again and again.

std::cfg_select! {
    target_os = "linux" => {
        mod linux;
        pub(super) use linux::begin;
    }
    _ => {
        mod portable;
        pub(super) use portable::begin;
    }
}

// Compiled (and tested) on Linux too, so that the twin cannot rot.
#[cfg(all(test, target_os = "linux"))]
#[expect(dead_code, reason = "a twin that only the compiler looks at here")]
mod portable;
