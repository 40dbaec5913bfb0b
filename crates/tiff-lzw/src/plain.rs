//! The plain twin of [`StripDecoder`](crate::StripDecoder), so simple that it is unlikely to be wrong. Tests and the
//! fuzzer compare with it.

use crate::header::{END, STRIP_FIRST};
use crate::strip::{MAX_CODES, is_old};
use hybz::internals::Flaw;
use hybz::internals::formats::lzw::CLEAR;
use hybz::internals::formats::lzw::plain::{Bits, Table};

/// The result of [`StripDecoder`](crate::StripDecoder) for a text of `len` bytes.
pub fn strip(coded: &[u8], len: usize) -> (Vec<u8>, Result<(), Flaw>) {
    let old = is_old(coded);
    let mut bits = Bits { bytes: coded, at: 0, least_first: old };
    // The table may exceed what 12 bits can name.
    let (mut table, mut text) = (Table::new(STRIP_FIRST as usize, usize::MAX), Vec::new());
    let (mut number, mut cleared) = (0, false);
    while text.len() < len {
        let early = if old { 257 } else { 258 };
        let width = (9..12).find(|width| early + number < 1 << width).unwrap_or(12);
        let Some(code) = bits.code(width).filter(|&code| code != END) else { break };
        if code == CLEAR {
            table.clear();
            (number, cleared) = (0, true);
            continue;
        }
        if !cleared {
            return (text, Err(Flaw::LzwStart));
        }
        if number == MAX_CODES {
            return (text, Err(Flaw::LzwTable));
        }
        match table.decode(code as usize) {
            Ok(string) => text.extend(string),
            Err(Flaw::LzwCode { code, .. }) => {
                return (text, Err(Flaw::LzwCode { code, end: STRIP_FIRST + number as u32 }));
            }
            Err(damage) => return (text, Err(damage)),
        }
        number += 1;
    }
    let found = text.len();
    text.truncate(len);
    (text, if found < len { Err(Flaw::LzwLength { wanted: len, found }) } else { Ok(()) })
}
