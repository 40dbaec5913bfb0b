//! Decoding undoes encoding, and damage is refused or read without a panic.

use super::magic::superstring;
use super::{Counts, HEAD, Options, STRIP, codable, decode, encode, long_length};
use hybz_testkit::shapes::{self, Rng};

/// The number of texts.
const TEXTS: usize = 5000;

fn words(len: usize) -> Vec<u8> {
    (shapes::shape("words").make)(len)
}

/// Rows of pixels, each near its neighbours: the predictor's case.
fn picture(len: usize, rng: &mut Rng) -> Vec<u8> {
    let mut level = 128u8;
    let steps: Vec<u8> = (0..1 + rng.below(4)).map(|_| rng.below(7) as u8).collect();
    (0..len)
        .map(|at| {
            level = level.wrapping_add(steps[at % steps.len()]).wrapping_sub(rng.below(3) as u8);
            level
        })
        .collect()
}

/// A text made of pieces: runs, copies of what came before, and noise of few or all letters.
fn pieces(len: usize, rng: &mut Rng) -> Vec<u8> {
    let mut text = Vec::new();
    while text.len() < len {
        let longest = if rng.below(20) == 0 { 4000 } else { 40 };
        let (kind, size) = (rng.below(5), 1 + rng.below(longest));
        let letters = 1 + rng.below(256);
        match kind {
            0 => text.extend(std::iter::repeat_n(rng.below(letters) as u8, size)),
            1 | 2 if !text.is_empty() => {
                let from = rng.below(text.len());
                text.extend_from_within(from..text.len().min(from + size));
            }
            _ => text.extend((0..size).map(|_| rng.below(letters) as u8)),
        }
    }
    text.truncate(len);
    text
}

fn texts() -> Vec<Vec<u8>> {
    let mut texts = Vec::new();
    for shape in shapes::SHAPES {
        texts.extend([1, 31, 33, 3000, STRIP].map(|len| (shape.make)(len)));
    }
    texts.extend(shapes::EDGES.iter().map(|edge| (edge.make)()));
    let long = [STRIP - 1, STRIP + 1, 2 * STRIP, 3 * STRIP + 5];
    texts.extend(long.iter().flat_map(|&len| [shapes::random(len), words(len), vec![0; len]]));
    texts.extend([7, 100, STRIP - 7, STRIP + 99].map(|len| [words(STRIP), shapes::random(len)].concat()));
    let mut rng = Rng(5);
    while texts.len() < TEXTS {
        let len = rng.below(if texts.len() % 50 == 0 { 20_000 } else { 1500 });
        let shape = shapes::SHAPES[rng.below(shapes::SHAPES.len())].make;
        texts.push(match texts.len() % 4 {
            0 => shape(len),
            1 => picture(len, &mut rng),
            _ => pieces(len, &mut rng),
        });
    }
    texts
}

/// Writes the files for `bench all` (`theses/funasaka/cuda/`) to the file that `HYBZ_ALL_CASES` names: for each, two
/// numbers of 32 bits, its bytes and those of its text, and both.
#[test]
fn thousands_of_texts() {
    let (mut all, mut cases) = (Counts::default(), Vec::new());
    for (number, text) in texts().iter().enumerate() {
        let options = Options { magic: number % 7 != 3, predictor: number % 5 != 3 };
        let (file, counts) = encode(text, options);
        assert!(decode(&file, number % 2 == 0).as_ref() == Some(text), "text {number}");
        if counts.raw == 0 {
            assert_eq!(counts.bytes.iter().sum::<u64>(), text.len() as u64);
        }
        all.add_all(&counts);
        cases.extend([file.len() as u32, text.len() as u32].iter().flat_map(|size| size.to_le_bytes()));
        cases.extend(file);
        cases.extend(text);
    }
    let least = *all.codes.iter().min().expect("five kinds");
    assert!(least > 1000 && all.raw > 100 && all.predicted > 100 && all.magic > 1000, "{all:?}");
    if let Some(path) = std::env::var_os("HYBZ_ALL_CASES") {
        std::fs::write(path, cases).unwrap();
    }
}

#[test]
fn damaged_files() {
    let mut rng = Rng(1);
    for text in texts().iter().step_by(5) {
        let (file, counts) = encode(text, Options::ALL);
        let more = [&file[..], &[0]].concat();
        if counts.raw == 0 {
            assert_eq!(decode(&more, false), None);
            assert_eq!(decode(&file[..rng.below(file.len())], false), None);
        }
        for _ in 0..20 {
            let mut spoilt = file.clone();
            let among = if rng.below(2) == 0 { file.len() } else { file.len().min(60) };
            spoilt[4 + rng.below(among - 4)] = rng.below(256) as u8;
            if let Some(other) = decode(&spoilt, false) {
                assert!(other.len() <= text.len().div_ceil(STRIP).max(1) * STRIP);
            }
        }
    }
}

/// A block of one strip, as a file.
fn file(words: u16, bytes: u16, last: u16, rows: &[&[u8]]) -> Vec<u8> {
    let block = [&words.to_le_bytes()[..], &bytes.to_le_bytes(), &last.to_le_bytes(), &rows.concat()].concat();
    [&[0, 0, 0, 0][..], &(block.len() as u16 - 1).to_le_bytes(), &block].concat()
}

/// Figure 5.1, as far as the text gives it: a magic string, and all kinds of codes that need no other ones.
#[test]
fn the_example_of_figure_5_1() {
    // A first segment of 32 single characters, A to Z and a to f. The magic string of the second is "vwxy".
    let first: Vec<u8> = (b'A'..=b'Z').chain(b'a'..=b'f').collect();
    // "wxy", "z", "vwx", 18 bytes from H on, and the last of them four times.
    let h = 4096 - 32 + 7;
    let codes =
        [&[0x11, 0x00, b'z', 0x01, 0x00][..], &((h << 4 | 15) as u16).to_le_bytes(), &[0], &[0xf2, 0xff]].concat();
    let ids = [0, 0, 0, 0, 0b10_1101];
    let rows: [&[u8]; 6] = [&ids, &[0b10], &[3, 0], &first, &codes, b"vwxy"];
    let text = [&first[..], b"wxyzvwxHIJKLMNOPQRSTUVWXYYYYY"].concat();
    assert_eq!(decode(&file(37, 41, 1, &rows), false), Some(text.clone()));
    // With the predictor flag, the same are differences.
    let mut sums = text;
    (1..sums.len()).for_each(|at| sums[at] = sums[at].wrapping_add(sums[at - 1]));
    assert_eq!(decode(&file(37, 41, 1 | 1 << 11, &rows), false), Some(sums));
    for (words, bytes, last) in [(36, 41, 1), (38, 41, 1), (37, 40, 1), (37, 42, 1), (37, 41, 0), (37, 41, 2)] {
        assert_eq!(decode(&file(words, bytes, last, &rows), false), None);
    }
}

/// What each field can be wrong in.
#[test]
fn blocks_that_say_what_cannot_be() {
    let twice = [0xf0, 0xff];
    assert_eq!(decode(&file(0, 1, 0, &[&[1], &[0], &twice]), false), Some(vec![0; 2]));
    // An interval up to the end of the dictionary, and one byte beyond it.
    assert_eq!(decode(&file(0, 1, 0, &[&[1], &[0], &[0xe0, 0xff]]), false), Some(vec![0; 2]));
    assert_eq!(decode(&file(0, 1, 0, &[&[1], &[0], &[0xe1, 0xff]]), false), None);
    // A code that lacks its second word, one whose second word has two bytes, and one in two segments.
    assert_eq!(decode(&file(0, 1, 0, &[&[1], &[0], &[0xff, 0xff]]), false), None);
    assert_eq!(decode(&file(1, 3, 0, &[&[3], &[0], &[0xff, 0xff, 0xf0, 0xff]]), false), None);
    let ends = [&[b'a'; 31][..], &[0xff, 0xff, 0]].concat();
    assert_eq!(decode(&file(32, 33, 0, &[&[0, 0, 0, 0x80, 0], &[0], &ends]), false), None);
    // More text than a strip has.
    let runs = [0xff, 0xff, 0xff].repeat(16);
    let rows: Vec<&[u8]> = vec![&[0x55; 4], &[0], &runs];
    assert_eq!(decode(&file(31, 47, 0, &rows), false), Some(vec![0; 16 * 3408]));
    let rows: Vec<&[u8]> = vec![&[0x55; 8], &[0], &runs, &runs];
    assert_eq!(decode(&file(63, 95, 0, &rows), false), None);
    // No strip but the last may be short.
    let one = file(0, 1, 0, &[&[1], &[0], &twice]);
    let two = [&[1, 0, 0, 0][..], &one[4..6], &one[4..6], &one[6..], &one[6..]].concat();
    assert_eq!(decode(&two, false), None);
    assert_eq!(decode(&[0; 5], false), None);
}

#[test]
fn an_empty_text_and_a_raw_end() {
    assert_eq!(encode(&[], Options::ALL).0, [0, 0, 0, 0, 0xff, 0xff]);
    let text = [vec![0; STRIP], b"raw".to_vec()].concat();
    let (file, counts) = encode(&text, Options::ALL);
    // Black: 40 words of 20 LI codes, 72 bytes a strip, his .00110.
    assert_eq!((file.len(), counts.raw, counts.codes), (8 + 72 + 3, 1, [0, 0, 20, 0, 0]));
    assert_eq!(HEAD + 5 + 1 + 60, 72);
    assert_eq!(decode(&file, false), Some(text));
}

#[test]
fn lengths_of_codes() {
    let longs: Vec<usize> = (0..=255).map(long_length).collect();
    assert_eq!(longs[..47], (18..=64).collect::<Vec<_>>());
    assert_eq!(longs[47..], (80..=3408).step_by(16).collect::<Vec<_>>());
    for len in 2..4000 {
        let most = (2..=16).chain(longs.iter().copied()).filter(|&known| known <= len).max();
        assert_eq!(Some(codable(len, 2)), most);
        assert_eq!(codable(len, 1), len.min(16));
    }
}

/// The thesis's example, and strings within others.
#[test]
fn superstrings() {
    let strings: [&[u8]; 5] = [b"BAA", b"AAB", b"BBA", b"ABA", b"ABB"];
    assert_eq!(superstring(strings.to_vec()).len(), b"ABAABBA".len());
    assert_eq!(superstring(vec![b"xyz", b"y", b"yz", b"xyz"]), b"xyz");
    assert_eq!(superstring(vec![b"ab"]), b"ab");
    let mut rng = Rng(3);
    for _ in 0..2000 {
        let one = |rng: &mut Rng| (0..1 + rng.below(8)).map(|_| b'a' + rng.below(3) as u8).collect::<Vec<u8>>();
        let strings: Vec<Vec<u8>> = (0..1 + rng.below(9)).map(|_| one(&mut rng)).collect();
        let whole = superstring(strings.iter().map(|string| &string[..]).collect());
        assert!(whole.len() <= strings.iter().map(Vec::len).sum());
        assert!(strings.iter().all(|string| whole.windows(string.len()).any(|part| part == string)));
    }
}
