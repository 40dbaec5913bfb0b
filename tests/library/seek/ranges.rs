//! Reading at any offset gives the plain text there.

use super::files::{File, files};
use crate::ours::{Counted, pool};
use crate::shapes::{Rng, words};
use hybz::index::Index;
use hybz::seek::Reader;
use hybz::{Error, LargeBlocks, ReadAt, Settings};
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};

fn check<R: ReadAt>(name: &str, reader: &Reader<R>, text: &[u8], rng: &mut Rng, max: usize) {
    let from = rng.below(text.len() + 10);
    let mut buf = vec![0xa5; rng.below(max)];
    let n = reader.read_at(&mut buf, from as u64).unwrap_or_else(|error| panic!("{name}, {from}: {error}"));
    let expected = &text[from.min(text.len())..(from + buf.len()).min(text.len())];
    assert!(buf[..n] == *expected, "{name}: {} bytes at {from}", buf.len());
}

/// 10,000 ranges, short ones and ones across several blocks.
#[test]
fn random_ranges() {
    let settings = Settings::new().pool(&pool(2));
    let mut rng = Rng(21);
    let per_file = 10_000 / files().len() + 1;
    for File { name, coded, text } in files() {
        let reader = Reader::open(coded.clone(), &settings).unwrap();
        assert_eq!(reader.text_len(), text.len() as u64);
        for round in 0..per_file {
            check(name, &reader, text, &mut rng, if round % 50 == 0 { 500_000 } else { 3000 });
        }
    }
}

#[test]
fn random_ranges_of_hbz() {
    let settings = Settings::new().pool(&pool(2));
    let mut rng = Rng(22);
    let compact = [vec![7; 3_000_000], words(10_000)].concat();
    for (name, text) in [("words", words(3_000_000)), ("compact", compact)] {
        for size in [5000, 100_000, 2 << 20] {
            let large = LargeBlocks::try_new(size).unwrap();
            let one = hybz::compress(&text, &settings.clone().encoding(large)).unwrap();
            let reader = Reader::open([&one[..], &one, b"garbage"].concat(), &settings).unwrap().cache(1 << 20);
            let both = [&text[..], &text].concat();
            (0..100).for_each(|_| check(name, &reader, &both, &mut rng, 200_000));
        }
    }
}

/// Many threads read at the same time, with a cache that holds almost nothing, or everything.
#[test]
fn many_threads() {
    for cache in [0, 300_000, 1 << 30] {
        for File { name, coded, text } in files().iter().filter(|file| (1..5_000_000).contains(&file.text.len())) {
            let reader = Reader::open(coded.clone(), &Settings::new().pool(&pool(2))).unwrap().cache(cache);
            std::thread::scope(|scope| {
                for thread in 0..6 {
                    let reader = &reader;
                    scope.spawn(move || {
                        let mut rng = Rng(thread);
                        (0..10).for_each(|_| check(name, reader, text, &mut rng, 300_000));
                    });
                }
            });
        }
    }
}

/// `Read` and `Seek` behave as on the plain text, in steps that make the reader read ahead.
#[test]
fn read_and_seek() {
    for File { name, coded, text } in files() {
        let mut reader = Reader::open(coded.clone(), &Settings::new().pool(&pool(2))).unwrap().cache(8 << 20);
        let mut whole = Vec::new();
        reader.read_to_end(&mut whole).unwrap();
        assert!(whole == *text, "{name}");
        let mut plain = io::Cursor::new(text);
        plain.set_position(text.len() as u64);
        let mut rng = Rng(5);
        for _ in 0..200 {
            let by = rng.below(text.len() + 100) as i64;
            let to = [SeekFrom::Start(by as u64), SeekFrom::End(-by), SeekFrom::End(by), SeekFrom::Current(by / 2)];
            let to = to[rng.below(4)];
            assert_eq!(reader.seek(to).ok(), plain.seek(to).ok(), "{name}: {to:?}");
            let (mut ours, mut expected) = (Vec::new(), Vec::new());
            let len = rng.below(10_000) as u64;
            reader.by_ref().take(len).read_to_end(&mut ours).unwrap();
            plain.by_ref().take(len).read_to_end(&mut expected).unwrap();
            assert!(ours == expected, "{name}: {to:?}");
        }
    }
}

/// A block in the cache is not read again; a block that was dropped is. Random reads cause no reading ahead.
#[test]
fn the_cache_is_bounded_by_bytes() {
    let File { coded, text, .. } = files().iter().find(|file| file.name == "blocks of level 1").unwrap();
    let index = || Index::build(&coded[..], &Settings::new()).unwrap();
    let settings = Settings::new().pool(&pool(1));
    let blocks: Vec<_> = index().iter().map(Result::unwrap).collect();
    let read = |reader: &Reader<Counted>, block: usize| {
        let before = reader.get_ref().1.load(Ordering::Relaxed);
        let mut byte = [0];
        reader.read_at(&mut byte, blocks[block].text_offset + 5).unwrap();
        assert_eq!(byte[0], text[blocks[block].text_offset as usize + 5]);
        reader.get_ref().1.load(Ordering::Relaxed) - before
    };
    let len = |block: usize| blocks[block].end_bit.div_ceil(8) - blocks[block].bit_offset / 8;
    let reader = Reader::with_index(Counted(coded.clone(), AtomicU64::new(0)), index(), &settings).cache(320_000);
    assert_eq!([read(&reader, 0), read(&reader, 4), read(&reader, 8)], [len(0), len(4), len(8)]);
    assert_eq!([read(&reader, 0), read(&reader, 4), read(&reader, 8)], [0, 0, 0]);
    assert_eq!(read(&reader, 2), len(2), "a fourth block");
    assert_eq!([read(&reader, 4), read(&reader, 8), read(&reader, 0)], [0, 0, len(0)], "the oldest had to go");
}

/// A damaged block gives an error of kind `InvalidData` with its position at each read; all other blocks can be read.
#[test]
fn damage_is_found_where_it_is() {
    let File { coded, text, .. } = files().iter().find(|file| file.name == "blocks of level 1").unwrap();
    let index = Index::build(&coded[..], &Settings::new()).unwrap();
    let blocks: Vec<_> = index.iter().map(Result::unwrap).collect();
    let mut bad = coded.clone();
    bad[((blocks[3].bit_offset + blocks[3].end_bit) / 16) as usize] ^= 4;
    let reader = Reader::with_index(bad, index, &Settings::new().pool(&pool(2)));
    for round in 0..2 {
        for (i, block) in blocks.iter().enumerate() {
            let mut buf = [0; 64];
            match reader.read_at(&mut buf, block.text_offset) {
                Ok(64) => assert_eq!(buf, text[block.text_offset as usize..][..64]),
                Ok(n) => panic!("{n} bytes"),
                Err(error) => {
                    assert_eq!((i, error.kind()), (3, io::ErrorKind::InvalidData), "round {round}");
                    let inner = error.get_ref().and_then(|error| error.downcast_ref::<Error>());
                    let Some(Error::Data { block: 4, bit_offset, .. }) = inner else { panic!("{error}") };
                    assert_eq!(*bit_offset, block.bit_offset);
                }
            }
        }
    }
    // If a file is cut in a block, the text before that block can be read.
    let index = Index::build(&coded[..], &Settings::new()).unwrap();
    let cut = coded[..(blocks[5].bit_offset / 8 + 100) as usize].to_vec();
    let reader = Reader::with_index(cut, index, &Settings::new());
    let mut buf = [0; 10];
    assert_eq!(reader.read_at(&mut buf, blocks[4].text_offset).unwrap(), 10);
    assert_eq!(reader.read_at(&mut buf, blocks[5].text_offset).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}
