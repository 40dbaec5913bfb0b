//! Keys on the command line: `-k`.

use super::table::refused;
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
