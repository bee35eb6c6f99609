//! Text with SGR codes as characters, each with its style.
//!
//! Other sequences and control characters have no place in what a screen shows, and are skipped.

use std::iter::Peekable;
use std::str::Chars;

use super::color::{BACKGROUND, Color, FOREGROUND};

/// How a character looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is switched on and off by a code")]
pub(super) struct Style {
    pub(super) fore: Option<Color>,
    pub(super) back: Option<Color>,
    pub(super) bold: bool,
    pub(super) faint: bool,
    pub(super) italic: bool,
    pub(super) underline: bool,
    pub(super) reverse: bool,
}

impl Style {
    /// The colours of text and background; none is the screen's own.
    pub(super) fn colors(&self) -> (Option<String>, Option<String>) {
        let (fore, back) = (self.fore.map(Color::hex), self.back.map(Color::hex));
        if self.reverse {
            return (
                Some(back.unwrap_or_else(|| BACKGROUND.to_owned())),
                Some(fore.unwrap_or_else(|| FOREGROUND.to_owned())),
            );
        }
        (fore, back)
    }

    /// Whether a space of this style is nothing to see.
    fn is_blank(&self) -> bool {
        self.back.is_none() && !self.reverse && !self.underline
    }

    /// Applies the parameters of one code.
    fn apply(&mut self, parameters: &str) {
        let mut codes = parameters.split(';');
        while let Some(code) = codes.next() {
            let mut parts = code.split(':');
            let number = parts.next().unwrap_or_default().parse().unwrap_or(0);
            let rest: Vec<&str> = parts.collect();
            match number {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.faint = true,
                3 => self.italic = true,
                4 => self.underline = rest.first() != Some(&"0"),
                7 => self.reverse = true,
                22 => (self.bold, self.faint) = (false, false),
                23 => self.italic = false,
                24 => self.underline = false,
                27 => self.reverse = false,
                30..=37 => self.fore = Some(Color::Indexed(number - 30)),
                39 => self.fore = None,
                40..=47 => self.back = Some(Color::Indexed(number - 40)),
                49 => self.back = None,
                90..=97 => self.fore = Some(Color::Indexed(number - 90 + 8)),
                100..=107 => self.back = Some(Color::Indexed(number - 100 + 8)),
                38 | 48 => {
                    let color = if rest.is_empty() { chosen(&mut codes) } else { spelled(&rest) };
                    let place = if number == 38 { &mut self.fore } else { &mut self.back };
                    *place = color.or(*place);
                }
                _ => {}
            }
        }
    }
}

/// The colour that the next codes name: `5;INDEX` or `2;RED;GREEN;BLUE`.
fn chosen<'a>(codes: &mut impl Iterator<Item = &'a str>) -> Option<Color> {
    match codes.next()? {
        "5" => spelled(&["5", codes.next()?]),
        "2" => spelled(&["2", codes.next()?, codes.next()?, codes.next()?]),
        _ => None,
    }
}

/// A colour in parts. A colour space may stand before the three of an exact one.
fn spelled(parts: &[&str]) -> Option<Color> {
    let number = |text: &&str| text.parse().ok();
    match parts {
        ["5", index, ..] => number(index).map(Color::Indexed),
        ["2", red, green, blue] | ["2", _, red, green, blue, ..] => {
            Some(Color::Exact(number(red)?, number(green)?, number(blue)?))
        }
        _ => None,
    }
}

/// The lines of a screen, without trailing spaces.
pub(super) fn cells(text: &str) -> Vec<Vec<(char, Style)>> {
    let mut style = Style::default();
    let mut lines = vec![Vec::new()];
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\x1b' => {
                if let Some(parameters) = sequence(&mut rest) {
                    style.apply(&parameters);
                }
            }
            '\n' => lines.push(Vec::new()),
            other if other.is_control() => {}
            other => lines.last_mut().expect("there is one from the start").push((other, style)),
        }
    }
    for line in &mut lines {
        let seen = |(character, style): &(char, Style)| *character != ' ' || !style.is_blank();
        line.truncate(line.iter().rposition(seen).map_or(0, |last| last + 1));
    }
    lines
}

/// Reads what follows ESC; gives the parameters if it is SGR.
fn sequence(rest: &mut Peekable<Chars>) -> Option<String> {
    match rest.next()? {
        '[' => {
            let mut parameters = String::new();
            loop {
                match rest.next()? {
                    'm' => return Some(parameters),
                    '\x40'..='\x7e' => return None,
                    other => parameters.push(other),
                }
            }
        }
        // A string, as of a link: it ends with BEL or ESC \.
        ']' | 'P' | '_' | '^' => {
            while let Some(character) = rest.next() {
                if character == '\x07' {
                    break;
                }
                if character == '\x1b' {
                    rest.next_if_eq(&'\\');
                    break;
                }
            }
            None
        }
        // A character set has one more character.
        '(' | ')' => {
            rest.next();
            None
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn styles(text: &str) -> Vec<Style> {
        cells(text).concat().into_iter().map(|(_, style)| style).collect()
    }

    fn text(text: &str) -> Vec<String> {
        cells(text).iter().map(|line| line.iter().map(|(it, _)| it).collect()).collect()
    }

    #[test]
    fn codes_are_switched_on_and_off() {
        let seen = styles("\x1b[1;2;3;4;7ma\x1b[22mb\x1b[23;24;27mc\x1b[mx");
        let all = Style {
            bold: true,
            faint: true,
            italic: true,
            underline: true,
            reverse: true,
            ..Style::default()
        };
        let rest = Style { bold: false, faint: false, ..all };
        assert_eq!(seen, [all, rest, Style::default(), Style::default()]);
    }

    #[test]
    fn colors() {
        let exact = Some(Color::Exact(1, 2, 3));
        for (codes, fore, back) in [
            ("31", Some(Color::Indexed(1)), None),
            ("97;100", Some(Color::Indexed(15)), Some(Color::Indexed(8))),
            ("38;5;208;1", Some(Color::Indexed(208)), None),
            ("38;2;1;2;3", exact, None),
            ("48:2::1:2:3", None, exact),
            ("48:2:1:2:3", None, exact),
            ("38:5:9", Some(Color::Indexed(9)), None),
            ("31;39", None, None),
            ("38;5;999", None, None),
            ("38;2;1", None, None),
            ("38", None, None),
        ] {
            let seen = styles(&format!("\x1b[{codes}mx"))[0];
            assert_eq!((seen.fore, seen.back), (fore, back), "{codes}");
        }
    }

    #[test]
    fn what_is_no_text_is_skipped() {
        assert_eq!(
            text("a\x1b[2Jb\x1b]8;;http://x\x1b\\c\x1b]8;;\x07d\x0ee\r\n\x1b(Bf\x1b"),
            ["abcde", "f"]
        );
        assert_eq!(text("a\x1b[31"), ["a"]);
        assert_eq!(text("a\x1b]8;;x"), ["a"]);
    }

    #[test]
    fn spaces_at_the_end_count_if_they_are_seen() {
        assert_eq!(text("a  \n\x1b[7m b  \x1b[0m  "), ["a", " b  "]);
    }
}
