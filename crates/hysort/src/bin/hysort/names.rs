//! Names in messages: quoted as GNU sort quotes them, so that a name with a blank, or with bytes that move the cursor,
//! is seen as one.

use hybz_files::quote::for_terminal;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// A name, in quotes if a shell would need them.
pub fn quoted_if_needed(name: &OsStr) -> Vec<u8> {
    match for_terminal(name, true) {
        Cow::Borrowed(_) if !needs_quotes(name.as_bytes()) => name.as_bytes().to_vec(),
        _ => quoted(name),
    }
}

/// A name in quotes.
pub fn quoted(name: &OsStr) -> Vec<u8> {
    match for_terminal(name, true) {
        Cow::Owned(escaped) => escaped.as_bytes().to_vec(),
        Cow::Borrowed(_) => in_quotes(name.as_bytes()),
    }
}

/// A word in single quotes as GNU's messages about the command line have it. One with control characters or invalid
/// UTF-8 is quoted as a shell reads it.
pub fn in_plain_quotes(word: &OsStr) -> Vec<u8> {
    match for_terminal(word, true) {
        Cow::Owned(escaped) => escaped.into_vec(),
        Cow::Borrowed(word) => [b"'", word.as_bytes(), b"'"].concat(),
    }
}

/// Whether a shell would read the name as something else, or it has a colon, which ends a name in GNU's messages.
fn needs_quotes(name: &[u8]) -> bool {
    let special = |byte: &u8| b" !\"$&'()*:;<=>?[\\^`|".contains(byte);
    matches!(name, b"" | b"{" | b"}" | [b'#' | b'~', ..]) || name.iter().any(special)
}

fn in_quotes(name: &[u8]) -> Vec<u8> {
    if !name.contains(&b'\'') {
        return [b"'", name, b"'"].concat();
    }
    // GNU prefers double quotes if nothing in the name is special within them.
    if !name.iter().any(|byte| b"!\"$&()*;<=>?[\\^`|".contains(byte)) {
        return [b"\"", name, b"\""].concat();
    }
    let parts: Vec<&[u8]> = name.split(|byte| *byte == b'\'').collect();
    [b"'", &parts.join(&b"'\\''"[..])[..], b"'"].concat()
}
