//! `/proc/self/mountinfo`: whether the process table that is mounted at `/proc` shows every process.

/// Whether the table at `/proc` shows all processes of its pid namespace to every user.
///
/// ```text
/// 22 27 0:21 / /proc rw,relatime shared:5 - proc proc rw,hidepid=invisible
/// ```
///
/// Options that hide some are `hidepid` and `subset`. `false` if the text does not say.
#[must_use]
pub fn shows_all(mounts: &str) -> bool {
    // A later mount covers an earlier one.
    let table = mounts.lines().rev().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (root, point) = (place.next()?, place.next()?);
        (point == "/proc").then_some((root, kind))
    });
    let Some(("/", kind)) = table else { return false };
    let mut words = kind.split(' ');
    words.next() == Some("proc")
        && words.nth(1).is_some_and(|options| {
            options.split(',').all(|it| !it.starts_with("hidepid=") && !it.starts_with("subset="))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_hides_processes_is_known() {
        let plain = "22 27 0:21 / /proc rw,relatime shared:5 - proc proc rw\n";
        let others =
            "21 27 0:20 / /sys rw - sysfs sysfs rw\n30 22 0:9 / /proc/sys/fs rw - autofs a rw\n";
        for (expected, text) in [
            (true, plain.to_owned()),
            (true, format!("{others}{plain}{others}")),
            (true, plain.replace(" shared:5", "")),
            (false, String::new()),
            (false, others.to_owned()),
            (false, plain.replace("proc rw\n", "proc rw,hidepid=invisible\n")),
            (false, plain.replace("proc rw\n", "proc rw,gid=4,hidepid=2\n")),
            (false, plain.replace("proc rw\n", "proc rw,subset=pid\n")),
            (false, plain.replace("0:21 / ", "0:21 /1 ")),
            (false, plain.replace("- proc proc", "- fuse.lxcfs lxcfs")),
            (false, format!("{plain}40 22 0:50 / /proc rw - tmpfs tmpfs rw\n")),
            (false, "22 27 0:21 / /proc rw\n22 27 - proc\n / /proc - \n".to_owned()),
            (false, "22 27 0:21 / /proc rw - proc".to_owned()),
        ] {
            assert_eq!(shows_all(&text), expected, "{text}");
        }
    }
}
