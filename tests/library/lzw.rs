//! `.Z` streams through the library's interface: by every reader and in the flow.

use crate::texts::text;
use crate::{ours, shapes, through};
use hybz::flow::Task;
use hybz::internals::Flaw;
use hybz::internals::formats::lzw::{Header, plain};
use hybz::{Error, Format, Formats, Pool, Settings, Verify};
use proptest::prelude::*;
use std::io::Read;
use std::num::NonZeroUsize;

fn header() -> impl Strategy<Value = Header> {
    (10..=16u32, any::<bool>()).prop_map(|(max_bits, block_mode)| Header { max_bits, block_mode })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_door_gives_the_text(text in text(7, 1), header in header(), every in 1..9000usize, sip in 1..5000usize) {
        let coded = plain::compress(&text, header, |at| at % every == 0);
        let settings = Settings::new().pool(&Pool::builder().threads(NonZeroUsize::MIN).memory(1).build());
        prop_assert!(hybz::lzw::decompress(&coded).unwrap() == text);
        prop_assert!(hybz::decompress(&coded, &settings).unwrap() == text);
        let mut read = Vec::new();
        hybz::read::BzDecoder::with_settings(ours::Sips(&coded[..], sip), &settings).read_to_end(&mut read).unwrap();
        prop_assert!(read == text);
        let mut read = Vec::new();
        hybz::bufread::BzDecoder::with_settings(&coded[..], &settings).read_to_end(&mut read).unwrap();
        prop_assert!(read == text);
        prop_assert!(ours::decompress_written(&coded, sip, &settings) == (Ok(()), text));
    }
}

/// Many files, some of other formats and some damaged, all at once and one after the other.
#[test]
fn many_files_in_one_queue() {
    let header = Header { max_bits: 16, block_mode: true };
    let texts: Vec<Vec<u8>> = shapes::SHAPES.iter().map(|shape| (shape.make)(30_000)).collect();
    let mut files: Vec<Vec<u8>> = texts.iter().map(|text| plain::compress(text, header, |_| false)).collect();
    files[3] = hybz::compress(&texts[3], &Settings::new()).unwrap();
    files[5].truncate(2);
    files[6] = vec![0x1f, 0x9d, 0x90, 0x61, 0x04, 0x02];
    for here in [false, true] {
        for (threads, memory) in [(1, 1), (2, 1 << 20), (3, 1 << 28)] {
            let pool = Pool::builder().threads(NonZeroUsize::new(threads).unwrap()).memory(memory).build();
            let task = Task::Decompress { formats: Formats::All, trailing_garbage: true };
            let inputs = files.iter().map(|file| (task, Verify::Off, through::stream(file))).collect();
            let taken = through::files(&pool, inputs, here);
            assert_eq!(taken.out.len(), texts.len());
            for (number, ((found, outcome), text)) in taken.out.iter().zip(&texts).enumerate() {
                match (number, outcome) {
                    (5, Err(Error::Truncated { block: 1, bit_offset: 16 })) => {}
                    (6, Err(Error::Data { bit_offset: 33, damage, .. })) => {
                        assert_eq!(damage.flaw(), Flaw::LzwCode { code: 258, end: 258 });
                    }
                    (_, Ok(_)) => assert!(found == text, "{number}"),
                    (_, Err(error)) => panic!("{number}: {error}"),
                }
            }
            let streams = taken.streams.iter().filter(|stream| stream.format == Format::Lzw).count();
            assert_eq!(streams, texts.len() - 3);
            let (stream, summary) = (taken.streams[0], taken.out[0].1.as_ref().unwrap());
            assert_eq!((stream.end, summary.bytes_in), (files[0].len() as u64, files[0].len() as u64));
            assert_eq!((summary.streams, summary.blocks, summary.bytes_out), (1, 0, texts[0].len() as u64));
        }
    }
}

#[test]
fn another_format_is_named() {
    for other in [&b"BZh9"[..], b"", b"\x1f", b"\x1f\x8b\x08"] {
        let error = hybz::lzw::decompress(other).unwrap_err();
        assert!(matches!(error, Error::NotFormat { format: hybz::Format::Lzw }), "{error:?}");
        assert_eq!(error.to_string(), "not a .Z file");
    }
}

#[test]
fn under_bzip2s_names() {
    let large = Settings::new().encoding(hybz::LargeBlocks::try_new(100_000).unwrap());
    let hbz = hybz::compress(b"text", &large).unwrap();
    let z = plain::compress(b"text", Header { max_bits: 16, block_mode: true }, |_| false);
    let bzip2 = hybz::compress(b"text", &Settings::new()).unwrap();
    let only = Settings::new().formats(Formats::Bzip2);
    for file in [&hbz, &z] {
        assert_eq!(hybz::decompress(file, &Settings::new()).unwrap(), b"text");
        assert!(matches!(hybz::decompress(file, &only), Err(Error::NotBzip2)));
    }
    // With only bzip2 accepted, data after a stream are garbage, whatever they are.
    for file in [&hbz, &z] {
        assert_eq!(hybz::decompress(&[&bzip2[..], file].concat(), &only).unwrap(), b"text");
    }
    assert_eq!(hybz::decompress(&[&bzip2[..], &hbz].concat(), &Settings::new()).unwrap(), b"texttext");
    assert_eq!(hybz::decompress(&[&bzip2[..], &z].concat(), &Settings::new()).unwrap(), b"text");
    let strict = hybz::decompress(&[&bzip2[..], &z].concat(), &Settings::new().trailing_garbage(false));
    assert!(matches!(strict, Err(Error::TrailingGarbage { .. })));
}
