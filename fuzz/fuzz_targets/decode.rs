//! Any bytes as a `.bz2` file: no panic, bounded memory, and libbz2's verdict and bytes.
#![no_main]

use hybz::{Error, Formats, Pool, Settings};
use hybz_testkit::reference::{self, Refused};
use libfuzzer_sys::fuzz_target;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::sync::OnceLock;

/// At most this much text is compared. Decoders must not need more memory for more text.
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

fuzz_target!(|file: &[u8]| {
    static POOL: OnceLock<Pool> = OnceLock::new();
    let pool = POOL.get_or_init(|| Pool::builder().threads(NonZeroUsize::new(2).unwrap()).build());
    // The file itself determines how it is cut into chunks, so that a finding can be reproduced.
    let chunk = [1, 7, 64, 1 << 18][file.iter().fold(0u8, |sum, b| sum.wrapping_add(*b)) as usize % 4];
    let settings = Settings::new().pool(pool).scan_chunk(chunk).formats(Formats::Bzip2);
    let mut decoder = hybz::write::MultiBzDecoder::with_settings(Bounded(Vec::new()), &settings);
    let verdict = file.chunks(chunk).try_for_each(|piece| decoder.write_all(piece)).and_then(|()| decoder.try_finish());
    let verdict = verdict.map_err(|error| match error.get_ref().and_then(|e| e.downcast_ref()) {
        Some(Error::NotBzip2) => Refused::NotBzip2,
        Some(Error::Truncated { .. }) => Refused::Ends,
        Some(Error::Data { .. }) => Refused::Data,
        _ if error.kind() == io::ErrorKind::StorageFull => Refused::TooLong,
        _ => panic!("{error}"),
    });
    let text = &decoder.get_ref().0;
    match reference::decompress(file, MAX_TEXT) {
        Ok(expected) => {
            assert_eq!(verdict, Ok(()));
            assert!(*text == expected);
        }
        // The text is too long to be judged. hybz fails as well: it meets the limit, or damage beyond it.
        Err(Refused::TooLong) => assert!(verdict.is_err()),
        Err(refused) => assert_eq!(verdict, Err(refused)),
    }
});
