//! Any bytes as a `.bz2` file: no panic, bounded memory, and libbz2's verdict and bytes.
#![no_main]

use hybz::{Error, Formats};
use hybz_fuzz::{MAX_TEXT, decoded, settings};
use hybz_testkit::program::Refusal;
use hybz_testkit::reference;
use libfuzzer_sys::fuzz_target;
use std::io;

fuzz_target!(|file: &[u8]| {
    // The file itself determines how it is cut into chunks, so that a finding can be reproduced.
    let chunk = [1, 7, 64, 1 << 18][file.iter().fold(0u8, |sum, b| sum.wrapping_add(*b)) as usize % 4];
    let (text, verdict) = decoded(file, chunk, &settings(64 << 20).scan_chunk(chunk).formats(Formats::Bzip2));
    let verdict = verdict.map_err(|error| match error.get_ref().and_then(|e| e.downcast_ref()) {
        Some(Error::NotBzip2) => Refusal::NotBzip2,
        Some(Error::Truncated { .. }) => Refusal::Ends,
        Some(Error::Data { .. }) => Refusal::Data,
        _ if error.kind() == io::ErrorKind::StorageFull => Refusal::TooLong,
        _ => panic!("{error}"),
    });
    match reference::decompress(file, MAX_TEXT) {
        Ok(expected) => {
            assert_eq!(verdict, Ok(()));
            assert!(text == expected);
        }
        // The text is too long to be judged. hybz fails as well: it meets the limit, or damage beyond it.
        Err(Refusal::TooLong) => assert!(verdict.is_err()),
        Err(refused) => assert_eq!(verdict, Err(refused)),
    }
});
