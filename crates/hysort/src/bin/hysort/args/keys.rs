//! Keys on the command line: `-k`, and those of old, `+1 -2`.

use super::table::refused;
use super::words::Words;
use crate::failure::Failure;
use crate::names::in_plain_quotes;
use hysort::{Key, KeyError};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The value of `-k`.
pub fn key(given: &OsStr) -> Result<Key, Failure> {
    Key::from_bytes(given.as_bytes()).map_err(|e| match e {
        KeyError::Syntax(why) => {
            let before = format!("{why}: invalid field specification ");
            Failure::sentence([before.as_bytes(), &in_plain_quotes(given)].concat())
        }
        e => key_failure(e),
    })
}

pub fn key_failure(e: KeyError) -> Failure {
    match e {
        KeyError::Count(why, text) => {
            let before = format!("{why}: invalid count at start of ");
            Failure::sentence([before.as_bytes(), &in_plain_quotes(OsStr::from_bytes(&text))].concat())
        }
        KeyError::Unsupported(letter) => refused(OsStr::new(&format!("-{letter}"))),
        e => Failure::sentence(e.to_string()),
    }
}

/// Takes `+F.C` and `-F.C`, the keys of old. Returns whether it is one; if not, it is a file.
pub fn old_key(word: &OsStr, words: &mut Words<'_>) -> Result<Option<Key>, Failure> {
    let [b'+', text @ ..] = word.as_bytes() else { return Ok(None) };
    let Some((fields, bytes, rest)) = old_place(text) else { return Ok(None) };
    let (key, rest) = Key::after(fields, bytes).with_letters(rest, false);
    if !rest.is_empty() {
        return Ok(None);
    }
    let Some(word) = words.take_old_end() else { return Ok(Some(key)) };
    let Some((fields, bytes, rest)) = old_place(&word.as_bytes()[1..]) else {
        let text =
            word.as_bytes().iter().position(|&byte| byte == b'.').map_or(&[][..], |at| &word.as_bytes()[at + 1..]);
        return Err(key_failure(KeyError::Count("invalid number after '.'", text.to_vec())));
    };
    let (key, rest) = key.until(fields, bytes).with_letters(rest, true);
    match rest {
        [] => Ok(Some(key)),
        _ => {
            let before = b"stray character in field spec: invalid field specification ";
            Err(Failure::sentence([before, &in_plain_quotes(&word)[..]].concat()))
        }
    }
}

/// `F[.C]` at the start of a text, and the text after it.
fn old_place(text: &[u8]) -> Option<(usize, usize, &[u8])> {
    let number = |text: &[u8]| -> Option<(usize, usize)> {
        let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = std::str::from_utf8(&text[..len]).ok().filter(|digits| !digits.is_empty())?;
        Some((digits.parse().unwrap_or(usize::MAX), len))
    };
    let (fields, len) = number(text)?;
    let rest = &text[len..];
    match rest.strip_prefix(b".") {
        Some(after) => number(after).map(|(bytes, len)| (fields, bytes, &after[len..])),
        None => Some((fields, 0, rest)),
    }
}
