//! Blocks for the kernel that decodes LZ4, with the results of the twin, for `bench lz4` of `cuda/bench/`.

use super::sequence::tests::decode;
use hybz_gpu::MAX_LZ4;
use hybz_testkit::shapes::{Rng, SHAPES};

struct Case {
    coded: Vec<u8>,
    length: usize,
    plain: bool,
    /// `None` if the block is damaged.
    text: Option<Vec<u8>>,
}

impl Case {
    fn new(coded: Vec<u8>, length: usize) -> Case {
        let mut text = vec![0; length];
        let right = decode(&coded, &mut text);
        Case { coded, length, plain: false, text: right.then_some(text) }
    }
}

fn put_length(coded: &mut Vec<u8>, length: usize) {
    if length >= 15 {
        coded.extend(std::iter::repeat_n(255, (length - 15) / 255));
        coded.push(((length - 15) % 255) as u8);
    }
}

/// A sequence; the last one of a block has no match.
fn put_sequence(coded: &mut Vec<u8>, literals: &[u8], distance_and_length: Option<(usize, usize)>) {
    let (distance, length) = distance_and_length.unwrap_or((0, 4));
    coded.push((literals.len().min(15) << 4 | (length - 4).min(15)) as u8);
    put_length(coded, literals.len());
    coded.extend_from_slice(literals);
    if distance > 0 {
        coded.extend((distance as u16).to_le_bytes());
        put_length(coded, length - 4);
    }
}

/// All distances and lengths, overlaps, chains of references into the same group.
fn sequences(rng: &mut Rng) -> Case {
    let (mut coded, mut length, alphabet) = (Vec::new(), 0, 1 + rng.below(4));
    let literals = |rng: &mut Rng, least: usize| -> Vec<u8> {
        let most = if rng.below(8) > 0 { 4 } else { 80 };
        (0..rng.below(most) + least).map(|_| b'a' + rng.below(alphabet) as u8).collect()
    };
    for _ in 0..1 + rng.below(150) {
        let literals = literals(rng, usize::from(length == 0));
        length += literals.len();
        let nearest = if rng.below(3) > 0 { length.min(1 + rng.below(40)) } else { length };
        let distance = 1 + rng.below(nearest.min(65_535));
        let most = if rng.below(10) > 0 { 20 } else { 400 };
        let matched = 4 + rng.below(most);
        put_sequence(&mut coded, &literals, Some((distance, matched)));
        length += matched;
    }
    let last = literals(rng, 1);
    put_sequence(&mut coded, &last, None);
    Case::new(coded, length + last.len())
}

/// Changes 0 to 3 bytes.
fn spoil(rng: &mut Rng, coded: &mut [u8], changes: usize) {
    for _ in 0..changes {
        let at = rng.below(coded.len());
        coded[at] = if rng.below(8) > 0 { rng.below(256) as u8 } else { 255 };
    }
}

fn letters(rng: &mut Rng, length: usize, alphabet: usize) -> Vec<u8> {
    (0..length).map(|_| b'a' + rng.below(alphabet) as u8).collect()
}

fn cases(seed: u64) -> Vec<Case> {
    let (mut cases, mut rng) = (Vec::new(), Rng(seed));
    for shape in SHAPES {
        for length in [1, 13, 1000, 5000, 65_536] {
            let text = (shape.make)(length);
            let coded = lz4_flex::block::compress(&text);
            cases.push(Case::new(coded, length));
            assert!(cases.last().unwrap().text.as_ref() == Some(&text), "{} {length}", shape.name);
            cases.push(Case { coded: text.clone(), length, plain: true, text: Some(text) });
        }
    }
    cases.extend((0..200).map(|_| sequences(&mut rng)));
    let text = letters(&mut rng, 3000, 3);
    let coded = lz4_flex::block::compress(&text);
    for number in 0..1500 {
        let mut spoilt = coded.clone();
        spoil(&mut rng, &mut spoilt, 1 + number % 2);
        cases.push(Case::new(spoilt, text.len()));
    }
    cases.extend((0..coded.len()).step_by(7).map(|cut| Case::new(coded[..cut].to_vec(), text.len())));
    let lengths = [0, 1, text.len() - 1, text.len() + 1, MAX_LZ4 as usize];
    cases.extend(lengths.map(|length| Case::new(coded.clone(), length)));
    cases
        .extend([(vec![], 0), (vec![0], 0), (vec![255; 5000], 60_000)].map(|(coded, length)| Case::new(coded, length)));
    for number in 0..400 {
        let (length, alphabet) = (rng.below(2000), 1 + rng.below(4));
        let mut coded = lz4_flex::block::compress(&letters(&mut rng, length, alphabet));
        spoil(&mut rng, &mut coded, number % 4);
        if number % 7 == 0 {
            coded.truncate(rng.below(coded.len() + 1));
        }
        cases.push(Case::new(coded, length));
    }
    cases
}

/// Writes blocks for `bench lz4 FILE` to the file named by `HYBZ_LZ4_CASES`; `HYBZ_SEED`, a number, gives others. For
/// each block: six numbers (bytes coded, of text, of text present; whether it is damaged; whether it is plain; 0), the
/// block, and the text.
#[test]
fn lz4_cases_for_the_kernels() {
    let seed = std::env::var("HYBZ_SEED").map_or(11, |seed| seed.parse().expect("HYBZ_SEED is a number"));
    let cases = cases(seed);
    let damaged = cases.iter().filter(|case| case.text.is_none()).count();
    assert!(damaged > 1000 && cases.len() - damaged > 500, "{damaged} of {}", cases.len());
    let Some(path) = std::env::var_os("HYBZ_LZ4_CASES") else { return };
    let mut file = Vec::new();
    for Case { coded, length, plain, text } in &cases {
        let present = text.as_deref().unwrap_or_default();
        let sizes = [coded.len(), *length, present.len()].map(|size| size as u32);
        let numbers = [text.is_none().into(), (*plain).into(), 0];
        sizes.iter().chain(&numbers).for_each(|number| file.extend(number.to_le_bytes()));
        file.extend_from_slice(coded);
        file.extend_from_slice(present);
    }
    std::fs::write(path, file).unwrap();
}
