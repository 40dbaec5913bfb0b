//! `.bz2` and `.hbz` streams in one file, in any order, decoded in every way.

use crate::{ours, shapes};
use hybz::{Error, LargeBlocks, Settings};
use shapes::{Rng, shape, words};
use std::io::{Read, Write};

/// Settings for `.hbz` blocks of 50,000 bytes.
fn hbz_settings() -> Settings {
    Settings::new().encoding(LargeBlocks::try_new(50_000).unwrap())
}

/// Decodes in every way: in one call, by reading, by reading small pieces, and by writing small pieces.
fn every_way(file: &[u8], settings: &Settings) -> Vec<Result<Vec<u8>, String>> {
    let whole = hybz::decompress(file, settings).map_err(|error| error.to_string());
    let mut ways = vec![whole];
    for piece in [1, 7, 4096] {
        let mut decoder = hybz::write::MultiBzDecoder::with_settings(Vec::new(), settings);
        let done = file.chunks(piece).try_for_each(|piece| decoder.write_all(piece)).and_then(|()| decoder.finish());
        ways.push(done.map_err(|error| error.to_string()));
        let mut text = Vec::new();
        let mut decoder = hybz::read::MultiBzDecoder::with_settings(ours::Sips(file, piece), settings);
        ways.push(decoder.read_to_end(&mut text).map(|_| text).map_err(|error| error.to_string()));
    }
    ways
}

#[test]
fn streams_of_both_formats() {
    let texts = [words(130_000), Vec::new(), b"short".to_vec(), (shape("random").make)(210_000)];
    let settings = Settings::new().level(hybz::Level::FASTEST);
    let settings = [settings, hbz_settings()];
    let make = |number: usize| {
        let text = &texts[number / 2];
        (hybz::compress(text, &settings[number % 2]).unwrap(), &text[..])
    };
    let mut rng = Rng(3);
    for round in 0..24 {
        let picked: Vec<_> = (0..2 + rng.below(5)).map(|_| make(rng.below(8))).collect();
        let (coded, text): (Vec<_>, Vec<_>) = picked.into_iter().unzip();
        let (mut file, text) = (coded.concat(), text.concat());
        let streams = coded.len() as u64;
        let all = if round % 6 == 0 { every_way(&file, &Settings::new()) } else { Vec::new() };
        assert!(all.iter().all(|way| way.as_ref() == Ok(&text)), "{round}");
        let mut decoder = hybz::read::MultiBzDecoder::new(&file[..]);
        let mut back = Vec::new();
        decoder.read_to_end(&mut back).unwrap();
        assert!(back == text, "{round}");
        let summary = decoder.summary();
        assert_eq!((summary.streams, summary.bytes_in), (streams, file.len() as u64), "{round}");
        assert_eq!(summary.trailing_garbage, None);
        // Garbage is accepted only after the last stream.
        let len = file.len() as u64;
        file.extend(b"garbage");
        assert!(hybz::decompress(&file, &Settings::new()).unwrap() == text);
        let strict = hybz::decompress(&file, &Settings::new().trailing_garbage(false));
        assert!(matches!(strict, Err(Error::TrailingGarbage { offset }) if offset == len), "{strict:?}");
    }
}

/// An error in a later stream is reported with its position in the whole input.
#[test]
fn damage_after_another_format() {
    let text = words(120_000);
    let bzip2 = hybz::compress(&text, &Settings::new()).unwrap();
    let large = hybz::compress(&text, &hbz_settings()).unwrap();
    for (first, second, blocks) in [(&bzip2, &large, 1), (&large, &bzip2, 3)] {
        let mut file = [&first[..], second].concat();
        let at = first.len() + second.len() / 2;
        file[at] ^= 1;
        let Err(Error::Data { block, bit_offset, .. }) = hybz::decompress(&file, &Settings::new()) else { panic!() };
        assert!(
            block > blocks && (first.len() as u64 * 8..at as u64 * 8).contains(&bit_offset),
            "{block} {bit_offset}"
        );
        file.truncate(at);
        let Err(Error::Truncated { block, bit_offset }) = hybz::decompress(&file, &Settings::new()) else { panic!() };
        assert!(block > blocks && bit_offset == at as u64 * 8);
    }
}

/// A second stream that ends inside its magic is reported as cut, also by the list of blocks.
#[test]
fn a_second_magic_that_is_cut() {
    let text = words(60_000);
    let bzip2 = hybz::compress(&text, &Settings::new()).unwrap();
    let large = hybz::compress(&text, &hbz_settings()).unwrap();
    let magics = [&hybz::internals::formats::hbz::MAGIC[..], b"BZh"];
    for first in [&bzip2, &large] {
        for len in 1..=8 {
            for magic in magics.into_iter().filter(|magic| len <= magic.len()) {
                let file = [&first[..], &magic[..len]].concat();
                // bzip2 treats this as garbage, which one to three bytes may well be.
                let ignored = first == &bzip2 && magic == magics[0] && len < 4;
                let ways = every_way(&file, &Settings::new());
                assert!(ways.iter().all(|way| way.is_ok() == ignored && *way == ways[0]), "{len}: {:?}", ways[0]);
                let decoded = hybz::decompress(&file, &Settings::new());
                assert!(ignored || matches!(decoded, Err(Error::Truncated { .. })), "{len}");
                if let Ok(list) = hybz::hbz::List::read(&mut std::io::Cursor::new(&file)) {
                    assert_eq!((list.is_complete(), list.end()), (false, large.len() as u64));
                }
            }
        }
    }
}
