//! The log: JSON lines in a file that nobody else can read, and that does not grow for ever.
//!
//! There is none unless somebody asks for one. Only commands that run scripts have a log.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use osm_script::Level;
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::private;

/// What is logged, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogSettings {
    /// The least that is written; `None` is nothing.
    pub(crate) level: Option<Level>,
    /// The file; one of that name in the home of `osm` if it is no absolute path.
    pub(crate) file: Option<PathBuf>,
    /// A file that is larger is set aside.
    pub(crate) max_size_mb: u32,
    /// So many files are kept, with the one that is written to.
    pub(crate) max_files: u32,
}

/// The log.
pub(crate) struct Log(Option<RefCell<Book>>);

struct Book {
    level: Level,
    path: PathBuf,
    file: File,
    size: u64,
    most: u64,
    files: u32,
    /// Why something is missing in it.
    failure: Option<io::Error>,
}

impl Log {
    /// Opens the log, if there is to be one.
    pub(crate) fn open(settings: &LogSettings, home: Option<&Path>) -> Result<Self, CommandError> {
        let (Some(level), Some(path)) = (settings.level, &settings.file) else {
            return Ok(Self(None));
        };
        let path = home.unwrap_or(Path::new("")).join(path);
        let cannot = |error: io::Error| {
            CommandError::failed(format!("the log {} cannot be written: {error}", path.display()))
                .with_hint("choose another file with --log-file, or none: `log.file`")
        };
        let (file, size) = begin(&path).map_err(cannot)?;
        let most = u64::from(settings.max_size_mb) << 20;
        let files = settings.max_files.max(1);
        Ok(Self(Some(RefCell::new(Book { level, path, file, size, most, files, failure: None }))))
    }

    /// What is wrong with the log, if something could not be written to it; told once.
    pub(crate) fn take_failure(&self) -> Option<String> {
        let mut book = self.0.as_ref()?.borrow_mut();
        let failure = book.failure.take()?;
        Some(format!("the log {} is not complete: {failure}", book.path.display()))
    }

    /// Writes an entry. A log that cannot be written is no reason to stop, and is told at the end.
    pub(crate) fn write(&self, level: Level, message: &str, attributes: &Value) {
        let Some(book) = &self.0 else { return };
        let mut book = book.borrow_mut();
        if level < book.level {
            return;
        }
        let level = match level {
            Level::Debug => "debug",
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        };
        let mut entry = json!({
            "time": jiff::Timestamp::now(),
            "level": level,
            "message": message,
            "pid": std::process::id(),
        });
        if !attributes.is_null() {
            entry["attributes"] = attributes.clone();
        }
        if let Err(failure) = book.append(&format!("{entry}\n")) {
            book.failure = Some(failure);
        }
    }

    pub(crate) fn info(&self, message: &str, what: &str) {
        self.write(Level::Info, message, &json!({ "what": what }));
    }

    pub(crate) fn error(&self, message: &str, why: &str) {
        self.write(Level::Error, message, &json!({ "why": why }));
    }
}

impl Book {
    fn append(&mut self, line: &str) -> io::Result<()> {
        if self.most > 0 && self.size + line.len() as u64 > self.most {
            self.turn()?;
        }
        // One write for each line: several processes write to one file.
        self.file.write_all(line.as_bytes())?;
        self.size += line.len() as u64;
        Ok(())
    }

    /// Sets the file aside: `log` becomes `log.1`, that `log.2`; the oldest goes.
    fn turn(&mut self) -> io::Result<()> {
        // Somebody else may have done it already.
        let current = std::fs::metadata(&self.path).map_or(0, |about| about.len());
        if current >= self.size.min(self.most) {
            for number in (1..self.files).rev() {
                set_aside(&numbered(&self.path, number - 1), &numbered(&self.path, number));
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

#[expect(clippy::disallowed_methods, reason = "a log is not worth a sync; the oldest is dropped")]
fn set_aside(from: &Path, to: &Path) {
    // What is not there need not be moved.
    drop(std::fs::rename(from, to));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_json_that_only_we_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/osm.log");
        let settings = LogSettings {
            level: Some(Level::Info),
            file: Some(file.clone()),
            max_size_mb: 1,
            max_files: 3,
        };
        let log = Log::open(&settings, None).unwrap();
        log.write(Level::Debug, "too little", &Value::Null);
        log.info("command", "list");
        let text = std::fs::read_to_string(&file).unwrap();
        let entry: Value = serde_json::from_str(text.trim_end()).unwrap();
        assert_eq!(
            (&entry["level"], &entry["attributes"]["what"]),
            (&json!("info"), &json!("list"))
        );
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
    fn nothing_is_written_unasked() {
        let log = Log::open(&LogSettings::default(), None).unwrap();
        log.error("nobody", "reads this");
        assert!(log.0.is_none());
    }
}
