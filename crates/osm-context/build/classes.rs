//! The classes of all characters, from the Unicode tables of `regex-syntax`.

use std::error::Error;
use std::fs;
use std::path::Path;

use regex_syntax::hir::{Class, HirKind};

#[path = "../src/tokens/class.rs"]
mod class;

use class::{BLOCK, BLOCKS, LINE_END, LOWER, NUMBER, PREFIX, SPACE, SYMBOL, UPPER};

/// Each class of the pattern by which o200k splits a text.
const CLASSES: [(&str, u8); 7] = [
    (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", UPPER),
    (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", LOWER),
    (r"\p{N}", NUMBER),
    (r"\s", SPACE),
    (r"[\r\n]", LINE_END),
    (r"[^\r\n\p{L}\p{N}]", PREFIX),
    (r"[^\s\p{L}\p{N}]", SYMBOL),
];

/// Writes `class_index.bin`, the number of each block, and `class_blocks.bin`, the different blocks.
pub(crate) fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut classes = vec![0; BLOCK * BLOCKS];
    for (pattern, bit) in CLASSES {
        let hir = regex_syntax::parse(pattern)?;
        let HirKind::Class(Class::Unicode(ranges)) = hir.kind() else {
            return Err(format!("{pattern} is not a class").into());
        };
        for range in ranges.ranges() {
            for character in range.start()..=range.end() {
                classes[character as usize] |= bit;
            }
        }
    }
    let mut blocks: Vec<&[u8]> = Vec::new();
    let mut index = Vec::new();
    for block in classes.chunks(BLOCK) {
        let known = blocks.iter().position(|other| *other == block);
        index.push(u8::try_from(known.unwrap_or(blocks.len()))?);
        if known.is_none() {
            blocks.push(block);
        }
    }
    fs::write(folder.join("class_index.bin"), index)?;
    Ok(fs::write(folder.join("class_blocks.bin"), blocks.concat())?)
}
