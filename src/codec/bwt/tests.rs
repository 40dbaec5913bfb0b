//! Each step against its definition, on the same texts.

use super::{forward, inverse, lms, merge, rotation, sais};
use hybz_testkit::shapes::{EDGES, Rng, SHAPES};
use std::sync::Arc;

/// Edges, shapes, all small texts over two and three letters, and repeated words.
fn texts() -> Vec<(&'static str, Vec<u8>)> {
    let mut texts: Vec<_> = EDGES.iter().map(|edge| (edge.name, (edge.make)())).collect();
    for shape in SHAPES {
        let lens = (0..70).chain([100, 127, 128, 129, 720, 1000, 1001, 1002, 1021, 1999, 5000]);
        texts.extend(lens.map(|len| (shape.name, (shape.make)(len))));
    }
    for (letters, longest) in [(2_u32, 12), (3, 7)] {
        for (len, number) in (0..=longest).flat_map(|len| (0..letters.pow(len)).map(move |number| (len, number))) {
            let letter = |i| (number / letters.pow(i) % letters) as u8 * (255 / (letters - 1)) as u8;
            texts.push(("small", (0..len).map(letter).collect()));
        }
    }
    let mut rng = Rng(6);
    for _ in 0..2000 {
        let letters = 1 + rng.below(4);
        let word: Vec<u8> = (0..1 + rng.below(80)).map(|_| 252 + rng.below(letters) as u8).collect();
        texts.push(("a repeated word", word.repeat([1, 1, 1, 2, 3, 12][rng.below(6)])));
    }
    texts
}

#[test]
fn each_step_as_defined() {
    let (mut bwt, mut memories) = (forward::ForwardBwt::new(Arc::default()), inverse::tests::memories());
    for (what, text) in texts() {
        let (len, twice) = (text.len(), text.repeat(2));
        let mut rows: Vec<usize> = (0..len).collect();
        rows.sort_by_key(|&start| &twice[start..start + len]); // stable
        rotation::tests::check(&text, &rows, what);
        sais::tests::check(&text, 256, what);
        merge::tests::check_both(&text, what);
        lms::tests::check(&text, what);
        if len > 0 {
            forward::tests::check(&mut bwt, &text, &rows, what);
            inverse::tests::check(&mut memories, &text, &rows, what);
        }
    }
}
