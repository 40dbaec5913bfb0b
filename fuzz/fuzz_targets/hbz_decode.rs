//! Any bytes as a `.hbz` file: no panic, bounded memory, and the list of blocks gives all that the stream's decoder
//! gives.
//!
//! Checksums would stop nearly every input at the first header. The CRCs of its headers and payloads are therefore
//! corrected first, as far as the lengths in the headers lead from one block to the next.
#![no_main]

use hybz::internals::{crc::checksum, formats::hbz::MAGIC};
use hybz_fuzz::{decoded, settings};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

/// Corrects the CRCs.
fn mend(file: &mut [u8]) {
    let seal = |header: &mut [u8]| {
        let crc = checksum(&header[..28]);
        header[28..32].copy_from_slice(&crc.to_le_bytes());
    };
    let Some(header) = file.get_mut(..32) else { return };
    header[..8].copy_from_slice(&MAGIC);
    seal(header);
    let mut at = 32;
    while let Some(header) = file.get(at..at + 32) {
        let len = u32::from_le_bytes([header[16], header[17], header[18], header[19]]) as usize;
        let crc = file.get(at + 32..at + 32 + len).map(checksum);
        let header = &mut file[at..at + 32];
        if !header.starts_with(b"hbzB") {
            return;
        }
        if let Some(crc) = crc {
            header[24..28].copy_from_slice(&crc.to_le_bytes());
        }
        seal(header);
        at = at.saturating_add(32).saturating_add(len);
    }
}

fuzz_target!(|file: &[u8]| {
    let mut file = file.to_vec();
    mend(&mut file);
    let (text, streamed) = decoded(&file, 1 << 20, &settings(64 << 20).trailing_garbage(false));
    // A file too short for a header may be one of another format.
    if file.starts_with(&MAGIC) && streamed.is_ok() {
        let mut file = Cursor::new(file);
        let list = hybz::hbz::List::read(&mut file).expect("a good file has a list");
        // A `.bz2` stream may follow, of which the list knows nothing.
        let whole = list.end() == file.get_ref().len() as u64;
        assert!(!whole || list.read_range(&mut file, 0..u64::MAX).expect("good blocks") == text);
    }
});
