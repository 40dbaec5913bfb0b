//! Streams followed by other streams, nothing or garbage; and a small file with each of its bits flipped.

use crate::crafted::block::Block;
use crate::crafted::stream::Stream;
use crate::crafted::{Family, noise, words};
use crate::program::Refusal;

pub fn add(family: &mut Family) {
    concatenated(family);
    trailing(family);
    not_bzip2(family);
    padding(family);
    truncated(family);
    flipped(family);
    digits(family);
}

fn hello() -> Stream {
    Stream::single(Block::of_text(b"hello, hello\n"))
}

fn concatenated(family: &mut Family) {
    for level in 1..=9 {
        let empty = Stream::of(level, Vec::new());
        assert_eq!(empty.bytes().len(), 14);
        family.right(format!("empty-{level}"), "a stream without blocks is 14 bytes", &empty);
    }
    let empties: Vec<u8> = (0..5000usize).flat_map(|i| Stream::of(i as u8 % 9 + 1, Vec::new()).bytes()).collect();
    family.accepted("empties-5000", "streams of 14 bytes, back to back", empties, Vec::new());
    let (mut file, mut text) = (Vec::new(), Vec::new());
    for i in 0..2000usize {
        let stream = Stream::of(i as u8 % 9 + 1, vec![Block::of_text(&words(i as u64, i % 23 + 1))]);
        file.extend(stream.bytes());
        text.extend(stream.text());
    }
    family.accepted("tiny-2000", "many tiny streams of all levels", file, text);
    let parts = [
        Stream::of(1, vec![Block::of_text(&words(1, 3000)), Block::of_text(&words(2, 300))]),
        Stream::of(9, Vec::new()),
        Stream::of(5, vec![Block::of_column(&noise(1, 400_000), 1)]),
        Stream::of(2, vec![Block::of_text(&words(3, 1000))]),
        Stream::of(7, Vec::new()),
    ];
    let (file, text) = (parts.iter().flat_map(Stream::bytes).collect(), parts.iter().flat_map(Stream::text).collect());
    family.accepted("concat-mixed-levels", "each stream has its own level, and some are empty", file, text);
    let small_first =
        [Stream::of(9, vec![Block::of_text(b"a")]), Stream::of(1, vec![Block::of_column(&noise(1, 100_001), 1)])];
    let (why, file) = ("the limit of a block is that of its own stream", small_first.iter().flat_map(Stream::bytes));
    family.damaged("concat-level-of-the-other", why, file.collect(), b"a".to_vec());
}

fn trailing(family: &mut Family) {
    let good = hello();
    let other = Stream::single(Block::of_text(b"never seen\n")).bytes();
    let with = |garbage: &[u8]| [&good.bytes()[..], garbage].concat();
    let why = "garbage after a whole stream is ignored, with all that follows it";
    for (name, garbage) in [
        ("trail-text", &b"this is no stream"[..]),
        ("trail-nul", &[0]),
        ("trail-nuls", &[0; 5000]),
        ("trail-ff", &[0xff; 3]),
        ("trail-gz", &[0x1f, 0x8b, 8, 0]),
        ("trail-BA", b"BA"),
        ("trail-BZx", b"BZx"),
        ("trail-BZ1", b"BZ1"),
        ("trail-BZh0", b"BZh0"),
        ("trail-BZh:", b"BZh:"),
        ("trail-BB", b"BBZh9"),
        ("trail-magic", b"1AY&SY"),
        ("trail-newline", b"\n"),
    ] {
        family.accepted(name, why, with(garbage), good.text());
    }
    for (name, gap) in
        [("gap-nul", &[0][..]), ("gap-nuls", &[0; 512]), ("gap-text", b"xyz"), ("gap-B", b"B"), ("gap-BZh0", b"BZh0")]
    {
        family.accepted(name, why, with(&[gap, &other].concat()), good.text());
    }
    family.accepted("trail-noise-1MB", why, with(&[&[0][..], &noise(1, 1 << 20), &other].concat()), good.text());
    let block = Stream::single(Block::of_text(b"a block without a stream")).bytes();
    family.accepted("block-after-eos", "a block outside a stream is garbage", with(&block[4..]), good.text());

    let header = b"BZh91AY&SY";
    for len in 1..=header.len() {
        let name = format!("trail-cut-{}", String::from_utf8_lossy(&header[..len]));
        let file = with(&header[..len]);
        family.refused(name, "what begins like a stream must be one", file, Refusal::Ends, good.text());
    }
    for (name, garbage) in
        [("trail-BZh9junk", &b"BZh9junk"[..]), ("trail-BZh9-long", b"BZh9this is no stream at all, at all")]
    {
        family.damaged(name, "a header without a magic after it", with(garbage), good.text());
    }
}

fn not_bzip2(family: &mut Family) {
    for (name, file) in [
        ("not-hello", &b"hello, world"[..]),
        ("not-nul", &[0; 100]),
        ("not-gz", &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0]),
        ("not-BZ0", b"BZ0rest of an old file"),
        ("not-BZh0", b"BZh0\x31\x41\x59\x26\x53\x59"),
        ("not-BZh:", b"BZh:\x31\x41\x59\x26\x53\x59"),
        ("not-Bzh", b"Bzh91AY&SY"),
    ] {
        family.refused(name, "does not begin with a stream", file.to_vec(), Refusal::NotBzip2, Vec::new());
    }
    let after_garbage = [&b"\n"[..], &hello().bytes()].concat();
    family.refused("not-late", "a stream must begin at the first byte", after_garbage, Refusal::NotBzip2, Vec::new());
    family.refused("not-empty", "an empty file is no stream", Vec::new(), Refusal::Ends, Vec::new());
    let neither = b"BZh9 neither block nor end".to_vec();
    family.damaged("magic-bad", "neither a block nor an end of stream", neither, Vec::new());
    for byte in 0..6 {
        let mut file = hello().bytes();
        file[4 + byte] ^= 0x10;
        family.damaged(format!("magic-byte{byte}-bad"), "one wrong bit in the magic", file, Vec::new());
    }
    // 0x31 instead of 0x17 as the first byte of the end: the rest would have to be a block's magic.
    let mut mixed = hello();
    mixed.end_magic = 0x3172_4538_5090;
    family.damaged("magic-mixed", "a block's magic at first, then an end's", mixed.bytes(), mixed.text());
}

fn padding(family: &mut Family) {
    for spare in 0..8 {
        let mut stream = Stream::single(Block::of_text(b"padded\n").spare_selectors(spare));
        stream.padding = true;
        let pad = (8 - stream.bits().len() % 8) % 8;
        family.right(format!("pad-ones-{pad}"), "the padding of the last byte means nothing", &stream);
        let (file, text) = (stream.bytes().repeat(2), stream.text().repeat(2));
        family.accepted(format!("pad-ones-{pad}-twice"), "padding between streams means nothing", file, text);
    }
}

/// The file that is cut and flipped: its bytes, its text, and the bit at which its block ends.
fn small() -> (Vec<u8>, Vec<u8>, usize) {
    let stream = Stream::of(1, vec![Block::of_text(b"flip every bit of me")]);
    let end = 32 + stream.blocks[0].bits().len();
    (stream.bytes(), stream.text(), end)
}

fn truncated(family: &mut Family) {
    let (one, text, end) = small();
    let two = [&one[..], &one[..]].concat();
    for len in 0..two.len() {
        let streams = len / one.len();
        let in_stream = len % one.len();
        let good = text.repeat(streams + usize::from(in_stream * 8 >= end));
        let name = format!("trunc-{len}-of-{}", two.len());
        if in_stream == 0 && streams > 0 {
            family.accepted(name, "cut between streams: a valid file", two[..len].to_vec(), good);
        } else {
            family.refused(name, "cut within a stream", two[..len].to_vec(), Refusal::Ends, good);
        }
    }
    let three = Stream::of(9, (1..4).map(|i| Block::of_text(&words(i, 500))).collect());
    let file = three.bytes();
    let mut ends = vec![32];
    for block in &three.blocks {
        ends.push(ends[ends.len() - 1] + block.bits().len());
    }
    for len in (40..file.len()).step_by(11) {
        let whole = ends[1..].iter().filter(|&&end| len * 8 >= end).count();
        let good = three.blocks[..whole].iter().flat_map(|b| b.text.clone()).collect();
        let name = format!("trunc-3blocks-{len}");
        family.refused(name, "cut in one of three blocks", file[..len].to_vec(), Refusal::Ends, good);
    }
}

/// The flips in [`small`] that bzip2 cannot detect, because the text stays the same.
fn unnoticed(bit: usize) -> bool {
    matches!(
        bit,
        28..=30 // the level's digit becomes another level
            | 112 // the randomised bit, of a short block
            | 242..=247 | 249 // lengths of the second table, which no selector names
            | 427..=431 // padding
    )
}

/// The flips in [`small`] after which the block seems to continue beyond the end of the file, because the number of
/// symbols, tables or selectors or some lengths have changed.
fn seems_cut(bit: usize) -> bool {
    matches!(bit, 154..=170 | 172..=173 | 176..=177 | 179..=180 | 183 | 186 | 188 | 190 | 192..=193 | 195..=200)
}

fn flipped(family: &mut Family) {
    let (file, text, end) = small();
    for bit in 0..file.len() * 8 {
        let mut file = file.clone();
        file[bit / 8] ^= 0x80 >> (bit % 8);
        let name = format!("flip-{bit:04}");
        let why = "one bit of a small file";
        // After bit 241 is flipped, the second table is a bit longer, and the codes after it happen to decode to the
        // same text. The error is that no magic follows the block.
        let good = if bit < end && bit != 241 { Vec::new() } else { text.clone() };
        if unnoticed(bit) {
            family.accepted(name, why, file, text.clone());
        } else {
            let reason = match bit {
                0..32 => Refusal::NotBzip2,
                _ if seems_cut(bit) => Refusal::Ends,
                _ => Refusal::Data,
            };
            family.refused(name, why, file, reason, good);
        }
    }
}

fn digits(family: &mut Family) {
    let (file, text, _) = small();
    for digit in 1..=9 {
        let mut raised = file.clone();
        raised[3] = b'0' + digit;
        family.accepted(format!("digit-{digit}"), "no CRC covers the digit", raised, text.clone());
    }
    for digit in [b'0', b':', 0, 0xff, b'1' | 0x80] {
        let mut wrong = file.clone();
        wrong[3] = digit;
        family.refused(format!("digit-x{digit:02x}"), "no level", wrong.clone(), Refusal::NotBzip2, Vec::new());
        let second = [&file[..], &wrong].concat();
        family.accepted(format!("digit-x{digit:02x}-second"), "no level: garbage after a stream", second, text.clone());
    }
}
