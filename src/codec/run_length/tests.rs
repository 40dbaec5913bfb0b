//! Run-length coding against its definition. Any bytes are a text, and any bytes are coded bytes.

use super::super::encode::{encode, encode_into, runs};
use super::super::form::{is_form_by, is_form_of, is_form_plainly};
use super::super::masks::{equal_to_next_by, same, same_portable};
use super::*;
use hybz_testkit::shapes::{self, EDGES, Rng, SHAPES};

/// The coded form, one byte at a time.
fn naive_coded(plain: &[u8]) -> Vec<u8> {
    let (mut coded, mut rest) = (Vec::new(), plain);
    while let Some(&byte) = rest.first() {
        let run = rest.iter().take(255).take_while(|other| **other == byte).count();
        coded.extend(std::iter::repeat_n(byte, run.min(4)));
        coded.extend(run.checked_sub(4).map(|more| more as u8));
        rest = &rest[run..];
    }
    coded
}

/// The automaton of five states, byte by byte.
fn naive(coded: &[u8]) -> Result<Vec<u8>, Flaw> {
    let (mut out, mut equal) = (Vec::<u8>::new(), 0);
    for &byte in coded {
        if equal == 4 {
            let last = out[out.len() - 1];
            out.extend((0..byte).map(|_| last));
            equal = 0;
        } else {
            equal = if equal > 0 && out.last() == Some(&byte) { equal + 1 } else { 1 };
            out.push(byte);
        }
    }
    if equal == 4 { Err(Flaw::MissingRunCount) } else { Ok(out) }
}

type Kernel = fn(&mut InMemoryExpander, &[u8]) -> Result<(), TooLong>;

/// The kernels that this processor can run, and plain code.
fn kernels() -> Vec<Kernel> {
    vec![
        InMemoryExpander::push,
        |expander, coded| expander.push_by(coded, equal_to_next),
        |expander, coded| expander.push_by(coded, |window| equal_to_next_by(window, same_portable)),
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code)]
        |expander, coded| match cpu::has!(Avx2: "avx2", "bmi1", "bmi2", "lzcnt") {
            // SAFETY: the CPU has these features.
            true => unsafe { expander.push_avx2(coded) },
            false => expander.push(coded),
        },
    ]
}

fn expand(coded: &[u8], size: usize, kernel: Kernel) -> Result<Result<Vec<u8>, TooLong>, Flaw> {
    let mut expander = InMemoryExpander::new(coded.len());
    match coded.chunks(size).try_for_each(|piece| kernel(&mut expander, piece)) {
        Ok(()) => expander.finish(),
        Err(too_long) => Ok(Err(too_long)),
    }
}

fn pieces(coded: &[u8], size: usize) -> Vec<u8> {
    let (mut expander, mut buf, mut all) = (Expander::default(), vec![0; size], Vec::new());
    loop {
        let n = expander.next(coded, &mut buf);
        all.extend_from_slice(&buf[..n]);
        if n < size {
            return all;
        }
    }
}

#[test]
fn the_masks_agree() {
    for i in 0..64 {
        let mut window: [u8; WINDOW] = std::array::from_fn(|i| (i % 7) as u8);
        window[i + 1] = window[i];
        assert_eq!(equal_to_next(&window), equal_to_next_by(&window, same_portable));
        window[i..].fill(9);
        assert_eq!(equal_to_next(&window), equal_to_next_by(&window, same_portable));
    }
}

type IsForm = fn(&[u8], &[u8]) -> bool;

/// The kernels that this processor can run, and plain code.
fn form_kernels() -> Vec<IsForm> {
    vec![
        is_form_of,
        |coded, plain| is_form_by(coded, plain, same),
        |coded, plain| is_form_by(coded, plain, same_portable),
        is_form_plainly,
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code)]
        |coded, plain| match cpu::has!(Avx2: "avx2", "bmi1", "bmi2", "lzcnt") {
            // SAFETY: the CPU has these features.
            true => unsafe { super::super::form::is_form_avx2(coded, plain) },
            false => is_form_of(coded, plain),
        },
    ]
}

/// Only one form of a text is its form: no changed one is, nor one that only stands for the text.
fn check_forms(bytes: &[u8], what: &str) {
    let form = naive_coded(bytes);
    let stands_for = naive(bytes).unwrap_or_default();
    for (number, is_form) in form_kernels().into_iter().enumerate() {
        assert!(is_form(&form, bytes), "{what}, {number}, {} bytes", bytes.len());
        let right = is_form(bytes, &stands_for) == (naive_coded(&stands_for) == bytes);
        assert!(right, "{what}, {number}, {} bytes", bytes.len());
        for at in [0, form.len() / 3, form.len() / 2, form.len().saturating_sub(2), form.len()] {
            let (before, after) = form.split_at(at);
            assert!(!is_form(&[before, &[3], after].concat(), bytes), "{what}, {number}: one more at {at}");
            let Some((&byte, after)) = after.split_first() else { continue };
            assert!(!is_form(&[before, after].concat(), bytes), "{what}, {number}: one less at {at}");
            assert!(!is_form(&[before, &[byte ^ 1], after].concat(), bytes), "{what}, {number}: another at {at}");
        }
    }
}

/// Codes the bytes, and decodes them.
fn check(bytes: &[u8], what: &str) {
    let mut coded = vec![1, 2, 3]; // it appends
    encode(bytes, &mut coded);
    assert!(coded[..3] == [1, 2, 3] && coded[3..] == naive_coded(bytes), "{what}, {} bytes: coded", bytes.len());
    let coded = coded.split_off(3);
    check_forms(bytes, what);
    for room in [coded.len() + 100, coded.len(), coded.len().saturating_sub(1)] {
        let mut place = vec![9; room];
        let found = encode_into(bytes, runs(bytes), &mut place).map(|len| &place[..len]);
        assert!(found == (room >= coded.len()).then_some(&coded[..]), "{what}, {} bytes, room {room}", bytes.len());
    }
    let (coded, expected) = (bytes, naive(bytes));
    let got = decode_text(std::iter::once(coded), coded.len());
    for size in [1, 2, 3, 5, 64, 65, 67, 1000] {
        if coded.len() / size < 10_000 {
            assert!(got == decode_text(coded.chunks(size), coded.len()), "{what}, from pieces of {size}");
            for (number, kernel) in kernels().into_iter().enumerate() {
                match (expand(coded, size, kernel), &expected) {
                    (Ok(Ok(text)), Ok(expected)) => assert!(text == *expected, "{what}, {number}, pieces of {size}"),
                    (Ok(Err(TooLong)), Ok(expected)) => assert!(expected.len() > MAX_PLAIN_TEXT),
                    (Err(flaw), Err(expected)) => assert_eq!(flaw, *expected),
                    (got, expected) => assert!(got == Ok(Err(TooLong)) && expected.is_err()),
                }
            }
        }
    }
    match (&expected, &got) {
        (Err(a), Err(b)) => assert_eq!(a, b),
        (Ok(text), Ok((Text::Plain(plain), crc))) => {
            assert!(text == plain && text.len() <= MAX_PLAIN_TEXT);
            assert_eq!(crc::checksum(text), *crc);
        }
        (Ok(text), Ok((Text::RunLength { coded: same, len, crc: a }, b))) => {
            assert!(same == coded && *len == text.len() as u64 && text.len() > MAX_PLAIN_TEXT);
            assert_eq!((crc::checksum(text), *a), (*b, *b));
        }
        _ => panic!("{what}: {expected:?} and {got:?}"),
    }
    if let Ok(text) = expected {
        for size in [1, 2, 5, 37, 4096, 70_000] {
            if text.len() / size < 100_000 {
                assert!(pieces(coded, size) == text, "{what}, pieces of {size}");
            }
        }
    }
}

#[test]
fn shapes_and_edges() {
    EDGES.iter().for_each(|edge| check(&(edge.make)(), edge.name));
    for shape in SHAPES {
        (0..80).chain([1000, 70_001]).for_each(|len| check(&(shape.make)(len), shape.name));
    }
}

#[test]
fn few_symbols() {
    for len in 0..=13 {
        for bits in 0..1u32 << len {
            check(&(0..len).map(|i| (bits >> i & 1) as u8 * 4).collect::<Vec<_>>(), "two symbols");
        }
    }
    let mut rng = Rng(5);
    for len in (14..300).chain([4095, 4096, 4097, 8192, 30_000]) {
        for symbols in [2, 3, 4] {
            check(&(0..len).map(|_| rng.below(symbols) as u8).collect::<Vec<_>>(), "few symbols");
        }
    }
}

#[test]
fn every_count_and_place_of_a_run() {
    for count in 0..=255 {
        for before in 0..40 {
            let mut coded: Vec<u8> = (0..before).collect();
            coded.extend([200, 200, 200, 200, count]);
            check(&coded, "a count at the end");
            coded.extend([count; 3]);
            coded.extend(0..150);
            check(&coded, "a count");
        }
    }
    for offset in 0..70 {
        for run in (1..20).chain(250..262).chain(505..520) {
            let mut text = shapes::letters(offset + 40, 7);
            text.splice(offset..offset, vec![b'!'; run]);
            check(&text, "a run");
            text.truncate(offset + run);
            check(&text, "a run at the end");
        }
    }
}

#[test]
fn a_bomb_stays_coded() {
    let coded: Vec<u8> = [7, 7, 7, 7, 255].repeat(180_000);
    // Exactly at the limit, and one byte above.
    let limit = [0, 0, 0, 0, 252].repeat(MAX_PLAIN_TEXT / 256);
    for end in [&[][..], &[1, 2, 3], &[8; 4]] {
        check(&[&coded, end].concat(), "a bomb");
    }
    for end in [&[][..], &[1]] {
        check(&[&limit, end].concat(), "the limit");
    }
}
