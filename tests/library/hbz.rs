//! `.hbz` streams through the library: every shape, real data, small pieces, damage, lists of blocks and ranges.

use crate::texts::{damaged, example};
use crate::{crafted_hbz, shapes};
use hybz::internals::Flaw;
use hybz::internals::formats::hbz::StreamHeader;
use hybz::{Error, LargeBlocks, Pool, Settings};
use hybz_testkit::rounds;
use shapes::{EDGES, Rng, SHAPES, shape, words};
use std::io::{Read, Seek, SeekFrom, Write};
use std::num::NonZeroUsize;

fn large(size: u32, interval: u32) -> Settings {
    Settings::new().encoding(LargeBlocks::try_new(size).unwrap().perturbation(interval, 1))
}

fn round_trip(text: &[u8], size: u32, interval: u32, what: &str) -> Vec<u8> {
    let coded = hybz::compress(text, &large(size, interval)).unwrap();
    let back = hybz::decompress(&coded, &Settings::new());
    assert!(back.as_deref().ok() == Some(text), "{what}, {} bytes, {size}, {interval}: {:?}", text.len(), back.err());
    coded
}

#[test]
fn every_shape_and_edge() {
    for edge in EDGES {
        round_trip(&(edge.make)(), 1 << 20, 0, edge.name);
    }
    for shape in SHAPES {
        for (size, interval) in [(1 << 16, 0), (1 << 20, 0), (100_000, 1000), (900_000, 100), (1 << 20, 10_000)] {
            round_trip(&(shape.make)(300_000), size, interval, shape.name);
        }
    }
}

/// Decodes, and returns the number of jobs; a block that is not decoded in stages is one job.
fn jobs_to_decode(coded: &[u8], text: &[u8], threads: usize) -> u64 {
    let pool = Pool::builder().threads(NonZeroUsize::new(threads).unwrap()).build();
    assert!(hybz::decompress(coded, &Settings::new().pool(&pool)).unwrap() == text, "{threads} threads");
    pool.summary().stations.iter().map(|station| station.blocks + station.finished).sum()
}

/// Each of three stages has a job for every 2^19 rows, also in long blocks that are not the last of their stream.
#[test]
fn blocks_above_16_mib_are_decoded_in_stages() {
    // All byte values are in use, so no code stands for a phrase: there are as many rows as bytes.
    let text = (shape("random").make)((1 << 24) + 2000);
    let staged = hybz::compress(&text, &large((1 << 24) + 1000, 0)).unwrap();
    for threads in [1, 5] {
        let jobs = jobs_to_decode(&staged, &text, threads);
        assert!(jobs >= 3 * 32, "{jobs} jobs of {threads} threads");
    }
    let whole = hybz::compress(&text, &large((1 << 24) - 1000, 0)).unwrap();
    let jobs = jobs_to_decode(&whole, &text, 2);
    assert!(jobs <= 2, "{jobs} jobs");
}

/// A block that is alone in its stream is decoded by several stations, whether it is perturbed or not.
#[test]
fn a_block_alone_is_decoded_in_stages() {
    let text = words(6_000_000);
    for (interval, threads) in [(0, 1), (0, 3), (1000, 3), (7, 2)] {
        let coded = hybz::compress(&text, &large(8_000_000, interval)).unwrap();
        let jobs = jobs_to_decode(&coded, &text, threads);
        assert!(jobs >= 3 * 4, "{interval} {threads}: {jobs} jobs");
        let bad = |at: usize| {
            hybz::decompress(&[&coded[..at], &[coded[at] ^ 1], &coded[at + 1..]].concat(), &Settings::new())
        };
        assert!(matches!(bad(coded.len() / 2), Err(Error::Data { block: 1, .. })));
    }
}

/// The same without a station, as the command does it for a small file: jobs of one stage submit those of the next on
/// the caller's own thread.
#[test]
fn a_block_alone_is_decoded_by_the_caller() {
    let text = (shape("zeros").make)(12_000_000);
    let coded = hybz::compress(&text, &large(60_000_000, 0)).unwrap();
    let pool = Pool::builder().without_cpu().build();
    assert!(hybz::decompress(&coded, &Settings::new().pool(&pool)).unwrap() == text);
}

#[test]
fn same_settings_same_bytes() {
    let text = words(500_000);
    let one = Pool::builder().threads(NonZeroUsize::MIN).build();
    let first = hybz::compress(&text, &large(100_000, 1000)).unwrap();
    assert_eq!(first, hybz::compress(&text, &large(100_000, 1000).pool(&one)).unwrap());
    let other_seed = LargeBlocks::try_new(100_000).unwrap().perturbation(1000, 2);
    assert_ne!(first, hybz::compress(&text, &Settings::new().encoding(other_seed)).unwrap());
}

/// The stream has a block twice, numbered consistently: the index lists fewer blocks, and the error says so.
#[test]
fn the_index_lists_other_blocks() {
    let text = words(100_000);
    let stream = crafted_hbz::stream(50_000);
    let blocks = [0, 50_000].map(|at| crafted_hbz::Block::of(&text[at..at + 50_000], &stream));
    let two = crafted_hbz::file(&stream, &blocks);
    let three = crafted_hbz::file(&stream, [&blocks[0], &blocks[1], &blocks[1]]);
    let index = two.len() - 32 - 2 * 12;
    let doubled = [&three[..three.len() - 32 - 3 * 12], &two[index..]].concat();
    let swapped = crafted_hbz::file(&stream, [&blocks[1], &blocks[0]]);
    let other = [&two[..index], &swapped[index..]].concat();
    let damage = |file: &[u8]| match hybz::decompress(file, &Settings::new()) {
        Err(Error::Data { damage, .. }) => damage,
        other => panic!("{other:?}"),
    };
    assert_eq!(damage(&doubled).flaw(), Flaw::Index { blocks: 3, listed: 2 });
    assert_eq!(damage(&doubled).to_string(), "the stream has 3 blocks, but its index lists 2");
    assert_eq!(damage(&other).flaw(), Flaw::Index { blocks: 2, listed: 2 });
    let mut bad = two.clone();
    bad[index + 9] ^= 1;
    assert!(matches!(damage(&bad).flaw(), Flaw::PartCrc { part: "index", .. }));
    for file in [doubled, bad] {
        assert!(!hybz::hbz::List::read(&mut std::io::Cursor::new(file)).unwrap().is_complete());
    }
    // That index itself is valid, but the blocks are not those it lists.
    let mut other = std::io::Cursor::new(other);
    let list = hybz::hbz::List::read(&mut other).unwrap();
    assert!(list.verify(&mut other).unwrap().iter().all(Result::is_err));
}

/// A block of a few rows with entry points 16 million rows apart takes no more than its rows.
#[test]
fn entry_points_far_apart() {
    let stream = StreamHeader { entry_log: 24, ..crafted_hbz::stream(1 << 20) };
    let text = words(300);
    let block = crafted_hbz::Block::of(&text, &stream);
    let file = crafted_hbz::file(&stream, std::iter::repeat_n(&block, 2000));
    assert!(hybz::decompress(&file, &Settings::new()).unwrap() == text.repeat(2000));
}

/// The long text of a block with phrases is right in every way of reading it: whole, in pieces, in part.
#[test]
fn bombs() {
    let bytes: Vec<u8> = (0..255).collect();
    // Blocks decoded by one station, by all stations, and perturbed.
    for (rows, len, interval) in [(9000, 255, 0), (1_100_000, 6, 0), (9000, 255, 1), (9000, 255, 1000)] {
        let phrase = &bytes[..len];
        let stream = StreamHeader { interval, ..crafted_hbz::stream(1 << 30) };
        let plain = StreamHeader { interval: 0, ..stream };
        let mut block = crafted_hbz::Block::bomb(rows, phrase, &plain);
        let mut text = phrase.repeat(rows);
        if interval > 0 {
            let mut at = 0;
            text.retain(|_| {
                at += 1;
                at % (interval as usize + 1) != 0
            });
            (block.header.text_len, block.header.crc) = (text.len() as u32, hybz::internals::crc::checksum(&text));
        }
        let file = crafted_hbz::file(&stream, [&block]);
        let mut at = 0;
        let mut decoder = hybz::read::MultiBzDecoder::new(&file[..]);
        let mut buf = vec![0; 100_000];
        loop {
            let n = decoder.read(&mut buf).unwrap();
            assert!(buf[..n] == text[at..at + n], "{rows} {interval} {at}");
            at += n;
            if n == 0 {
                break;
            }
        }
        assert_eq!(at, text.len());
        let mut file = std::io::Cursor::new(file);
        let list = hybz::hbz::List::read(&mut file).unwrap();
        assert!(list.verify(&mut file).unwrap().iter().all(Result::is_ok));
        for (from, to) in [(0, 1), (70_000, 200_001), (text.len() - 3, text.len())] {
            assert!(list.read_range(&mut file, from as u64..to as u64).unwrap() == text[from..to]);
        }
        // A header that states one byte of text less, or more, than the codes have.
        for text_len in [text.len() as u32 - 1, text.len() as u32 + 1] {
            block.header.text_len = text_len;
            let bad = crafted_hbz::file(&stream, [&block]);
            assert!(matches!(hybz::decompress(&bad, &Settings::new()), Err(Error::Data { block: 1, .. })));
        }
    }
}

/// The header tells that memory does not suffice, so the block is refused even if its payload does not come.
#[test]
fn what_needs_too_much_is_refused_at_its_header() {
    let stream = crafted_hbz::stream(1 << 30);
    let mut block = crafted_hbz::Block::of(b"abc", &stream);
    (block.header.rows, block.header.text_len) = (1 << 30, 1 << 30);
    let file = crafted_hbz::file(&stream, [&block]);
    let pool = Pool::builder().memory(50 << 20).build();
    let settings = Settings::new().pool(&pool);
    let mut decoder = hybz::read::MultiBzDecoder::with_settings(file[..64].chain(std::io::repeat(0)), &settings);
    let error = decoder.read(&mut [0; 10]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::OutOfMemory);
    let error = error.get_ref().and_then(|error| error.downcast_ref()).expect("our error");
    let Error::Memory { block: 1, needs, allowed } = error else { panic!("{error}") };
    assert!(*needs > 8 << 30 && *allowed == 50 << 20);
}

/// The index of a sparse file may claim gigabytes. Its head, or its first entries, contradict that.
#[test]
fn an_index_that_claims_much() {
    let good = hybz::compress(b"text", &large(1024, 0)).unwrap();
    for (head, len) in [(&b""[..], 3u64 << 30), (b"hbzX", 12 * 200_000_000 + 8)] {
        let file = tempfile::tempfile().unwrap();
        let mut file = std::io::BufWriter::new(file);
        let at = 1 << 20;
        file.write_all(&good).unwrap();
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(head).unwrap();
        file.write_all(&(((len - 8) / 12) as u32).to_le_bytes()).unwrap();
        file.seek(SeekFrom::Start(at + len + 8)).unwrap();
        file.write_all(&len.to_le_bytes()).unwrap();
        file.write_all(b"\x89HBZend\n").unwrap();
        let mut file = Reads(file.into_inner().unwrap(), 0);
        let list = hybz::hbz::List::read(&mut file).unwrap();
        assert_eq!((list.blocks().len(), list.end()), (1, good.len() as u64));
        assert!(file.1 < 100_000, "{} bytes were read", file.1);
    }
}

/// Counts the bytes read.
struct Reads(std::fs::File, usize);

impl Read for Reads {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.0.read(buf)?;
        self.1 += n;
        Ok(n)
    }
}

impl Seek for Reads {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn a_small_memory_is_kept() {
    let text = words(3_000_000);
    let coded = hybz::compress(&text, &large(2_000_000, 0)).unwrap();
    let pool = Pool::builder().memory(1 << 20).build();
    let refused = hybz::decompress(&coded, &Settings::new().pool(&pool));
    let Err(Error::Memory { block: 1, needs, allowed }) = refused else { panic!("{refused:?}") };
    assert_eq!(allowed, 1 << 20);
    let pool = Pool::builder().memory(needs).build();
    assert!(hybz::decompress(&coded, &Settings::new().pool(&pool)).unwrap() == text);
}

/// Flipped and cut files are errors, and no byte comes out that is not in the text.
#[test]
fn damage_is_refused() {
    let text = words(400_000);
    let mut rng = Rng(5);
    for interval in [0, 1000] {
        let coded = hybz::compress(&text, &large(60_000, interval)).unwrap();
        for round in 0..rounds(150, 2000) {
            let bad = damaged(&coded, round, &mut rng);
            let mut decoder = hybz::read::MultiBzDecoder::new(&bad[..]);
            let mut out = Vec::new();
            let error = decoder.read_to_end(&mut out).expect_err("damage");
            assert!(text.starts_with(&out), "{round}");
            let error = error.get_ref().and_then(|e| e.downcast_ref::<Error>()).expect("our error");
            assert!(
                matches!(error, Error::Data { .. } | Error::Truncated { .. } | Error::NotBzip2),
                "{round}: {error}"
            );
            if let Error::Data { block, .. } = error {
                assert!((out.len() as u64 / 60_000 + 1 == *block) || out.len() == text.len(), "{round}: {error}");
            }
        }
    }
}

/// A damaged block is reported by its number; all other blocks can be listed, verified and read.
#[test]
fn undamaged_blocks_can_be_listed() {
    let text = words(400_000);
    let coded = hybz::compress(&text, &large(60_000, 0)).unwrap();
    let good = hybz::hbz::List::read(&mut std::io::Cursor::new(&coded)).unwrap();
    assert_eq!((good.blocks().len(), good.text_len()), (7, 400_000));
    for (number, block) in good.blocks().iter().enumerate() {
        let mut bad = coded.clone();
        bad[block.at as usize + 100] ^= 4;
        let error = hybz::decompress(&bad, &Settings::new()).unwrap_err();
        assert!(matches!(error, Error::Data { block, .. } if block == number as u64 + 1), "{error}");
        // The same holds if the index at the end is cut off.
        for cut in [0, 30] {
            let mut bad = std::io::Cursor::new(&bad[..bad.len() - cut]);
            let list = hybz::hbz::List::read(&mut bad).unwrap();
            assert_eq!(list.blocks(), good.blocks());
            assert_eq!((list.is_complete(), list.streams()), (cut == 0, 1));
            let verdicts = list.verify(&mut bad).unwrap();
            assert!(verdicts.iter().enumerate().all(|(n, verdict)| verdict.is_err() == (n == number)));
            for other in list.blocks().iter().filter(|other| **other != *block) {
                let range = other.text_at..other.text_at + u64::from(other.text_len);
                let part = list.read_range(&mut bad, range.clone()).unwrap();
                assert!(part == text[range.start as usize..range.end as usize]);
            }
        }
    }
}

#[test]
fn ranges() {
    let text = words(200_000);
    let mut file = hybz::compress(&text[..90_000], &large(30_000, 0)).unwrap();
    file.extend(hybz::compress(&text[90_000..], &large(50_000, 777)).unwrap());
    let mut file = std::io::Cursor::new(file);
    let list = hybz::hbz::List::read(&mut file).unwrap();
    assert_eq!(list.text_len(), 200_000);
    for (from, to) in [(0, 0), (0, 1), (29_999, 30_001), (89_990, 140_010), (199_999, 200_000), (10, 200_000)] {
        assert!(list.read_range(&mut file, from..to).unwrap() == text[from as usize..to as usize]);
    }
    assert!(list.read_range(&mut file, 199_990..300_000).unwrap() == text[199_990..]);
    // A reversed range returns nothing: inside one block, across several, past the end.
    for (from, to) in [(20, 10), (140_010, 89_990), (u64::MAX, 0), (300_000, 199_990), (200_000, 200_000)] {
        assert_eq!(list.read_range(&mut file, from..to).unwrap(), b"");
    }
}

/// Writes small `.hbz` files into the folder `HYBZ_SEEDS`: seeds for the fuzz target `hbz_decode` (`fuzz/run.sh`).
#[test]
#[ignore = "writes files"]
fn write_seeds() {
    let folder = std::path::PathBuf::from(std::env::var_os("HYBZ_SEEDS").expect("HYBZ_SEEDS names a folder"));
    std::fs::create_dir_all(&folder).expect("a folder that can be made");
    for shape in SHAPES {
        for interval in [0, 100] {
            let coded = hybz::compress(&(shape.make)(6000), &large(2500, interval)).unwrap();
            if coded.len() <= 16_384 {
                std::fs::write(folder.join(format!("{}_{interval}", shape.name)), &coded).unwrap();
            }
        }
    }
}

/// The worked example of docs/FORMAT.md, byte for byte.
#[test]
fn the_example_in_the_specification() {
    let bytes = example(include_str!("../../docs/FORMAT.md"));
    let text = b"abracadabra, abracadabra";
    let coded = hybz::compress(text, &Settings::new().encoding(LargeBlocks::try_new(1 << 20).unwrap())).unwrap();
    assert!(bytes == coded, "is {coded:02x?}");
    assert_eq!(hybz::decompress(&bytes, &Settings::new()).unwrap(), text);
}
