//! The fencing token: which grant of a resource a request means.
//!
//! Epochs come from one sequence and only grow, so that a check tells a late owner
//! from the present one. A ledger that is restored from a backup counts from an older number
//! again; so every grant also has a random *seal*, and an epoch that was granted twice has two.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The number of a grant. Later grants have greater ones.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A random number that tells a grant from one of the same epoch in another life of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seal(pub u32);

impl fmt::Display for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

/// What an owner presents: `7.1f9c03ab`, or just `7` if it trusts that the ledger was never
/// restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// The grant.
    pub epoch: Epoch,
    /// Its seal, if the owner noted it.
    pub seal: Option<Seal>,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seal {
            Some(seal) => write!(f, "{}.{seal}", self.epoch),
            None => write!(f, "{}", self.epoch),
        }
    }
}

/// A text that is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidToken;

impl std::error::Error for InvalidToken {}

impl fmt::Display for InvalidToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an epoch is a number, or a number and a seal such as 7.1f9c03ab")
    }
}

impl FromStr for Token {
    type Err = InvalidToken;

    fn from_str(text: &str) -> Result<Self, InvalidToken> {
        let (epoch, seal) = match text.split_once('.') {
            Some((epoch, seal)) => (epoch, Some(seal)),
            None => (text, None),
        };
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        if !digits(epoch) {
            return Err(InvalidToken);
        }
        let epoch = Epoch(epoch.parse().map_err(|_| InvalidToken)?);
        let seal = match seal {
            Some(text) if text.len() == 8 && text.bytes().all(|it| it.is_ascii_hexdigit()) => {
                Some(Seal(u32::from_str_radix(text, 16).map_err(|_| InvalidToken)?))
            }
            Some(_) => return Err(InvalidToken),
            None => None,
        };
        Ok(Self { epoch, seal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens() {
        for text in ["7", "7.1f9c03ab", "0.00000000"] {
            assert_eq!(text.parse::<Token>().unwrap().to_string(), text);
        }
        for text in ["", ".", "7.", "+7", "-1", "7.1f9", "7.+1f9c03a", "x", "99999999999999999999"]
        {
            assert_eq!(text.parse::<Token>(), Err(InvalidToken), "{text}");
        }
    }
}
