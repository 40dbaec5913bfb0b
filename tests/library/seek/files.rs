//! Files with tricky indexes.

use crate::crafted::block::Block;
use crate::crafted::stream::Stream;
use crate::ours::{compress, level};
use crate::shapes::{random, runs, words, zeros};
use hybz::Settings;
use std::sync::OnceLock;

/// A `.bz2` file and its text.
pub struct File {
    pub name: &'static str,
    pub coded: Vec<u8>,
    pub text: Vec<u8>,
}

impl File {
    fn of(name: &'static str, parts: &[(Vec<u8>, Vec<u8>)]) -> File {
        let coded = parts.iter().flat_map(|(coded, _)| coded.clone()).collect();
        let text = parts.iter().flat_map(|(_, text)| text.clone()).collect();
        File { name, coded, text }
    }
}

/// A stream of this level.
pub fn stream(level_: u8, text: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    (compress(&text, &Settings::new().level(level(level_))), text)
}

fn empty(level: u8) -> (Vec<u8>, Vec<u8>) {
    stream(level, Vec::new())
}

/// Lines of all lengths, some with CRLF; the last has no line end.
pub fn lines(count: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for i in 0..count {
        let end = if i % 5 == 0 { "\r\n" } else { "\n" };
        text.extend_from_slice(format!("{i}:{}{end}", "x".repeat(i * 7919 % 83)).as_bytes());
    }
    text.truncate(text.len() - 1);
    text
}

fn randomised() -> (Vec<u8>, Vec<u8>) {
    let (one, two) = (words(9000), random(7000));
    let blocks = vec![Block::randomised_of_text(&one), Block::of_text(&two), Block::randomised_of_text(&two)];
    (Stream::of(3, blocks).bytes(), [&one[..], &two, &two].concat())
}

/// All files, made once.
pub fn files() -> &'static [File] {
    static FILES: OnceLock<Vec<File>> = OnceLock::new();
    FILES.get_or_init(|| {
        let garbage = |bytes: &[u8]| (bytes.to_vec(), Vec::new());
        vec![
            File::of("one block", &[stream(9, words(100_000))]),
            File::of("blocks of level 1", &[stream(1, words(1_000_000))]),
            File::of("lines", &[stream(1, lines(20_000))]),
            File::of("noise", &[stream(2, random(700_000))]),
            File::of("streams", &[stream(9, words(300_000)), stream(9, vec![b'\n'; 999]), stream(9, random(50_000))]),
            File::of(
                "all levels",
                &(1..=9).map(|level| stream(level, words(100_000 * usize::from(level) + 1000))).collect::<Vec<_>>(),
            ),
            File::of("no block", &[empty(5)]),
            File::of("only streams without blocks", &[empty(5), empty(1), empty(9)]),
            File::of(
                "streams without blocks",
                &[empty(1), stream(2, words(250_000)), empty(3), empty(4), stream(1, random(99)), empty(9), empty(9)],
            ),
            File::of("garbage", &[stream(1, words(250_000)), garbage(b"BZ, but nothing else")]),
            File::of("zeros after it", &[stream(9, words(30_000)), empty(1), garbage(&[0; 1000])]),
            File::of("randomised", &[randomised(), stream(1, words(150_000)), randomised()]),
            // Blocks with 46 MB of text, the second of which begins in the middle of a run.
            File::of("long runs", &[stream(9, [zeros(100_000_000), words(10_000)].concat()), stream(9, words(5000))]),
            File::of("runs", &[stream(1, runs(3_000_000, &[255, 4, 1, 259, 1000, 3]))]),
        ]
    })
}
