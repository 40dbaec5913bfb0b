//! 1,000 random damages, with an oracle that knows the intact part of each block.

use super::everything;
use crate::ours::{compress, level, pool};
use crate::program::{bunzip2, installed_for_part};
use crate::shapes::{Rng, random, words};
use hybz::Settings;
use hybz::index::Index;
use hybz::recover::What;
use hybz_testkit::rounds;

/// A `.bz2`, and its blocks: first bit, the bit after the last, text.
struct Original {
    file: Vec<u8>,
    blocks: Vec<(u64, u64, Vec<u8>)>,
}

impl Original {
    fn of(streams: &[(u8, Vec<u8>)]) -> Original {
        let coded = |(level_, text): &(u8, Vec<u8>)| compress(text, &Settings::new().level(level(*level_)));
        let file: Vec<u8> = streams.iter().flat_map(coded).collect();
        let text: Vec<u8> = streams.iter().flat_map(|(_, text)| text.clone()).collect();
        let index = Index::build(&file[..], &Settings::new()).unwrap();
        let block = |block: Result<hybz::index::Block, _>| {
            let block = block.unwrap();
            let range = block.text_offset as usize..(block.text_offset + block.text_len) as usize;
            (block.bit_offset, block.end_bit, text[range].to_vec())
        };
        let blocks = index.iter().map(block).collect();
        Original { file, blocks }
    }
}

fn originals() -> Vec<Original> {
    let small = |i: usize| if i.is_multiple_of(2) { words(3000 + 1700 * i) } else { random(2000 + 900 * i) };
    vec![
        Original::of(&[(1, words(350_000))]),
        Original::of(&(0..12).map(|i| (9, small(i))).collect::<Vec<_>>()),
        Original::of(&[
            (1, [words(150_000), random(30_000)].concat()),
            (9, words(90_000)),
            (5, vec![]),
            (2, random(9000)),
        ]),
        Original::of(&[(1, random(310_000))]),
    ]
}

/// A file that is being damaged: its bytes, and the position of each in the original.
#[derive(Clone)]
struct Damaged {
    bytes: Vec<u8>,
    origin: Vec<Option<usize>>,
}

fn bit(bytes: &[u8], at: u64) -> Option<bool> {
    bytes.get((at / 8) as usize).map(|byte| byte >> (7 - at % 8) & 1 == 1)
}

impl Damaged {
    fn new(original: &Original) -> Damaged {
        Damaged { bytes: original.file.clone(), origin: (0..original.file.len()).map(Some).collect() }
    }

    /// Damages the file in one of many ways.
    fn damage(&mut self, rng: &mut Rng) -> &'static str {
        let at = rng.below(self.bytes.len());
        let len = (1 + rng.below(3000)).min(self.bytes.len() - at);
        match rng.below(7) {
            0 | 1 => {
                for _ in 0..1 + rng.below(3) {
                    let at = rng.below(self.bytes.len());
                    self.bytes[at] ^= 1 << rng.below(8);
                }
                "flips"
            }
            2 => {
                let sector = at / 512 * 512;
                let end = (sector + 512 * (1 + rng.below(6))).min(self.bytes.len());
                self.bytes[sector..end].fill(0);
                "zeroed sectors"
            }
            3 => {
                self.bytes.drain(at..at + len);
                self.origin.drain(at..at + len);
                "a cut"
            }
            4 => {
                self.bytes.truncate(at + 1);
                self.origin.truncate(at + 1);
                "a lost end"
            }
            5 => {
                let new = random(len);
                self.insert(at, &new);
                "an insertion"
            }
            _ => {
                let sectors = self.bytes.len() / 512;
                let (a, b) = (rng.below(sectors.max(1)), rng.below(sectors.max(1)));
                for i in 0..512.min(self.bytes.len()) {
                    let last = self.bytes.len() - 1;
                    self.bytes.swap((a * 512 + i).min(last), (b * 512 + i).min(last));
                    self.origin.swap((a * 512 + i).min(last), (b * 512 + i).min(last));
                }
                "swapped sectors"
            }
        }
    }

    fn insert(&mut self, at: usize, new: &[u8]) {
        self.bytes.splice(at..at, new.iter().copied());
        self.origin.splice(at..at, new.iter().map(|_| None));
    }

    /// The position of these bits of the original in the damaged file, if all of them exist and are unchanged.
    fn find(&self, original: &[u8], first: u64, end: u64) -> Option<u64> {
        let middle = ((first + end) / 16) as usize;
        let now = self.origin.iter().position(|&origin| origin == Some(middle))? as u64;
        let moved = |bit: u64| (bit + now * 8).checked_sub(middle as u64 * 8);
        let begin = moved(first)?;
        let inner = (first.div_ceil(8) as usize, (end / 8) as usize);
        let inner_now = begin.div_ceil(8) as usize;
        let same = self.bytes.get(inner_now..inner_now + inner.1 - inner.0)? == &original[inner.0..inner.1];
        let edge = |i: u64| bit(original, first + i) == bit(&self.bytes, begin + i);
        (same && (0..8).all(edge) && (end - 8 - first..end - first).all(edge)).then_some(begin)
    }
}

/// Checks that exactly the good blocks come out, in the order of the file: those without a damaged bit, and those of
/// which only the magic or the CRC is damaged.
fn check(name: &str, original: &Original, damaged: &Damaged, settings: &Settings, with_bzip2: bool) -> bool {
    let found = everything(&damaged.bytes, settings);
    let places = |skip: u64| -> Vec<(u64, &[u8])> {
        let place = |(first, end, _): &(u64, u64, Vec<u8>)| damaged.find(&original.file, first + skip, *end);
        let blocks = original.blocks.iter().filter_map(|block| Some((place(block)? - skip, &block.2[..])));
        blocks.collect()
    };
    let (whole, codes_good) = (places(0), places(80));
    for (bit, text) in &found.blocks {
        assert!(codes_good.contains(&(*bit, &text[..])), "{name}: no such block at bit {bit}");
    }
    for (bit, text) in &whole {
        assert!(found.blocks.iter().any(|block| (block.0, &block.1[..]) == (*bit, *text)), "{name}: {bit} is missing");
    }
    assert!(found.blocks.is_sorted_by_key(|block| block.0), "{name}");
    let lost = found.blocks.len() < original.blocks.len();
    assert!(!lost || found.summary.holes > 0, "{name}: a loss that is not reported");
    let text: Vec<u8> = found.blocks.iter().flat_map(|block| block.1.clone()).collect();
    if with_bzip2 {
        assert!(bunzip2(&found.rejoined) == Ok(text), "{name}: bzip2 refuses the rejoined blocks");
    } else {
        assert!(hybz::decompress(&found.rejoined, settings).unwrap() == text, "{name}");
    }
    lost
}

#[test]
fn random_damages() {
    let (originals, mut rng, mut lost) = (originals(), Rng(22), 0);
    let settings = Settings::new().pool(&pool(2));
    let with_bzip2 = installed_for_part("bzip2");
    for original in &originals {
        assert!(!check("undamaged", original, &Damaged::new(original), &settings, with_bzip2));
        assert!(everything(&original.file, &settings).remarks.is_empty());
    }
    let count = rounds(300, 3000);
    for round in 0..count {
        let original = &originals[round % originals.len()];
        let mut damaged = Damaged::new(original);
        let kinds: Vec<_> = (0..1 + rng.below(3)).map(|_| damaged.damage(&mut rng)).collect();
        lost += usize::from(check(&format!("{round}, {kinds:?}"), original, &damaged, &settings, with_bzip2));
    }
    assert!(lost * 9 > count * 5, "{lost} of {count} damages lost something");
}

/// A whole `.bz2` inside a block is not taken for a part of the file.
#[test]
fn a_hundred_stored_files() {
    let (originals, mut rng) = (originals(), Rng(23));
    let settings = Settings::new().pool(&pool(2));
    let with_bzip2 = installed_for_part("bzip2");
    for round in 0..100 {
        let original = &originals[round % originals.len()];
        let stored = compress(&words(100 + rng.below(3000)), &Settings::new());
        let (first, end, _) = original.blocks[rng.below(original.blocks.len())];
        let (first, end) = (first as usize / 8 + 30, end as usize / 8 - 30);
        let mut damaged = Damaged::new(original);
        let at = first + rng.below(end - first);
        if round.is_multiple_of(2) && at + stored.len() < end {
            damaged.bytes[at..at + stored.len()].copy_from_slice(&stored);
        } else {
            damaged.insert(at, &stored);
        }
        assert!(check(&format!("stored {round}"), original, &damaged, &settings, with_bzip2));
        let remarks = everything(&damaged.bytes, &settings).remarks;
        assert!(remarks.iter().any(|remark| remark.what == What::Nested), "{round}: {remarks:?}");
    }
}
