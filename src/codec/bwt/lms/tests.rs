use super::*;
use crate::codec::bwt::rotation;
use hybz_testkit::shapes::{Rng, SHAPES};
use libsais::SuffixArrayConstruction;
use proptest::prelude::*;

/// The word turned to its least rotation, with its surroundings, and the new place of the word's own beginning.
fn ring(word: &[u8]) -> Option<(Vec<u8>, i32)> {
    let len = word.len();
    if len < 2 || rotation::period(word) != len {
        return None;
    }
    let least = rotation::least(word, &mut Vec::new());
    let ring = (0..BEFORE + len + AFTER).map(|i| word[(least + i + 8 * len - BEFORE) % len]).collect();
    Some((ring, ((len - least) % len) as i32))
}

/// The judge: libsais.
fn wanted(ring: &[u8], turn: i32) -> (Vec<u8>, u32) {
    let word = &ring[BEFORE..ring.len() - AFTER];
    let mut suffixes = vec![0i32; word.len()];
    SuffixArrayConstruction::for_text(word).in_borrowed_buffer(&mut suffixes).single_threaded().run().unwrap();
    let last = suffixes.iter().map(|&at| ring[at as usize + BEFORE - 1]).collect();
    (last, suffixes.iter().position(|&at| at == turn).unwrap() as u32)
}

/// Returns how many kernels left the word to libsais.
pub fn check(word: &[u8], what: &str) -> usize {
    let Some((ring, turn)) = ring(word) else { return 0 };
    let (bytes, row) = wanted(&ring, turn);
    let mut left = 0;
    for kernel in Kernel::all() {
        let mut sort = LmsSort::with_kernel(kernel);
        let mut memory = vec![0; room(word.len().max(1 << 15))];
        let mut last = Vec::new();
        // Sorts twice: the second time the memory has the first sort's leftovers.
        for _ in 0..2 {
            match sort.last_column(&ring, turn, &mut memory, &mut last) {
                Some(made) => {
                    assert!(last == bytes, "{what}, {} bytes, {kernel:?}: last column", word.len());
                    assert_eq!(made, row, "{what}, {} bytes, {kernel:?}: row", word.len());
                }
                None => left += 1,
            }
        }
    }
    left
}

#[test]
fn long_shapes() {
    for shape in SHAPES {
        for len in [65_536, 300_001] {
            check(&(shape.make)(len), shape.name);
        }
    }
}

/// Words whose LMS substrings are long, and differ late or in their last byte only.
#[test]
fn long_substrings() {
    let mut rng = Rng(9);
    for _ in 0..300 {
        let mut word = Vec::new();
        while word.len() < 3000 {
            let rise = 1 + rng.below(40);
            word.extend((0..rise).map(|i| 10 + (i / (1 + rng.below(2))) as u8));
            word.extend((0..rng.below(40)).map(|i| 200 - i as u8));
        }
        check(&word, "long substrings");
    }
}

/// Repeats that take many rounds, so that libsais takes over.
#[test]
fn deep_repeats() {
    let mut rng = Rng(4);
    let part: Vec<u8> = (0..5000).map(|_| rng.below(256) as u8).collect();
    let mut word = part.repeat(100);
    word[123_456] ^= 1;
    word.push(7);
    check(&word, "a part, a hundred times");
    // Many names, so that rounds begin; then there is no more work left.
    let part: Vec<u8> = (0..12_500).map(|_| rng.below(256) as u8).collect();
    let mut word = part.repeat(36);
    word[123_456] ^= 1;
    assert_eq!(check(&word, "a long part, 36 times"), 0);
    let mut word = b"ab".repeat(200_000);
    word.extend(b"aab");
    check(&word, "two letters");
    let (mut a, mut b) = (b"a".to_vec(), b"ab".to_vec());
    while b.len() < 500_000 {
        (a, b) = (b.clone(), [b, a].concat());
    }
    check(&b, "Fibonacci's word");
}

#[test]
fn random_bytes_are_left_to_libsais() {
    let mut rng = Rng(6);
    let word: Vec<u8> = (0..400_000).map(|_| rng.below(256) as u8).collect();
    assert_eq!(check(&word, "random bytes"), 2 * Kernel::all().count());
}

/// A step in making a word: new bytes, or a copy of earlier ones.
#[derive(Clone, Debug)]
enum Step {
    New(Vec<u8>),
    Copy { from: proptest::sample::Index, len: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => proptest::collection::vec(any::<u8>(), 1..30).prop_map(Step::New),
        3 => proptest::collection::vec(97u8..100, 1..30).prop_map(Step::New),
        1 => (any::<u8>(), 1usize..40).prop_map(|(byte, len)| Step::New(vec![byte; len])),
        4 => (any::<proptest::sample::Index>(), 1usize..500).prop_map(|(from, len)| Step::Copy { from, len }),
    ];
    proptest::collection::vec(step, 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn words_of_copies(steps in steps()) {
        let mut word = vec![0];
        for step in steps {
            match step {
                Step::New(bytes) => word.extend(bytes),
                Step::Copy { from, len } => {
                    let from = from.index(word.len());
                    (from..from + len).for_each(|at| word.push(word[at]));
                }
            }
        }
        check(&word, "copies");
    }
}

/// Substrings of eight bytes whose hashes begin with the same bits: the table must give up in time.
#[test]
fn substrings_that_collide() {
    let inverse = (0..6).fold(1u64, |x, _| x.wrapping_mul(2u64.wrapping_sub(x.wrapping_mul(0x9E37_79B9_7F4A_7C15))));
    assert_eq!(inverse.wrapping_mul(0x9E37_79B9_7F4A_7C15), 1);
    let mut word = Vec::new();
    for low in 0..40_000_000u64 {
        // All products below 2^44 go to slot 0.
        let bytes = (low.wrapping_mul(1_000_003)).wrapping_mul(inverse).to_be_bytes();
        // A substring that is eight bytes long: one rise, one fall, and the last byte below the one before it.
        let falls = (1..8).position(|i| bytes[i] < bytes[i - 1]).map(|i| i + 1);
        let fits = falls.is_some_and(|top| {
            (1..top).all(|i| bytes[i] > bytes[i - 1])
                && (top..7).all(|i| bytes[i] < bytes[i - 1])
                && bytes[7] < bytes[6]
        });
        if fits {
            word.extend_from_slice(&bytes[..7]);
            word.push(bytes[7]);
        }
        if word.len() > 500_000 {
            break;
        }
    }
    check(&word, "collisions");
}
