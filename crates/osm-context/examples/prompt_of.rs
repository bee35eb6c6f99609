//! A prompt of the files and folders that are named, to measure how long it takes.
//!
//! ```sh
//! cargo run --release -p osm-context --example prompt_of -- FOLDER >prompt.txt
//! cargo run --release -p osm-context --example prompt_of -- --count FOLDER >/dev/null
//! ```

use std::fs::File;
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::time::Instant;

use osm_context::{Encoding, Error, Item, Setting, build, resolve};

fn main() -> io::Result<()> {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let counting = names.first().is_some_and(|name| name == "--count");
    if counting {
        names.remove(0);
    }
    let folder = Path::new(".").canonicalize()?;
    let setting = Setting::new(&folder);
    let prompt = items(&names, &setting).and_then(|items| build(&items, &setting));
    let prompt = ManuallyDrop::new(prompt.map_err(io::Error::other)?);
    prompt.write_to(&mut standard_output()?)?;
    if counting {
        let counting = Setting { encoding: Some(Encoding::O200k), ..setting };
        let started = Instant::now();
        let stats = prompt.stats(&counting, None).map_err(io::Error::other)?;
        writeln!(io::stderr(), "{stats:?} in {:?}", started.elapsed())?;
    }
    Ok(())
}

fn items(names: &[String], setting: &Setting) -> Result<Vec<Item>, Error> {
    let mut items = Vec::new();
    for name in names {
        for found in resolve(name, setting)?.found {
            items.push(Item::file(0, &found.label, &found.path));
        }
    }
    Ok(items)
}

/// Standard output without a buffer.
#[cfg(unix)]
fn standard_output() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn standard_output() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
}
