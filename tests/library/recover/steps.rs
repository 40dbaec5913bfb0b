//! The work grows with the file, not with its square, however many of its streams are damaged.

use crate::ours::{Counted, compress, level, pool};
use crate::shapes::random;
use hybz::Settings;
use hybz::recover::{Found, recover};
use hybz_testkit::rounds;
use std::sync::atomic::AtomicU64;

/// The number of bytes that recovery reads of `count` streams of one block, and the number of good blocks. In each
/// stream the next list of bytes is wrong (counted from its end if negative).
fn steps(count: usize, wrong: &[&[isize]]) -> (u64, u64) {
    let settings = Settings::new().level(level(1)).pool(&pool(1));
    let stream = compress(&random(400), &settings);
    let damaged = |wrong: &[isize]| {
        let mut stream = stream.clone();
        let len = stream.len() as isize;
        wrong.iter().for_each(|&at| stream[at.rem_euclid(len) as usize] ^= 0xff);
        stream
    };
    let streams: Vec<Vec<u8>> = wrong.iter().map(|wrong| damaged(wrong)).collect();
    let file = Counted(streams.concat().repeat(count / streams.len()), AtomicU64::new(0));
    let mut good = 0;
    recover(&file, &settings, None, |found| {
        good += u64::from(matches!(found, Found::Block(_)));
        Ok(())
    })
    .unwrap();
    (file.1.into_inner(), good)
}

#[test]
fn streams_with_the_same_damage() {
    const MAGIC: isize = 5;
    const CRC: isize = 11;
    const CODES: isize = 300;
    const END: isize = -9;
    let damages: [&[&[isize]]; 10] = [
        &[&[]],
        &[&[0]],
        &[&[MAGIC]],
        &[&[CRC]],
        &[&[CODES]],
        &[&[CRC, END]],
        &[&[0, END]],
        &[&[MAGIC, END]],
        &[&[CODES, END], &[END]],
        &[&[CRC], &[MAGIC, END], &[CODES, END], &[END]],
    ];
    for wrong in damages {
        let [(short, some), (long, all)] = [rounds(500, 1000), rounds(1000, 2000)].map(|count| steps(count, wrong));
        assert!(2 * long <= 5 * short, "{wrong:?}: {short} bytes for {some} blocks, {long} for {all}");
    }
}
