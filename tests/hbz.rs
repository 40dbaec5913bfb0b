//! `.hbz` streams through the library: every shape, real data, small pieces, damage, lists of blocks and ranges.

mod shapes;
mod skip;

use hybz::{Error, LargeBlocks, Pool, Settings};
use shapes::{EDGES, Rng, SHAPES, shape};
use std::io::{Read, Write};
use std::num::NonZeroUsize;

fn large(size: u32, interval: u32) -> Settings {
    Settings::new().large_blocks(LargeBlocks::try_new(size).unwrap().perturbation(interval, 1))
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

/// Large block sizes and all intervals of perturbation, on real data:
/// `HYBZ_HBZ_DATA=<file> cargo test --release --test hbz -- --ignored`.
#[test]
#[ignore = "minutes and gigabytes: needs HYBZ_HBZ_DATA"]
fn real_data() {
    let Ok(name) = std::env::var("HYBZ_HBZ_DATA") else {
        return skip::skip(skip::Need::Large, "HYBZ_HBZ_DATA names no file");
    };
    let text = std::fs::read(name).unwrap();
    for size in [900_000, 1_000_000, 4_500_000, 9_000_000, 64 << 20, 256 << 20] {
        for interval in [0, 10_000, 1000, 100] {
            let coded = round_trip(&text, size, interval, "real data");
            println!("{size} {interval}: {}", coded.len());
        }
    }
}

#[test]
fn blocks_above_16_mib_are_decoded_in_stages() {
    let words = (shape("words").make)(1 << 20);
    let text: Vec<u8> = (0u8..30).flat_map(|i| [&words[usize::from(i)..], &[i ^ 0x80; 3]].concat()).collect();
    for threads in [1, 2, 5] {
        let pool = Pool::builder().threads(NonZeroUsize::new(threads).unwrap()).build();
        let coded = hybz::compress(&text, &large(1 << 26, 0).pool(&pool)).unwrap();
        assert!(hybz::decompress(&coded, &Settings::new().pool(&pool)).unwrap() == text, "{threads}");
    }
}

/// A block that is alone in its stream is decoded by several stations, whether it is perturbed or not.
#[test]
fn a_block_alone_is_decoded_in_stages() {
    let text = (shape("words").make)(6_000_000);
    for (interval, threads) in [(0, 1), (0, 3), (1000, 3), (7, 2)] {
        let pool = Pool::builder().threads(NonZeroUsize::new(threads).unwrap()).build();
        let coded = hybz::compress(&text, &large(8_000_000, interval).pool(&pool)).unwrap();
        assert!(hybz::decompress(&coded, &Settings::new().pool(&pool)).unwrap() == text, "{interval} {threads}");
        let bad = |at: usize| {
            hybz::decompress(&[&coded[..at], &[coded[at] ^ 1], &coded[at + 1..]].concat(), &Settings::new())
        };
        assert!(matches!(bad(coded.len() / 2), Err(Error::Data { block: 1, .. })));
    }
}

#[test]
fn same_settings_same_bytes() {
    let text = (shape("words").make)(500_000);
    let one = Pool::builder().threads(NonZeroUsize::MIN).build();
    let first = hybz::compress(&text, &large(100_000, 1000)).unwrap();
    assert_eq!(first, hybz::compress(&text, &large(100_000, 1000).pool(&one)).unwrap());
    let other_seed = LargeBlocks::try_new(100_000).unwrap().perturbation(1000, 2);
    assert_ne!(first, hybz::compress(&text, &Settings::new().large_blocks(other_seed)).unwrap());
}

#[test]
fn streams_in_small_pieces() {
    let text = (shape("words").make)(300_000);
    let settings = large(50_000, 0);
    let whole = hybz::compress(&text, &settings).unwrap();
    let mut encoder = hybz::write::BzEncoder::with_settings(Vec::new(), &settings);
    text.chunks(777).for_each(|part| encoder.write_all(part).unwrap());
    assert_eq!(encoder.finish().unwrap(), whole);
    let mut decoder = hybz::write::MultiBzDecoder::new(Vec::new());
    whole.chunks(13).for_each(|part| decoder.write_all(part).unwrap());
    assert_eq!(decoder.finish().unwrap(), text);
    let mut back = Vec::new();
    let mut decoder = hybz::read::MultiBzDecoder::new(&whole[..]);
    let mut buf = [0; 1000];
    loop {
        match decoder.read(&mut buf).unwrap() {
            0 => break,
            n => back.extend_from_slice(&buf[..n]),
        }
    }
    assert_eq!(back, text);
    let summary = decoder.summary();
    assert_eq!((summary.blocks, summary.streams), (6, 1));
}

#[test]
fn several_streams_and_garbage() {
    let (one, two) = ((shape("words").make)(100_000), (shape("sparse").make)(70_000));
    let both = [hybz::compress(&one, &large(30_000, 0)), hybz::compress(&two, &large(40_000, 500))];
    let mut both: Vec<u8> = both.into_iter().flat_map(Result::unwrap).collect();
    assert!(hybz::decompress(&both, &Settings::new()).unwrap() == [one, two].concat());
    let len = both.len() as u64;
    both.extend(b"garbage");
    assert!(hybz::decompress(&both, &Settings::new()).is_ok());
    let strict = hybz::decompress(&both, &Settings::new().trailing_garbage(false));
    assert!(matches!(strict, Err(Error::TrailingGarbage { offset }) if offset == len), "{strict:?}");
}

#[test]
fn a_small_memory_is_kept() {
    let text = (shape("words").make)(3_000_000);
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
    let text = (shape("words").make)(400_000);
    let mut rng = Rng(5);
    for interval in [0, 1000] {
        let coded = hybz::compress(&text, &large(60_000, interval)).unwrap();
        for round in 0..500 {
            let mut bad = coded.clone();
            if round % 3 == 0 {
                bad.truncate(rng.below(coded.len()));
            } else {
                let at = rng.below(bad.len());
                bad[at] ^= 1 << rng.below(8);
            }
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
    let text = (shape("words").make)(400_000);
    let coded = hybz::compress(&text, &large(60_000, 0)).unwrap();
    let good = hybz::hbz::List::read(&mut std::io::Cursor::new(&coded)).unwrap();
    assert_eq!((good.blocks().len(), good.text_len()), (7, 400_000));
    for (number, block) in good.blocks().iter().enumerate() {
        let mut bad = coded.clone();
        bad[block.at as usize + 100] ^= 4;
        let error = hybz::decompress(&bad, &Settings::new()).unwrap_err();
        assert!(matches!(error, Error::Data { block, .. } if block == number as u64 + 1), "{error}");
        // Also if the index at the end is cut off.
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
    let text = (shape("words").make)(200_000);
    let mut file = hybz::compress(&text[..90_000], &large(30_000, 0)).unwrap();
    file.extend(hybz::compress(&text[90_000..], &large(50_000, 777)).unwrap());
    let mut file = std::io::Cursor::new(file);
    let list = hybz::hbz::List::read(&mut file).unwrap();
    assert_eq!(list.text_len(), 200_000);
    for (from, to) in [(0, 0), (0, 1), (29_999, 30_001), (89_990, 140_010), (199_999, 200_000), (10, 200_000)] {
        assert!(list.read_range(&mut file, from..to).unwrap() == text[from as usize..to as usize]);
    }
    assert!(list.read_range(&mut file, 199_990..300_000).unwrap() == text[199_990..]);
    // Reversed inside one block, over several, over the end: never anything.
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
    let spec = include_str!("../docs/FORMAT.md");
    let (_, example) = spec.split_once("<!-- example -->").expect("the example's mark");
    let (example, _) = example.split_once("<!-- end -->").expect("its end");
    let bytes: Vec<u8> = example
        .lines()
        .filter_map(|line| {
            line.split_once(": ").filter(|(at, _)| at.len() == 4 && at.bytes().all(|b| b.is_ascii_hexdigit()))
        })
        .flat_map(|(_, line)| {
            line.split("  ").next().unwrap().split_whitespace().map(|b| u8::from_str_radix(b, 16).unwrap())
        })
        .collect();
    let text = b"abracadabra, abracadabra";
    let coded = hybz::compress(text, &Settings::new().large_blocks(LargeBlocks::try_new(1 << 20).unwrap())).unwrap();
    assert!(bytes == coded, "is {coded:02x?}");
    assert_eq!(hybz::decompress(&bytes, &Settings::new()).unwrap(), text);
}
