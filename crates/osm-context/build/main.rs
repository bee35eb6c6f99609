//! Makes the tables that count tokens: the pairs of tokens that merge, and the classes of characters.
//!
//! The program reads the tables where they lie in its file, so the first count parses nothing. The
//! vocabulary is the one that the crate `bpe-openai` brings along; the program itself does not link it.
#![expect(
    clippy::disallowed_methods,
    reason = "cargo passes OUT_DIR to build scripts by a variable"
)]

mod classes;
mod pairs;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    writeln!(io::stdout(), "cargo:rerun-if-changed=build\ncargo:rerun-if-changed=src/tokens")?;
    let folder = PathBuf::from(std::env::var("OUT_DIR")?);
    pairs::write(&folder)?;
    classes::write(&folder)
}
