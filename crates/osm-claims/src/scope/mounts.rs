//! Where a folder lies inside its file system, read from `/proc/self/mountinfo`.
//!
//! The place is the same from every bind mount of the file system, in every mount namespace, and it
//! stays when the file system gives the folder another inode number.

use std::borrow::Cow;

/// The place of a path on a device, as the table of mounts has it: `MAJOR:MINOR`.
pub(super) fn place(table: &[u8], device: &str, path: &[u8]) -> Option<Vec<u8>> {
    let mounts = table.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut fields = line.split(|byte| *byte == b' ').skip(2);
        let (found, root, point) = (fields.next()?, fields.next()?, fields.next()?);
        (found == device.as_bytes()).then(|| (unescaped(root), unescaped(point)))
    });
    let around = mounts.filter_map(|(root, point)| Some((root, below(path, &point)?)));
    // The innermost one; of two at one point the later one covers the other.
    let (root, rest) = around.min_by_key(|(_, rest)| rest.len())?;
    let root = root.strip_suffix(b"/").unwrap_or(&root);
    Some([root, rest].concat())
}

/// What follows the mount point in a path: nothing, or `/` and more.
fn below<'a>(path: &'a [u8], point: &[u8]) -> Option<&'a [u8]> {
    let rest = path.strip_prefix(point.strip_suffix(b"/").unwrap_or(point))?;
    (rest.is_empty() || rest.starts_with(b"/")).then_some(rest)
}

/// The kernel writes a space, a tab, a line feed and a backslash as `\` and three octal digits.
fn unescaped(field: &[u8]) -> Cow<'_, [u8]> {
    if !field.contains(&b'\\') {
        return Cow::Borrowed(field);
    }
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let value =
            digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(value.unwrap_or(*first));
        rest = if value.is_some() { &after[3..] } else { after };
    }
    Cow::Owned(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"\
22 1 0:40 / / rw,relatime - overlay o rw,lowerdir=/l
23 22 0:40 /home/ann\\040b /mnt/bound\\134 rw - overlay o rw
24 22 0:41 / /mnt/other rw - tmpfs t rw
25 22 0:40 /home /mnt/twice rw - overlay o rw
broken 0:40
";

    #[test]
    fn a_folder_has_one_place_by_every_path() {
        let find = |path: &str| {
            place(TABLE, "0:40", path.as_bytes()).map(|it| String::from_utf8(it).unwrap())
        };
        for path in ["/home/ann b/x/.git", "/mnt/bound\\/x/.git", "/mnt/twice/ann b/x/.git"] {
            assert_eq!(find(path).as_deref(), Some("/home/ann b/x/.git"), "{path}");
        }
        assert_eq!(find("/mnt/twice").as_deref(), Some("/home"));
        assert_eq!(find("/mnt/twicer/.git").as_deref(), Some("/mnt/twicer/.git"));
        assert_eq!(place(TABLE, "0:99", b"/home"), None);
        assert_eq!(place(b"\\\\ \\9", "0:40", b"/home"), None);
    }
}
