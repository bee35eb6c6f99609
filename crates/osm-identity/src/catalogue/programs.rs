//! Names of programs whose kind is all that matters.

use super::Names;

/// Programs that run another and are nothing by themselves.
///
/// On a terminal this hardly matters, since everything there belongs to it. Where a terminal ends
/// or begins (`sudo` with a pty of its own) and where no terminal is, these are skipped.
pub const WRAPPERS: Names = &[
    // Other rights.
    "sudo",
    "su",
    "doas",
    "pkexec",
    "runuser",
    "setpriv",
    "gosu",
    "su-exec",
    // Another setting.
    "env",
    "setsid",
    "nohup",
    "nice",
    "ionice",
    "chrt",
    "taskset",
    "stdbuf",
    "timeout",
    "time",
    "flock",
    "xargs",
    "parallel",
    "watch",
    "entr",
    "chroot",
    "nsenter",
    "unshare",
    "proot",
    "fakeroot",
    "dbus-run-session",
    "dbus-launch",
    "direnv",
    "caffeinate",
    "arch",
    "open",
    // A terminal for one command.
    "script",
    "unbuffer",
    "expect",
    "faketty",
    // A look at the command.
    "strace",
    "ltrace",
    "gdb",
    "valgrind",
    "memcheck-amd64-",
    "callgrind-amd64",
    "perf",
    "hyperfine",
    // Its server part leaves the terminal; its terminals have ptys, and so an end, of their own.
    "nvim",
    // Windows.
    "winpty",
    "winpty-agent",
    "start",
    "runtimebroker",
    "taskeng",
    // Ourselves, when one `osm` runs another.
    "osm",
];

/// Programs whose script tells what they are, or whose name tells nothing.
pub const INTERPRETERS: Names = &[
    "node",
    "nodejs",
    "MainThread",
    "node-MainThread",
    "bun",
    "deno",
    "python*",
    "Python",
    "pypy*",
    "ruby*",
    "perl",
    "java",
    "busybox",
    "agent",
    "exe",
];

/// Servers of remote logins.
pub const REMOTES: Names = &[
    "sshd",
    "sshd-session",
    "sshd-auth",
    "dropbear",
    "tailscaled",
    "mosh-server",
    "etterminal",
    "etserver",
    "in.telnetd",
    "telnetd",
];

/// The tops of every tree.
pub const ROOTS: Names = &[
    "init",
    "systemd",
    "launchd",
    "login",
    "agetty",
    "getty",
    "runit",
    "s6-svscan",
    "openrc-init",
    "tini",
    "dumb-init",
    "docker-init",
    "catatonit",
    "conmon",
    "containerd-shim*",
    "gdm-session-worker",
    "lightdm",
    "sddm-helper",
    "xinit",
    "gnome-session-binary",
    "kdeinit5",
    "WindowServer",
    // Windows.
    "explorer",
    "services",
    "svchost",
    "wininit",
    "winlogon",
    "userinit",
    "lsass",
    "csrss",
];

/// Programs that keep services running: each service is something of its own, not a command of
/// theirs. On a terminal they are a person's, like everything else there.
pub const SUPERVISORS: Names = &[
    "supervisord",
    "runsv",
    "runsvdir",
    "s6-supervise",
    "supervise",
    "svscan",
    "nosh",
    "perpd",
    "dinit",
    "monit",
    "god",
    "circusd",
    "pm2",
    "PM2 *",
    "foreman",
    "honcho",
    "overmind",
    "hivemind",
    "goreman",
    "process-compose",
    "crond",
];

/// Programs that put another into a pid namespace of its own, as agents do with single commands.
pub const SANDBOXES: Names = &["bwrap", "firejail", "nsjail", "codex-linux-sandbox"];
