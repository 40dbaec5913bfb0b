//! Input that changes between calls. bzip2's library allows it: after a call the caller may overwrite the bytes taken,
//! and may pass the rest from another address, or even pass other bytes if none of the rest was needed.

use crate::library::{Library, Session, ours, theirs};
use hybz_testkit::shapes::Rng;
use std::ffi::c_int;

/// The bytes of text in a block of level 1 without long runs.
const BLOCK: usize = 99_981;

/// Buffers of the last calls, since overwritten. They are kept, because a new one could get a freed one's address.
#[derive(Default)]
struct Buffers(Vec<Vec<u8>>);

impl Buffers {
    /// The bytes, at an address that no recent call has seen.
    fn place(&mut self, bytes: &[u8]) -> &[u8] {
        if self.0.len() > 8 {
            self.0.remove(0);
        }
        // Any alignment.
        let offset = self.0.len() * 3 + 1;
        self.0.push([&vec![0x5a; offset][..], bytes].concat());
        &self.0[self.0.len() - 1][offset..]
    }

    /// Overwrites the input of the call that has ended. It now looks like the beginning of a block and a stream's end.
    fn spoil(&mut self) {
        let noise = [0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x17, 0x72, 0x45, 0x38, 0x50, 0x90];
        let buffer = self.0.last_mut().expect("a call");
        buffer.iter_mut().zip(noise.iter().cycle()).for_each(|(byte, noise)| *byte = *noise);
    }
}

/// Text without runs of four.
fn text(seed: u64, len: usize) -> Vec<u8> {
    let mut rng = Rng(seed);
    let mut text = Vec::with_capacity(len + 16);
    while text.len() < len {
        text.extend(b"the quick brown fox jumps over a lazy dog ".iter().skip(rng.below(30)).take(3 + rng.below(12)));
        text.push(b'0' + (text.len() % 10) as u8);
    }
    text.truncate(len);
    text
}

/// Codes in pieces. The input of each call is at another address, and is overwritten afterwards.
fn code(library: &Library, text: &[u8], seed: u64) -> Vec<u8> {
    let (mut rng, mut buffers, mut session) = (Rng(seed), Buffers::default(), Session::coder(library, 1));
    let mut call = |piece: &[u8], action: c_int, rng: &mut Rng| {
        let result = session.call(action, buffers.place(piece), 1 + rng.below(70_000));
        buffers.spoil();
        result
    };
    let mut at = 0;
    while at < text.len() {
        let end = text.len().min(at + [1, 999, 60_000, 400_000][rng.below(4)]);
        if rng.below(9) > 0 {
            // The next piece begins at the first byte that was not taken, and has any length.
            let (code, taken) = call(&text[at..end], 0, &mut rng);
            assert_eq!(code, 1);
            at += taken;
            continue;
        }
        while {
            let (code, taken) = call(&text[at..end], 1, &mut rng);
            at += taken;
            code == 2
        } {}
        assert_eq!(at, end);
    }
    while call(&[], 2, &mut rng).0 != 4 {}
    std::mem::take(&mut session.out)
}

/// Decodes `coded`, each call with its input at another address. From shortly before block `block` (from 0) until its
/// last text is due, what comes after that block is `other`'s.
fn decode(library: &Library, coded: &[u8], other: &[u8], block: usize, seed: u64) -> (Vec<u8>, c_int, usize) {
    let (mut rng, mut buffers, mut session) = (Rng(seed), Buffers::default(), Session::decoder(library, 0));
    let shared = coded.iter().zip(other).take_while(|(byte, other)| byte == other).count();
    let (mut taken, mut code) = (0, 0);
    for _ in 0..100_000 {
        let done = session.out.len();
        let inside = (block * BLOCK).saturating_sub(5_000)..(block + 1) * BLOCK - 9_000;
        let is_other = inside.contains(&done) && !std::ptr::eq(other, coded);
        let from = if is_other { other } else { coded };
        // Small buffers near `inside`, so that some calls begin inside, and none of these goes beyond the block.
        let is_near = done < inside.end && done + 2 * BLOCK > inside.start;
        let room = 1 + rng.below(if is_near { 9_000 } else { 2 * BLOCK });
        let piece = [usize::MAX, 300_000, 70_000, 5_000][rng.below(4)].min(from.len() - taken);
        let count;
        (code, count) = session.call(0, buffers.place(&from[taken..][..piece]), room);
        buffers.spoil();
        assert!(!is_other || taken + count <= shared, "what no text needed yet was taken");
        taken += count;
        if code != 0 {
            break;
        }
    }
    (std::mem::take(&mut session.out), code, taken)
}

/// A stream in two calls, cut at each byte in and around the header of its first block and of its second one.
pub fn headers_in_two_calls() {
    let ours = ours();
    for (len, block) in [(500, 0), (BLOCK + 50_000, 0), (BLOCK + 50_000, 1)] {
        let text = text(3, len);
        let coded = coded_whole(&text);
        let first = if block == 0 { 0 } else { calls(&ours, &coded, &[usize::MAX], 100).2 - 20 };
        for cut in first..coded.len().min(first + 300) {
            let (back, code, taken) = calls(&ours, &coded, &[cut, usize::MAX], len + 1);
            assert_eq!((code, taken), (4, coded.len()), "{len} bytes of text, cut at {cut}");
            assert!(back == text, "{len} bytes of text, cut at {cut}");
        }
    }
}

/// Decodes in calls with inputs of these lengths: the text, the last code, and how much was taken.
fn calls(library: &Library, coded: &[u8], pieces: &[usize], room: usize) -> (Vec<u8>, c_int, usize) {
    let (mut session, mut code, mut at) = (Session::decoder(library, 0), 0, 0);
    for piece in pieces {
        let (next, taken) = session.call(0, &coded[at..][..(*piece).min(coded.len() - at)], room - session.out.len());
        (code, at) = (next, at + taken);
    }
    (std::mem::take(&mut session.out), code, at)
}

/// All of a text, at level 1.
fn coded_whole(text: &[u8]) -> Vec<u8> {
    hybz::compress(text, &hybz::Settings::new().level(hybz::Level::FASTEST)).unwrap()
}

/// Both directions, with this package's library and with bzip2's.
pub fn inputs_change() {
    let libraries = [Some(ours()), theirs()];
    let text = [text(1, 900_000), text(2, 900_000)];
    for (which, library) in libraries.iter().flatten().enumerate() {
        let coded: Vec<Vec<u8>> = (0..3).map(|seed| code(library, &text[0], seed)).collect();
        for (seed, coded) in coded.iter().enumerate() {
            let (back, code, taken) = decode(library, coded, coded, 0, seed as u64);
            assert_eq!((code, taken), (4, coded.len()), "library {which}, {seed}");
            assert!(back == text[0], "library {which}, {seed}");
        }
        // Without flushes, so that it is known where blocks begin.
        let coded = coded_whole(&text[0]);
        for block in 0..6 {
            let other = [&text[0][..(block + 1) * BLOCK], &text[1][(block + 1) * BLOCK..]].concat();
            let other = coded_whole(&other);
            assert!(other[..1000] == coded[..1000] && other != coded);
            for seed in 0..4 {
                let (back, code, taken) = decode(library, &coded, &other, block, seed);
                assert_eq!((code, taken), (4, coded.len()), "library {which}, block {block}, {seed}");
                assert!(back == text[0], "library {which}, block {block}, {seed}");
            }
        }
    }
}
