//! Names of files on a terminal. A name may hold bytes that move the cursor, change colours or set the window's title,
//! so `ls` quotes such names when it writes to a terminal, and hybz quotes them in the same way. Output to a file or a
//! pipe keeps the bytes of the name.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::OnceLock;

/// A name as messages show it: quoted if stderr is a terminal and the name needs it.
pub fn shown(name: &OsStr) -> Cow<'_, OsStr> {
    static TERMINAL: OnceLock<bool> = OnceLock::new();
    for_terminal(name, *TERMINAL.get_or_init(|| io::stderr().is_terminal()))
}

/// The form of a name for output, to a `terminal` or elsewhere.
pub fn for_terminal(name: &OsStr, terminal: bool) -> Cow<'_, OsStr> {
    if terminal && needs_quotes(name.as_bytes()) { Cow::Owned(quoted(name.as_bytes())) } else { Cow::Borrowed(name) }
}

/// Whether a name has control characters, or is not UTF-8.
fn needs_quotes(name: &[u8]) -> bool {
    name.utf8_chunks().any(|chunk| !chunk.invalid().is_empty() || chunk.valid().contains(char::is_control))
}

/// A name as a shell reads it back: printable characters in single quotes, the others as in `$'\033'`.
fn quoted(name: &[u8]) -> OsString {
    let mut text = vec![b'\''];
    let mut escaping = false;
    let mut show = |bytes: &[u8], escaped: bool| {
        if escaped != escaping {
            text.extend(if escaped { &b"'$'"[..] } else { b"''" });
            escaping = escaped;
        }
        match bytes {
            b"'" => text.extend(b"'\\''"),
            bytes if escaped => bytes.iter().for_each(|&byte| text.extend(escape(byte).bytes())),
            bytes => text.extend(bytes),
        }
    };
    for chunk in name.utf8_chunks() {
        for char in chunk.valid().chars() {
            show(char.encode_utf8(&mut [0; 4]).as_bytes(), char.is_control());
        }
        chunk.invalid().iter().for_each(|&byte| show(&[byte], true));
    }
    text.push(b'\'');
    OsString::from_vec(text)
}

fn escape(byte: u8) -> String {
    match byte {
        b'\x07' => "\\a".to_owned(),
        b'\x08' => "\\b".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\n' => "\\n".to_owned(),
        b'\x0b' => "\\v".to_owned(),
        b'\x0c' => "\\f".to_owned(),
        b'\r' => "\\r".to_owned(),
        _ => format!("\\{byte:03o}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected texts are those of `ls --quoting-style=shell-escape` (coreutils 9.1, LC_ALL=C.UTF-8).
    #[test]
    fn as_ls_does() {
        for (name, expected) in [
            (&b"a\x1b[31mred"[..], r"'a'$'\033''[31mred'"),
            (b"\x1b]0;title\x07", r"''$'\033'']0;title'$'\a'"),
            (b"a\nb\tc", r"'a'$'\n''b'$'\t''c'"),
            (b"it's\xff", r"'it'\''s'$'\377'"),
            (b"\xc3\xa9\xc2\x9b1m", r"'é'$'\302\233''1m'"),
            (b"\x7f", r"''$'\177'"),
        ] {
            assert!(needs_quotes(name));
            let quoted = quoted(name);
            assert_eq!(quoted.to_str(), Some(expected));
        }
        for plain in ["a b", "it's", "été", "*", ""] {
            assert_eq!(for_terminal(OsStr::new(plain), true), OsStr::new(plain));
        }
        let name = OsStr::from_bytes(b"\x1b");
        assert_eq!(for_terminal(name, false), name);
    }
}
