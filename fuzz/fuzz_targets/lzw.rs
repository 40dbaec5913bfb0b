//! Any bytes as the codes of a `.Z` file and of a TIFF strip: no panic, bounded memory, and the same result as the
//! plain twins; and as a text: through a strip and back.
//!
//! The first byte says which, and for a stream the contents of its header; the second byte says how long a strip's text
//! is.
#![no_main]

use hybz::internals::formats::lzw::{MAGIC, plain};
use hybz::{Error, Formats};
use hybz_fuzz::{MAX_TEXT, decoded, settings};
use hybz_tiff_lzw::{StripDecoder, StripEncoder};
use libfuzzer_sys::fuzz_target;

fn stream(flags: u8, codes: &[u8]) {
    let file = [&MAGIC[..], &[flags], codes].concat();
    // The file itself determines how it is cut.
    let (text, outcome) = decoded(&file, 1 + usize::from(flags) * 3, &settings(8 << 20).formats(Formats::All));
    let Some((expected, verdict)) = plain::stream(&file, MAX_TEXT) else {
        assert!(outcome.is_err() && text.is_empty());
        return;
    };
    if expected.len() >= MAX_TEXT {
        assert!(text == expected[..text.len()] && text.len() + (1 << 20) >= MAX_TEXT);
        return;
    }
    assert!(text == expected);
    match (outcome, verdict) {
        (Ok(()), Ok(())) => {}
        (Err(error), Err(wrong)) => match error.get_ref().and_then(|error| error.downcast_ref()) {
            Some(Error::Data { damage, .. }) => assert_eq!(damage.flaw(), wrong),
            _ => panic!("{error}"),
        },
        (outcome, verdict) => panic!("{outcome:?}, but {verdict:?}"),
    }
}

fn strip(codes: &[u8], len: usize) {
    let (expected, verdict) = hybz_tiff_lzw::plain::strip(codes, len);
    let mut text = vec![0; len];
    assert_eq!(StripDecoder::new().decode(codes, &mut text).map_err(|damage| damage.flaw()), verdict);
    assert!(text[..expected.len().min(len)] == expected[..expected.len().min(len)]);
}

fuzz_target!(|input: &[u8]| {
    let [kind, number, rest @ ..] = input else { return };
    match kind % 4 {
        0 => stream(*number, rest),
        1 => strip(rest, usize::from(*number) * 64),
        2 => strip(&[&[0x80, number & 0x7f], rest].concat(), 1 << 14),
        _ => {
            let mut coded = Vec::new();
            let text = rest.repeat(1 + usize::from(*number));
            StripEncoder::new().encode(&text, &mut coded);
            let mut found = vec![0; text.len()];
            StripDecoder::new().decode(&coded, &mut found).expect("what was encoded");
            assert!(found == text);
        }
    }
});
