//! UTF-8 for `TextEncoder` and `TextDecoder`.
//!
//! The bytes that a script gets are memory of the engine, under its limit. Those that it passes are the
//! characters of a text: the engine's memory can only be borrowed with unsafe code.

use rquickjs::{Array, Ctx, Exception, Function, Object, TypedArray};

/// Adds the functions to `__osm`.
pub(crate) fn add<'js>(ctx: &Ctx<'js>, ours: &Object<'js>) -> rquickjs::Result<()> {
    ours.set("encodeText", Function::new(ctx.clone(), encode)?)?;
    ours.set("decodeText", Function::new(ctx.clone(), decode)?)
}

/// The bytes of a text, which has no lone surrogates.
#[expect(clippy::needless_pass_by_value, reason = "what the engine calls takes values")]
fn encode(ctx: Ctx<'_>, text: String) -> rquickjs::Result<TypedArray<'_, u8>> {
    TypedArray::new_copy(ctx, text.as_bytes())
}

/// The text of bytes, and how many at the end are the beginning of a character that `goes_on`. If the
/// bytes must be valid, throws for others, which are replaced otherwise.
#[expect(clippy::needless_pass_by_value, reason = "what the engine calls takes values")]
fn decode(
    ctx: Ctx<'_>,
    bytes: String,
    goes_on: bool,
    must_be_valid: bool,
) -> rquickjs::Result<Array<'_>> {
    let bytes: Option<Vec<u8>> = bytes.chars().map(|it| u8::try_from(it).ok()).collect();
    let decoded = bytes.and_then(|bytes| read(&bytes, goes_on, must_be_valid));
    let Some(decoded) = decoded else {
        return Err(Exception::throw_type(&ctx, "decode: the bytes are not valid UTF-8"));
    };
    let answer = Array::new(ctx)?;
    answer.set(0, decoded.text)?;
    answer.set(1, decoded.left)?;
    Ok(answer)
}

#[derive(Debug, PartialEq, Eq)]
struct Decoded {
    text: String,
    left: usize,
}

/// Each longest part of a character that is not valid becomes one U+FFFD, as the web's standard asks.
fn read(bytes: &[u8], goes_on: bool, must_be_valid: bool) -> Option<Decoded> {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let error = match std::str::from_utf8(rest) {
            Ok(valid) => {
                text.push_str(valid);
                return Some(Decoded { text, left: 0 });
            }
            Err(error) => error,
        };
        let (valid, other) = rest.split_at(error.valid_up_to());
        text.push_str(&String::from_utf8_lossy(valid));
        let length = error.error_len();
        if length.is_none() && goes_on {
            return Some(Decoded { text, left: other.len() });
        }
        if must_be_valid {
            return None;
        }
        text.push(char::REPLACEMENT_CHARACTER);
        rest = &other[length.unwrap_or(other.len())..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bytes_mean() {
        for (bytes, text, left) in [
            (&b""[..], "", 0),
            (b"a\xc3\xa9", "a\u{e9}", 0),
            (b"a\xff\xfeb", "a\u{fffd}\u{fffd}b", 0),
            (b"\xe2\x82", "", 2),
            (b"x\xf0\x9f\x98", "x", 3),
            (b"\xe2\x82x", "\u{fffd}x", 0),
            (b"\xf0\x9f\x98\x80\xc3", "\u{1f600}", 1),
            (b"\xed\xa0\x80", "\u{fffd}\u{fffd}\u{fffd}", 0),
        ] {
            let decoded = Decoded { text: text.to_owned(), left };
            assert_eq!(read(bytes, true, false), Some(decoded), "{bytes:x?}");
            let whole = read(bytes, false, false).unwrap();
            assert_eq!(whole.text, String::from_utf8_lossy(bytes), "{bytes:x?}");
            let is_valid = std::str::from_utf8(bytes).is_ok();
            assert_eq!(read(bytes, false, true).is_some(), is_valid, "{bytes:x?}");
        }
    }
}
