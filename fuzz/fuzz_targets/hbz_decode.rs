//! Any bytes as a `.hbz` file: no panic, bounded memory, and the list of blocks gives all that the stream's decoder
//! gives.
//!
//! Checksums would stop nearly every input at the first header. The CRCs of its headers and payloads are therefore
//! corrected first, as far as the lengths in the headers lead from one block to the next.
#![no_main]

use hybz::{Pool, Settings};
use libfuzzer_sys::fuzz_target;
use std::io::{self, Cursor, Write};
use std::num::NonZeroUsize;
use std::sync::OnceLock;

/// Decoding stops after this much text.
const MAX_TEXT: usize = 4 << 20;

/// A writer that fails after `MAX_TEXT` bytes.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.0.len() + buf.len() > MAX_TEXT {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.extend_from_slice(buf);
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Corrects the CRCs.
fn mend(file: &mut [u8]) {
    let seal = |header: &mut [u8]| {
        let crc = hybz::internals::crc::checksum(&header[..28]);
        header[28..32].copy_from_slice(&crc.to_le_bytes());
    };
    let Some(header) = file.get_mut(..32) else { return };
    header[..8].copy_from_slice(&hybz::internals::formats::hbz::MAGIC);
    seal(header);
    let mut at = 32;
    while let Some(header) = file.get(at..at + 32) {
        let len = u32::from_le_bytes([header[16], header[17], header[18], header[19]]) as usize;
        let crc = file.get(at + 32..at + 32 + len).map(hybz::internals::crc::checksum);
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
    static POOL: OnceLock<Pool> = OnceLock::new();
    let pool = POOL.get_or_init(|| Pool::builder().threads(NonZeroUsize::new(2).unwrap()).memory(64 << 20).build());
    let mut file = file.to_vec();
    mend(&mut file);
    let settings = Settings::new().pool(pool).trailing_garbage(false);
    let mut decoder = hybz::write::MultiBzDecoder::with_settings(Bounded(Vec::new()), &settings);
    let streamed = decoder.write_all(&file).and_then(|()| decoder.finish());
    let mut file = Cursor::new(file);
    // A file too short for a header may be one of another format.
    let is_hbz = file.get_ref().starts_with(&hybz::internals::formats::hbz::MAGIC);
    if let (true, Ok(Bounded(text))) = (is_hbz, streamed) {
        let list = hybz::hbz::List::read(&mut file).expect("a good file has a list");
        // A `.bz2` stream may follow, of which the list knows nothing.
        let whole = list.end() == file.get_ref().len() as u64;
        assert!(!whole || list.read_range(&mut file, 0..u64::MAX).expect("good blocks") == text);
    }
});
