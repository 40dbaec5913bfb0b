//! The GPU's algorithm gives the same factors as the core's: with the kernels' sizes, and with small sizes for which a
//! few thousand bytes are a long text.

use super::{found, sorted, twins};
use hybz_factor::tiled::{self, Sizes, longest, path};
use hybz_factor::{expand, neighbours};
use hybz_testkit::rounds;
use hybz_testkit::shapes::{EDGES, Rng, SHAPES, real_files, shape};

const SMALL: [Sizes; 3] = [
    Sizes { tile: 8, strip: 2, fan: 2, run: 2, piece: 4, group: 2 },
    Sizes { tile: 4, strip: 4, fan: 3, run: 5, piece: 7, group: 3 },
    Sizes { tile: 64, strip: 8, fan: 4, run: 16, piece: 32, group: 4 },
];

/// Compares each step with its twin. Returns the number of bytes that were compared.
fn check(text: &[u8], sizes: &Sizes, what: &str) -> longest::Work {
    let what = format!("{what}, {} bytes, {sizes:?}", text.len());
    let suffixes = sorted(text);
    let (ranks, pairs) = (tiled::ranks(&suffixes), tiled::neighbours::by_rank(&suffixes, sizes));
    let expected = neighbours::by_position(suffixes.clone()).expect("memory");
    assert!(suffixes.iter().zip(&pairs).all(|(&at, pair)| expected[at as usize] == *pair), "{what}: neighbours");
    let (earlier, work) = longest::longest(text, &ranks, &pairs, sizes);
    let factors = found(text);
    assert!(path::factors(text, &earlier, sizes) == factors, "{what}: factors");
    assert!(tiled::factors(text, &suffixes, sizes) == factors, "{what}: all together");
    assert!(expand(factors).expect("good factors") == text, "{what}: expanded");
    if text.len() < 700 {
        assert!(earlier.iter().map(|earlier| earlier.len as usize).eq(twins::longest(text)), "{what}: longest");
    }
    work
}

#[test]
fn small_sizes() {
    for sizes in &SMALL {
        for edge in EDGES {
            check(&(edge.make)(), sizes, edge.name);
        }
        for shape in SHAPES {
            for len in (1..70).chain([127, 128, 129, 500, 3000]) {
                check(&(shape.make)(len), sizes, shape.name);
            }
        }
    }
}

#[test]
fn small_sizes_at_random() {
    let mut rng = Rng(5);
    for round in 0..3000 {
        let alphabet = [1, 2, 4, 256][round % 4];
        let text: Vec<u8> = (0..rng.below(200)).map(|_| rng.below(alphabet) as u8).collect();
        check(&text, &SMALL[round % SMALL.len()], "random");
    }
}

#[test]
fn sizes_of_the_kernels() {
    for shape in SHAPES {
        for len in [1, 2047, 2048, 2049, 4096, 4097, 70_001] {
            check(&(shape.make)(len), &Sizes::KERNELS, shape.name);
        }
    }
    // More than one group of pieces, and more than one node on the tree's highest level.
    for name in ["words", "random", "zeros", "doubled", "near_copies"] {
        check(&(shape(name).make)(2_500_000), &Sizes::KERNELS, name);
    }
    for (name, text) in real_files(rounds(500_000, 1_500_000) as u64) {
        check(&text, &Sizes::KERNELS, &name);
    }
}

/// However long repeats are, the work is linear: for each level and each side at most twice the text.
#[test]
fn linear_work() {
    let sizes = &Sizes::KERNELS;
    for shape in SHAPES {
        let len = 300_000;
        let work = check(&(shape.make)(len), sizes, shape.name);
        // 300,000 positions take 2,344 threads of 128; the next level takes 19 threads, and the highest takes one.
        assert!(work.all <= 3 * 2 * 2 * len as u64, "{}: {work:?}", shape.name);
        assert!(work.thread <= 2 * len as u64 + 128 * 128 * 128, "{}: {work:?}", shape.name);
    }
}
