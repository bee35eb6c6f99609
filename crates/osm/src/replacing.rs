//! Replaces files that belong to other programs: hooks of git, settings of agents.

use std::fs::Permissions;
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Replaces a file, which is whole at every moment. A new file can be read by its owner only, unless
/// permissions are given.
pub(crate) fn replace(
    path: &Path,
    bytes: &[u8],
    permissions: Option<&Permissions>,
) -> io::Result<()> {
    let file = prepare(path, bytes, permissions)?;
    file.persist(path).map_err(|error| error.error)?;
    crate::private::sync_folder(path.parent().unwrap_or(Path::new(".")))
}

/// A file beside `path` that can take its place at once.
pub(crate) fn prepare(
    path: &Path,
    bytes: &[u8],
    permissions: Option<&Permissions>,
) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions.clone())?;
    }
    file.as_file().sync_all()?;
    Ok(file)
}

/// The permissions of a new program, or of a new file that other users may read.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "Windows has no such permissions")]
pub(crate) fn shared_permissions(is_program: bool) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(if is_program { 0o755 } else { 0o644 }))
}

/// Windows has no such permissions.
#[cfg(not(unix))]
pub(crate) fn shared_permissions(_is_program: bool) -> Option<Permissions> {
    None
}
