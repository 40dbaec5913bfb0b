use super::*;
use crate::codec::bwt::{rotation, suffixes};
use hybz_testkit::shapes::{Rng, SHAPES};

/// The word rotated to its least rotation, with the bytes around it, and the new position of the word's beginning.
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
    let mut order = vec![0; word.len()];
    suffixes::sort(word, &mut order);
    let last = order.iter().map(|&at| ring[at as usize + BEFORE - 1]).collect();
    (last, order.iter().position(|&at| at == turn).unwrap() as u32)
}

/// Returns how many kernels left the word to libsais.
pub fn check(word: &[u8], what: &str) -> usize {
    gather::tests::check(word, what);
    let Some((ring, turn)) = ring(word) else { return 0 };
    let (bytes, row) = wanted(&ring, turn);
    let mut left = 0;
    for kernel in Kernel::all() {
        let mut sort = LmsSort { kernel, ..LmsSort::new() };
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
    // Many names, so that rounds begin; then the budget is spent.
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

/// Words made of new bytes, of runs and of copies of earlier bytes.
#[test]
fn words_of_copies() {
    let mut rng = Rng(12);
    for _ in 0..hybz_testkit::rounds(600, 10_000) {
        let mut word = vec![0];
        for _ in 0..1 + rng.below(80) {
            let len = 1 + rng.below(40);
            match rng.below(11) {
                0..3 => word.extend((0..len).map(|_| rng.below(256) as u8)),
                3..6 => word.extend((0..len).map(|_| 97 + rng.below(3) as u8)),
                6 => word.extend(vec![rng.below(256) as u8; len]),
                _ => {
                    let from = rng.below(word.len());
                    (from..from + 1 + rng.below(500)).for_each(|at| word.push(word[at]));
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
    // All products below 2^44 go to slot 0.
    let bytes = (0..40_000_000u64).map(|low| low.wrapping_mul(1_000_003).wrapping_mul(inverse).to_be_bytes());
    // A substring that is eight bytes long: one rise, one fall, and the last byte below the one before it.
    let rises_and_falls = |bytes: &[u8; 8], top: usize| {
        (1..top).all(|i| bytes[i] > bytes[i - 1]) && (top..8).all(|i| bytes[i] < bytes[i - 1])
    };
    let fits = |bytes: &[u8; 8]| (1..8).any(|top| rises_and_falls(bytes, top));
    let word: Vec<u8> = bytes.filter(fits).take(62_501).flatten().collect();
    check(&word, "collisions");
}
