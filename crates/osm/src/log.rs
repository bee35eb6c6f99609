//! The log: JSON lines in a file that only the user can read, rotated by size.
//!
//! Off by default. Only commands that run scripts write a log.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use osm_script::Level;
use osm_store::Clock;
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::private;

/// What is logged, and to which file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogSettings {
    /// The lowest level that is written; `None` writes nothing.
    pub(crate) level: Option<Level>,
    /// The file; a relative path is in osm's home folder.
    pub(crate) file: Option<PathBuf>,
    /// The file is rotated when it grows beyond this size; 0 never rotates.
    pub(crate) max_size_mb: u32,
    /// The number of files kept, including the current one.
    pub(crate) max_files: u32,
}

/// The log.
pub(crate) struct Log(Option<RefCell<LogFile>>);

struct LogFile {
    clock: Clock,
    level: Level,
    path: PathBuf,
    file: File,
    size: u64,
    most: u64,
    files: u32,
    /// Why an entry could not be written.
    failure: Option<io::Error>,
}

impl Log {
    /// Opens the log if the settings ask for one.
    pub(crate) fn open(
        settings: &LogSettings,
        home: Option<&Path>,
        clock: &Clock,
    ) -> Result<Self, CommandError> {
        let (Some(level), Some(path)) = (settings.level, &settings.file) else {
            return Ok(Self(None));
        };
        let path = home.unwrap_or(Path::new("")).join(path);
        let cannot = |error: io::Error| {
            let message = format!("cannot write the log {}: {error}", path.display());
            CommandError::failed("log_not_writable", message)
                .with_hint("choose another file with --log-file or the setting `log.file`")
        };
        let (file, size) = begin(&path).map_err(cannot)?;
        let most = u64::from(settings.max_size_mb) << 20;
        let files = settings.max_files.max(1);
        Ok(Self(Some(RefCell::new(LogFile {
            clock: Arc::clone(clock),
            level,
            path,
            file,
            size,
            most,
            files,
            failure: None,
        }))))
    }

    /// A warning if entries could not be written; given once.
    pub(crate) fn take_failure(&self) -> Option<String> {
        let mut log = self.0.as_ref()?.borrow_mut();
        let failure = log.failure.take()?;
        Some(format!("the log {} is incomplete: {failure}", log.path.display()))
    }

    /// Writes an entry. A failure does not stop the command; it is reported at the end.
    pub(crate) fn write(&self, level: Level, message: &str, attributes: &Value) {
        let Some(log) = &self.0 else { return };
        let mut log = log.borrow_mut();
        if level < log.level {
            return;
        }
        let level = match level {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        };
        let mut entry = json!({
            "time": (log.clock)(),
            "level": level,
            "message": message,
            "pid": std::process::id(),
        });
        if !attributes.is_null() {
            entry["attributes"] = attributes.clone();
        }
        if let Err(failure) = log.append(&format!("{entry}\n")) {
            log.failure = Some(failure);
        }
    }

    pub(crate) fn info(&self, message: &str, what: &str) {
        self.write(Level::Info, message, &json!({ "what": what }));
    }

    pub(crate) fn error(&self, message: &str, why: &str) {
        self.write(Level::Error, message, &json!({ "why": why }));
    }
}

impl LogFile {
    fn append(&mut self, line: &str) -> io::Result<()> {
        if self.most > 0 && self.size + line.len() as u64 > self.most {
            self.rotate()?;
        }
        // One write for each line, because several processes append to the file.
        self.file.write_all(line.as_bytes())?;
        self.size += line.len() as u64;
        Ok(())
    }

    /// Rotates the files: `log` becomes `log.1`, `log.1` becomes `log.2`; the oldest is removed.
    fn rotate(&mut self) -> io::Result<()> {
        // Another process may have rotated it already.
        let current = std::fs::metadata(&self.path).map_or(0, |about| about.len());
        if current >= self.size.min(self.most) {
            for number in (1..self.files).rev() {
                rename(&numbered(&self.path, number - 1), &numbered(&self.path, number));
            }
            if self.files == 1 {
                self.file.set_len(0)?;
            }
        }
        (self.file, self.size) = begin(&self.path)?;
        Ok(())
    }
}

fn begin(path: &Path) -> io::Result<(File, u64)> {
    if let Some(folder) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        private::folder(folder)?;
    }
    let file = private::open(File::options().append(true).create(true), path)?;
    let size = file.metadata()?.len();
    Ok((file, size))
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 0 {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

#[expect(clippy::disallowed_methods, reason = "a log needs no sync, and rename drops the oldest")]
fn rename(from: &Path, to: &Path) {
    // A missing file needs no renaming.
    drop(std::fs::rename(from, to));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> Clock {
        Arc::new(|| jiff::Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn json_lines_that_only_the_user_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/osm.log");
        let settings = LogSettings {
            level: Some(Level::Info),
            file: Some(file.clone()),
            max_size_mb: 1,
            max_files: 3,
        };
        let log = Log::open(&settings, None, &clock()).unwrap();
        log.write(Level::Debug, "too little", &Value::Null);
        log.info("command", "list");
        let text = std::fs::read_to_string(&file).unwrap();
        let entry: Value = serde_json::from_str(text.trim_end()).unwrap();
        assert_eq!(
            (&entry["level"], &entry["attributes"]["what"]),
            (&json!("info"), &json!("list"))
        );
        assert_eq!(entry["time"], "1970-01-01T00:00:00Z", "the clock is the caller's");
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata().unwrap());
            assert_eq!(mode & 0o7777, 0o600);
        }
        let long = "x".repeat(400_000);
        for _ in 0..12 {
            log.info("long", &long);
        }
        let mut names: Vec<_> = std::fs::read_dir(file.parent().unwrap())
            .unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["osm.log", "osm.log.1", "osm.log.2"]);
        assert!(file.metadata().unwrap().len() <= 1 << 20);
    }

    #[test]
    fn off_by_default() {
        let log = Log::open(&LogSettings::default(), None, &clock()).unwrap();
        log.error("not", "written");
        assert!(log.0.is_none());
    }
}
