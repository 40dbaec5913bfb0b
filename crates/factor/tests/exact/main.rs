//! Compares exact LZ77 factors of short texts with the definition, of long texts and files with the algorithm for
//! GPUs, and their number with another program's.

mod tiled;
mod twins;

use hybz_factor::{Error, Factor, MAX_TEXT, Measures, expand, factors, measure, memory_needed, neighbours, suffixes};
use hybz_testkit::shapes::{EDGES, Rng, SHAPES, real_files, shape};
use hybz_testkit::skip::{Need, skip_part};
use hybz_testkit::{files_below, long, program};
use proptest::prelude::*;
use std::path::PathBuf;

fn found(text: &[u8]) -> Vec<Factor> {
    factors(text).expect("enough memory").collect()
}

fn sorted(text: &[u8]) -> Vec<i32> {
    suffixes::sort(text).expect("enough memory")
}

/// Everything agrees with the twins.
fn check(text: &[u8], what: &str) {
    let all = found(text);
    let len = text.len();
    assert!(all == twins::factors(text), "{what}, {len} bytes");
    assert!(neighbours::by_position(sorted(text)).expect("memory") == twins::neighbours(text), "{what}, {len} bytes");
    assert!(expand(all.iter().copied()).expect("good factors") == text, "{what}, {len} bytes: expanded");
    check_measures(text, &all, what);
}

/// Checks that the measures agree with the factors and the text.
fn check_measures(text: &[u8], all: &[Factor], what: &str) -> Measures {
    let measures = measure(text).expect("enough memory");
    let alphabet: std::collections::BTreeSet<u8> = text.iter().copied().collect();
    let letters = all.iter().filter(|factor| matches!(factor, Factor::Letter(_))).count();
    let longest = all.iter().map(Factor::text_len).max().unwrap_or(0);
    assert_eq!(measures.bytes, text.len() as u64, "{what}");
    assert_eq!((measures.alphabet as usize, letters), (alphabet.len(), alphabet.len()), "{what}");
    assert_eq!((measures.factors, measures.longest), (all.len() as u64, longest as u64), "{what}");
    measures
}

#[test]
fn by_the_definition() {
    for edge in EDGES {
        check(&(edge.make)(), edge.name);
    }
    for shape in SHAPES {
        for len in (1..24).chain([100, 601]) {
            check(&(shape.make)(len), shape.name);
        }
    }
}

#[test]
fn small_texts_in_full() {
    // All strings of up to nine letters over alphabets of two, with the smallest and the largest byte: they would show
    // an end mark that is taken for a byte of the text.
    for len in 0..10 {
        for bits in 0..1u32 << len {
            for letters in [[0, 1], [0, 255], [254, 255]] {
                let text: Vec<u8> = (0..len).map(|at| letters[(bits >> at & 1) as usize]).collect();
                check(&text, "two letters");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn random_strings(seed: u64, len in 0usize..300, alphabet in prop::sample::select(vec![1usize, 2, 4, 256])) {
        let mut rng = Rng(seed);
        let text: Vec<u8> = (0..len).map(|_| (rng.below(alphabet) * (256 / alphabet)) as u8).collect();
        check(&text, "random");
        // The same with long repeats.
        let part = rng.below(len + 1);
        check(&[&text[part..], &text[..part], &text[..]].concat(), "repeated");
    }
}

#[test]
fn known_measures() {
    let parts = |text: &[u8]| {
        let found = check_measures(text, &found(text), "known");
        (found.entropy, found.runs, found.factors, found.longest)
    };
    assert_eq!(parts(b""), (0.0, 0, 0, 0));
    assert_eq!(parts(b"x"), (0.0, 2, 1, 1));
    // An `a`, and a copy of all the rest; the transform is aaa..., followed by the mark.
    assert_eq!(parts(&[b'a'; 1000]), (0.0, 2, 2, 999));
    // The transform of mississippi and its mark: i p s s m $ p i s s i i; its factors: m i s s issi p p i.
    let (entropy, runs, factors, longest) = parts(b"mississippi");
    assert!((entropy - 1.823_067).abs() < 1e-6, "{entropy}");
    assert_eq!((runs, factors, longest), (9, 8, 4));
    let all: Vec<u8> = (0..=255).collect();
    assert_eq!(parts(&all), (8.0, 257, 256, 1));
    assert_eq!(measure(b"").expect("memory").mean(), 0.0);
    let measures = measure(&[b'a'; 1000]).expect("memory");
    assert_eq!((measures.mean(), measures.mean_run()), (500.0, 500.0));
}

/// The runs of the transform, by sorting the rotations of the text and its mark.
#[test]
fn runs_by_the_definition() {
    for shape in SHAPES {
        for len in (1..12).chain([257]) {
            let text = (shape.make)(len);
            let marked: Vec<u16> = text.iter().map(|&byte| u16::from(byte) + 1).chain([0]).collect();
            let mut rows: Vec<usize> = (0..=len).collect();
            rows.sort_by_key(|&at| [&marked[at..], &marked[..at]].concat());
            let mut column: Vec<u16> = rows.iter().map(|&at| marked[(at + len) % (len + 1)]).collect();
            column.dedup();
            assert_eq!(measure(&text).expect("memory").runs, column.len() as u64, "{}, {len}", shape.name);
        }
    }
}

#[test]
fn an_iterator() {
    let text = shape("words").make;
    let text = text(5000);
    let mut all = factors(&text).expect("memory");
    let mut position = 0;
    loop {
        assert_eq!(all.position(), position);
        let (least, most) = all.size_hint();
        let left = all.clone().count();
        assert!(least <= left && left <= most.expect("a bound"));
        let Some(factor) = all.next() else { break };
        position += factor.text_len();
    }
    assert_eq!((position, all.next(), all.size_hint()), (5000, None, (0, Some(0))));
    assert_eq!(format!("{all:?}"), "Factors { position: 5000, text_len: 5000, .. }");
}

#[test]
fn what_cannot_be_expanded() {
    let letter = Factor::Letter(7);
    let copy = |source, len| Factor::Copy { source, len };
    for (bad, number) in [(vec![copy(0, 1)], 1), (vec![letter, copy(1, 1)], 2), (vec![letter, letter, copy(0, 0)], 3)] {
        let error = expand(bad).expect_err("a bad factor");
        assert!(matches!(error, Error::BadFactor { number: found } if found == number), "{error}");
        assert_eq!(error.to_string(), format!("factor {number} copies nothing, or from a place without text"));
    }
    let error = expand([letter, copy(0, u32::MAX)]).expect_err("too much");
    assert!(matches!(error, Error::TooLong { len: 0x1_0000_0000, .. }), "{error}");
    assert_eq!(error.to_string(), "a text of 4294967296 bytes cannot be factorized, only 2147483647");
    assert_eq!(expand([letter, copy(0, 9), copy(3, 2)]).expect("good"), [7; 12]);
}

/// A text of 2^31 bytes is refused before memory is allocated for it. Its pages are never touched.
#[test]
fn too_long() {
    let text = vec![0u8; MAX_TEXT + 1];
    let error = factors(&text).expect_err("too long");
    assert!(matches!(error, Error::TooLong { len: 0x8000_0000, max: 0x7fff_ffff }), "{error}");
    assert!(matches!(measure(&text), Err(Error::TooLong { .. })));
    assert_eq!(memory_needed(1_000_000), 12_008_192);
}

/// The numbers of factors of whole files, and the longest of each, as lz77_1 of Shun and Zhao's Parallel-LZ77 finds
/// them.
const COUNTED: [(&str, u64, u64); 6] = [
    ("bible.txt", 337_558, 549),
    ("dickens", 1_005_522, 10_261),
    ("nci", 560_005, 17_018),
    ("ooffice", 1_199_026, 21_968),
    ("reymont", 494_283, 562),
    ("xml", 191_469, 13_800),
];

fn check_numbers(name: &str, text: &[u8]) {
    let Some(&(_, factors, longest)) = COUNTED.iter().find(|(known, ..)| *known == name) else { return };
    let found = measure(text).expect("memory");
    assert_eq!((found.factors, found.longest), (factors, longest), "{name}");
}

#[test]
fn numbers_of_factors() {
    let files = real_files(u64::MAX);
    if files.is_empty() {
        skip_part(Need::Shared, "no ../shared/data");
    }
    // `dickens` and `nci`, of 10 and 33 MB, take longer than all other files.
    files
        .iter()
        .filter(|(_, text)| long() || text.len() < 8_000_000)
        .for_each(|(name, text)| check_numbers(name, text));
    let named = std::env::var_os("HYBZ_BIBLE").map(PathBuf::from);
    match named.or_else(|| {
        program::shared("suites")
            .and_then(|suites| files_below(&suites).into_iter().find(|file| file.ends_with("bible.txt")))
    }) {
        Some(bible) => check_numbers("bible.txt", &std::fs::read(bible).expect("readable")),
        // bible.txt is not among the collected suites.
        None => skip_part(Need::Large, "no bible.txt (Canterbury, the large set): HYBZ_BIBLE may name it"),
    }
}
