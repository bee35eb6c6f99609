//! What a character is to the splitter, as a set of bits.
//!
//! The build script makes a table of these sets for all of Unicode, so it compiles this file too.

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`: can stand in the first part of a word.
pub(crate) const UPPER: u8 = 1;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`: can stand in the second part of a word.
pub(crate) const LOWER: u8 = 1 << 1;
/// `\p{N}`.
pub(crate) const NUMBER: u8 = 1 << 2;
/// `\s`.
pub(crate) const SPACE: u8 = 1 << 3;
/// `[\r\n]`.
pub(crate) const LINE_END: u8 = 1 << 4;
/// `[^\r\n\p{L}\p{N}]`: can stand before a word.
pub(crate) const PREFIX: u8 = 1 << 5;
/// `[^\s\p{L}\p{N}]`: punctuation, symbols, marks and everything else.
pub(crate) const SYMBOL: u8 = 1 << 6;

/// Characters in one block of the table.
pub(crate) const BLOCK: usize = 256;
/// Blocks that the table's index has.
pub(crate) const BLOCKS: usize = 0x11_0000 / BLOCK;
