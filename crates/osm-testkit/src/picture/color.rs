//! What colours look like.

/// What is behind everything.
pub(super) const BACKGROUND: &str = "#16181d";
/// Text without a colour.
pub(super) const FOREGROUND: &str = "#d5d8de";

/// The colours that a terminal chooses itself: black, red, green, yellow, blue, magenta, cyan, white;
/// then the bright ones.
const NAMED: [&str; 16] = [
    "#2b2e36", "#f07178", "#7fd18b", "#e3b95b", "#6ba7f5", "#c792ea", "#5ccfd6", "#c8ccd4", //
    "#7b818d", "#ff8b92", "#a3e6ac", "#f4d184", "#93c1ff", "#dcb3f7", "#8ae6eb", "#ffffff",
];

/// A colour of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Color {
    /// One of 256.
    Indexed(u8),
    Exact(u8, u8, u8),
}

impl Color {
    /// As SVG wants it.
    pub(super) fn hex(self) -> String {
        let (red, green, blue) = match self {
            Self::Indexed(index @ 0..16) => return NAMED[usize::from(index)].to_owned(),
            Self::Indexed(index @ 16..232) => {
                let at = index - 16;
                (level(at / 36), level(at / 6 % 6), level(at % 6))
            }
            Self::Indexed(index) => {
                let gray = 8 + (index - 232) * 10;
                (gray, gray, gray)
            }
            Self::Exact(red, green, blue) => (red, green, blue),
        };
        format!("#{red:02x}{green:02x}{blue:02x}")
    }
}

/// A step of the cube of colours.
fn level(step: u8) -> u8 {
    if step == 0 { 0 } else { 55 + step * 40 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_and_grays_are_those_of_xterm() {
        for (index, hex) in [
            (2, "#7fd18b"),
            (16, "#000000"),
            (21, "#0000ff"),
            (208, "#ff8700"),
            (231, "#ffffff"),
            (232, "#080808"),
            (255, "#eeeeee"),
        ] {
            assert_eq!(Color::Indexed(index).hex(), hex, "{index}");
        }
        assert_eq!(Color::Exact(1, 2, 255).hex(), "#0102ff");
    }
}
