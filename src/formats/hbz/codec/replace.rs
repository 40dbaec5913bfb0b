//! Replaces a text by the codes of its dictionary. (With AVX-512 there is a faster way: see `replace_avx512.rs`.)
//!
//! The text is replaced in parts, each of which stays in the L1 cache with everything made from it. First all bytes are
//! translated as if there were no phrases, 64 at a time, while the same bytes are cut into pieces (words and blanks),
//! and a small filter keeps those that may be phrases. Then these are looked up: a phrase writes its code over its
//! first byte, and clears the bits of its other bytes in a mask of codes to keep. At last the kept codes are moved
//! together. Each loop has few unpredictable branches; in particular, whether a piece is a phrase is not a branch.

#[cfg(target_arch = "x86_64")]
#[path = "replace_avx512.rs"]
mod avx512;

use super::dictionary::{Dictionary, Meaning};
use super::words::{BLOCK as WIDE, WordCutter, masks};
use std::ops::Range;

/// The number of bytes of text in a part.
const PART: usize = 1024;
/// How many times 64 bytes a part has.
const COUNT: usize = PART / WIDE;
/// A flag in the table of bytes: the byte has no code.
const RARE: u16 = 1 << 8;
/// The number of slots in the table of phrases, and the value of empty slots.
const SLOTS: usize = 1024;
const EMPTY: u16 = u16::MAX;

/// The pieces of a part that pass the filter. Their positions are counted from 64 bytes before the part.
///
/// The order of the fields matters: where the filter and the next free elements of `keys` were a multiple of 4096 bytes
/// apart, replacing took up to 1.3 times as long (AVX-512, Zen 5), as loads waited for stores to other addresses.
#[repr(C)]
struct Candidates<'a> {
    lookup: &'a Lookup<'a>,
    text: &'a [u8],
    /// The beginning of the part.
    begin: usize,
    len: usize,
    /// As in [`Lookup`].
    filter: [u64; 64],
    /// By piece: its first eight bytes.
    keys: [u64; PART],
    /// By piece: its start, its end and its hash, in 16 bits each.
    bounds: [u64; PART],
}

impl<'a> Candidates<'a> {
    fn new(lookup: &'a Lookup<'a>, text: &'a [u8]) -> Self {
        Candidates { lookup, text, begin: 0, len: 0, filter: lookup.filter, keys: [0; PART], bounds: [0; PART] }
    }

    /// Adds a piece, unless the filter shows that it is no phrase.
    #[inline(always)]
    fn add(&mut self, Range { start: from, end: to }: Range<usize>) {
        let key = match self.text[from..].first_chunk::<8>() {
            Some(eight) => u64::from_le_bytes(*eight) & (u64::MAX >> (64 - 8 * (to - from).min(8))),
            None => first_eight(&self.text[from..to]),
        };
        let hash = hash(key, to - from);
        let [start, end] = [from, to].map(|at| (at + WIDE - self.begin) as u64);
        (self.keys[self.len], self.bounds[self.len]) = (key, start | end << 16 | (hash as u64) << 32);
        self.len += (self.filter[hash / 64 % 64] >> (hash % 64) & 1) as usize;
    }

    /// Removes all pieces, and calls `found` for each that is a phrase, with its code.
    #[inline(always)]
    fn take(&mut self, mut found: impl FnMut(Range<usize>, u8)) {
        let len = std::mem::take(&mut self.len);
        for (&key, &bounds) in self.keys[..len].iter().zip(&self.bounds[..len]) {
            let [start, end, hash] = [bounds, bounds >> 16, bounds >> 32].map(|bits| usize::from(bits as u16));
            let piece = &self.text[start + self.begin - WIDE..end + self.begin - WIDE];
            if let Some(code) = self.lookup.code(piece, key, hash) {
                found(start..end, code);
            }
        }
    }
}

/// The tables for bytes and phrases.
struct Lookup<'a> {
    dictionary: &'a Dictionary,
    /// By byte: its code, or its number among the escaped bytes, together with [`RARE`].
    table: [u16; 256],
    escape: Option<u8>,
    /// By hash: whether any phrase has it, one bit each.
    filter: [u64; 64],
    /// A hash table of the phrases with open addressing: a slot has the code, or [`EMPTY`]. (Slots with all data of a
    /// phrase would fill most of an L1 cache.)
    slots: [u16; SLOTS],
    /// By code: the phrase's first eight bytes and its length.
    keys: [u64; 256],
    lens: [u8; 256],
}

const HASH_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const HASH_SHIFT: u32 = 52;

/// A hash of twelve bits.
#[inline(always)]
fn hash(key: u64, len: usize) -> usize {
    ((key ^ (len as u64) << 56).wrapping_mul(HASH_FACTOR) >> HASH_SHIFT) as usize
}

/// The first eight bytes of a string, with zeros after a shorter one.
fn first_eight(string: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = string.len().min(8);
    bytes[..len].copy_from_slice(&string[..len]);
    u64::from_le_bytes(bytes)
}

impl<'a> Lookup<'a> {
    fn new(dictionary: &'a Dictionary) -> Self {
        let mut new = Lookup {
            dictionary,
            table: [RARE; 256],
            escape: None,
            filter: [0; 64],
            slots: [EMPTY; SLOTS],
            keys: [0; 256],
            lens: [0; 256],
        };
        dictionary.escaped().iter().zip(0..).for_each(|(&byte, place)| new.table[usize::from(byte)] |= place);
        for (code, meaning) in (0u8..=255).zip(dictionary.codes()) {
            match meaning {
                Meaning::Byte(byte) => new.table[usize::from(*byte)] = code.into(),
                Meaning::Escape => new.escape = Some(code),
                Meaning::Phrase(string) => {
                    let key = first_eight(string);
                    let hash = hash(key, string.len());
                    new.filter[hash / 64] |= 1 << (hash % 64);
                    let mut slot = hash % SLOTS;
                    while new.slots[slot] != EMPTY {
                        slot = (slot + 1) % SLOTS;
                    }
                    new.slots[slot] = code.into();
                    (new.keys[usize::from(code)], new.lens[usize::from(code)]) = (key, string.len() as u8);
                }
            }
        }
        new
    }

    /// The code of a piece with this key and hash, if it is a phrase.
    #[inline(always)]
    fn code(&self, piece: &[u8], key: u64, hash: usize) -> Option<u8> {
        let mut slot = hash % SLOTS;
        while self.slots[slot] != EMPTY {
            let code = self.slots[slot] as u8;
            let at = usize::from(code);
            if self.keys[at] == key
                && usize::from(self.lens[at]) == piece.len()
                && (piece.len() <= 8 || self.dictionary.is_phrase(code, piece))
            {
                return Some(code);
            }
            slot = (slot + 1) % SLOTS;
        }
        None
    }
}

/// Sets `out` to the text in codes. Entry points will be `interval` codes apart.
///
/// # Panics
/// If a byte of the text has no code, and the dictionary no escape.
pub fn replace(dictionary: &Dictionary, text: &[u8], interval: usize, out: &mut Vec<u8>) {
    #[cfg(target_arch = "x86_64")]
    if avx512::is_supported() {
        return avx512::replace(dictionary, text, interval, out);
    }
    replace_portable(dictionary, text, interval, out);
}

fn replace_portable(dictionary: &Dictionary, text: &[u8], interval: usize, out: &mut Vec<u8>) {
    let lookup = Lookup::new(dictionary);
    let look_up = |bytes: &[u8], codes: &mut [u8; WIDE]| {
        let mut all = 0;
        for (code, &byte) in codes.iter_mut().zip(bytes) {
            let entry = lookup.table[usize::from(byte)];
            *code = entry as u8;
            all |= entry;
        }
        let is_rare = |&byte: &u8| u64::from(lookup.table[usize::from(byte)] / RARE);
        let rare = if all < RARE { 0 } else { bytes.iter().rev().fold(0, |mask, byte| mask << 1 | is_rare(byte)) };
        (masks(bytes), rare)
    };
    let cut = |cutter: &mut WordCutter, kinds: &[[u64; 2]], candidates: &mut Candidates<'_>| {
        for (at, kinds) in (candidates.begin..).step_by(WIDE).zip(kinds) {
            cutter.cut_block(at, *kinds, &mut |piece| candidates.add(piece));
        }
    };
    // Copying each run of kept codes at once took longer: the lengths of runs are hard to predict.
    let compress = |keep: u64, codes: &[u8; WIDE], out: &mut [u8; WIDE]| {
        let mut len = 0;
        for (bit, &code) in codes.iter().enumerate() {
            out[len % WIDE] = code;
            len += (keep >> bit & 1) as usize;
        }
    };
    replace_with(&lookup, text, interval, out, look_up, cut, compress);
}

/// Replaces a text. `look_up` writes the codes of some bytes, at most 64, and returns masks of those that belong to
/// words and of blanks, and one of bytes without a code. `cut` adds the pieces that end in a part, given the masks of
/// its words and blanks. `compress` moves together those of 64 codes whose bits in the mask are set.
#[inline(always)]
fn replace_with(
    lookup: &Lookup<'_>,
    text: &[u8],
    interval: usize,
    out: &mut Vec<u8>,
    look_up: impl Fn(&[u8], &mut [u8; WIDE]) -> ([u64; 2], u64),
    mut cut: impl FnMut(&mut WordCutter, &[[u64; 2]], &mut Candidates<'_>),
    compress: impl Fn(u64, &[u8; WIDE], &mut [u8; WIDE]),
) {
    let (mut cutter, mut candidates) = (WordCutter::default(), Candidates::new(lookup, text));
    let mut part = Part { codes: [[0; WIDE]; COUNT + 1], keep: [0; COUNT + 2], rare: [0; COUNT + 1] };
    let mut len = 0;
    for begin in (0..text.len()).step_by(PART) {
        let end = text.len().min(begin + PART);
        candidates.begin = begin;
        part.keep[1..].fill(0);
        let mut kinds = [[0; 2]; COUNT];
        for (number, bytes) in text[begin..end].chunks(WIDE).enumerate() {
            let valid = u64::MAX >> (WIDE - bytes.len());
            let (kind, rare) = look_up(bytes, &mut part.codes[1 + number]);
            kinds[number] = kind.map(|mask| mask & valid);
            (part.keep[1 + number], part.rare[1 + number]) = (valid, rare & valid);
        }
        cut(&mut cutter, &kinds[..(end - begin).div_ceil(WIDE)], &mut candidates);
        cutter.end_part(end, text.len(), &mut |piece| candidates.add(piece));
        candidates.take(|piece, code| part.put(piece.start, piece.len(), code));
        let open = cutter.open_piece(end);
        // Enough even if all bytes are escaped.
        let room = len + 3 * (WIDE + PART) + WIDE;
        if out.len() < room {
            out.resize(room.max(len + text.len() - begin + 2 * WIDE), 0);
        }
        for number in 0..(open + WIDE - begin).div_ceil(WIDE) {
            let keep = part.keep[number] & u64::MAX >> WIDE.saturating_sub(open + WIDE - begin - WIDE * number);
            if keep & part.rare[number] > 0 {
                len = part.write_rare(number, keep, (interval, lookup.escape), out, len);
            } else {
                compress(keep, &part.codes[number], out[len..].first_chunk_mut().expect("room for all of them"));
                len += keep.count_ones() as usize;
            }
        }
        part.carry(end - open);
    }
    out.truncate(len);
}

/// A part of the text as codes, after the rest of the previous part: a piece that had not ended, of up to 64 bytes.
struct Part {
    codes: [[u8; WIDE]; COUNT + 1],
    /// A bit for each code to be written. The last one stays 0.
    keep: [u64; COUNT + 2],
    /// A bit for each code that needs an escape before it.
    rare: [u64; COUNT + 1],
}

impl Part {
    /// Replaces the `len` bytes at `from`, at most 64, by a code.
    #[inline(always)]
    fn put(&mut self, from: usize, len: usize, code: u8) {
        self.codes.as_flattened_mut()[from] = code;
        let rest = u128::from(u64::MAX >> (WIDE + 1 - len)) << ((from + 1) % WIDE);
        let word = (from + 1) / WIDE;
        self.keep[word] &= !(rest as u64);
        self.keep[word + 1] &= !((rest >> WIDE) as u64);
        self.rare[from / WIDE] &= !(1 << (from % WIDE));
    }

    /// Writes 64 codes, some of which need an escape, to `out` from `len` on, and returns their end.
    #[inline(never)]
    fn write_rare(
        &self,
        number: usize,
        mut keep: u64,
        (interval, escape): (usize, Option<u8>),
        out: &mut [u8],
        mut len: usize,
    ) -> usize {
        while keep > 0 {
            let bit = keep.trailing_zeros() as usize;
            keep &= keep - 1;
            if self.rare[number] >> bit & 1 > 0 {
                let escape = escape.expect("an escape for bytes without a code");
                // An entry point must not lie between an escape and its byte.
                let times = 1 + usize::from((len + 1).is_multiple_of(interval));
                out[len..len + times].fill(escape);
                len += times;
            }
            out[len] = self.codes[number][bit];
            len += 1;
        }
        len
    }

    /// Keeps the last `len` bytes for the next part, at most 64.
    #[inline(always)]
    fn carry(&mut self, len: usize) {
        self.codes[0] = self.codes[COUNT];
        self.keep[0] = u64::MAX.checked_shl((WIDE - len) as u32).unwrap_or(0);
        self.rare[0] = self.rare[COUNT] & self.keep[0];
    }
}

#[cfg(test)]
mod tests {
    use super::super::expand::{CodeExpander, PIECE};
    use super::super::words::tests::{self as pieces, first_piece_len};
    use super::*;
    use hybz_testkit::shapes::{EDGES, Rng, SHAPES, words};

    /// Replaces piece by piece, byte by byte.
    fn naive(dictionary: &Dictionary, text: &[u8], interval: usize) -> Vec<u8> {
        let code_of = |meaning: &Meaning| dictionary.codes().iter().position(|m| m == meaning).map(|code| code as u8);
        let (mut out, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(first_piece_len(rest));
            rest = after;
            if let Some(code) = code_of(&Meaning::Phrase(piece.to_vec())) {
                out.push(code);
                continue;
            }
            for &byte in piece {
                if let Some(code) = code_of(&Meaning::Byte(byte)) {
                    out.push(code);
                    continue;
                }
                let escape = code_of(&Meaning::Escape).unwrap();
                out.extend(vec![escape; 1 + usize::from((out.len() + 1).is_multiple_of(interval))]);
                out.push(dictionary.escaped().iter().position(|b| *b == byte).unwrap() as u8);
            }
        }
        out
    }

    /// Checks the pieces of a text, its codes and their text. Returns the number of codes.
    fn check(text: &[u8], what: &str) -> usize {
        pieces::check(text, what);
        let dictionary = Dictionary::choose(text);
        assert_eq!(Dictionary::new(dictionary.codes().to_vec()).as_ref(), Some(&dictionary), "{what}");
        check_with(&dictionary, text, what)
    }

    fn check_with(dictionary: &Dictionary, text: &[u8], what: &str) -> usize {
        let (mut out, expander) = (b"left from before".repeat(9), CodeExpander::new(dictionary.clone()));
        for interval in [64, 1 << 15] {
            let expected = naive(dictionary, text, interval);
            replace(dictionary, text, interval, &mut out);
            assert!(out == expected, "{what}, {interval}, this CPU's kernel");
            replace_portable(dictionary, text, interval, &mut out);
            assert!(out == expected, "{what}, {interval}, portable");
            assert_eq!(expander.text_len(&out, interval), Some(text.len()), "{what}");
            for room in [0, 1000] {
                assert!(expander.expand(&out, interval, text.len() + room).unwrap() == text, "{what}");
            }
            assert_eq!(expander.expand(&out, interval, text.len() - 1), None, "{what}");
            let mut pieces = Vec::new();
            for mut part in out.chunks(interval) {
                while !part.is_empty() {
                    let (piece, codes) = expander.expand_some(part).unwrap();
                    part = &part[codes..];
                    assert!(piece.len() < PIECE + 255);
                    pieces.extend(piece);
                }
            }
            assert!(pieces == text, "{what}, in pieces");
        }
        out.len()
    }

    /// Phrases begin with bytes that have no code, and escapes stand at every position at which a part may end.
    #[test]
    fn bytes_without_codes() {
        let bytes = (0..=255).filter(|byte| !b"xq".contains(byte)).map(Meaning::Byte);
        let codes = bytes.chain([Meaning::Phrase(b"xyz".to_vec()), Meaning::Escape]).collect();
        let dictionary = Dictionary::new(codes).unwrap();
        for fill in 0..130 {
            check_with(&dictionary, &[&b".".repeat(fill)[..], &b"xyz x,xyz q xy\0xyz.".repeat(120)].concat(), "rare");
        }
        let codes = vec![Meaning::Byte(b'a'), Meaning::Escape, Meaning::Phrase(b"bcd".to_vec())];
        let dictionary = Dictionary::new(codes).unwrap();
        for before in [61, 62, 63, 64, (1 << 15) - 2, (1 << 15) - 1] {
            for text in [&[0; 9][..], b"a\0bcd\0", &[0; 3 << 15], &[1]] {
                check_with(&dictionary, &[&b"a".repeat(before)[..], text].concat(), "escapes");
            }
        }
        let expander = CodeExpander::new(dictionary);
        assert_eq!(expander.expand(&[1, 0, 0, 1], 64, 2).unwrap(), b"\0a");
        assert_eq!(expander.text_len(&[1, 255], 64), None, "255 bytes have no code");
        assert_eq!(expander.expand(&[1, 255], 64, 9), None);
        // A text with all byte values, some of them rare, still gets phrases.
        let mut text = words(400_000);
        for (byte, at) in (0..=255).zip((1000..).step_by(1500)) {
            text.splice(at..at, [byte, byte, 255 - byte]);
        }
        assert!(Dictionary::choose(&text).codes().contains(&Meaning::Escape));
        assert!(check(&text, "all bytes") < text.len() * 9 / 10);
    }

    #[test]
    fn as_byte_by_byte() {
        EDGES.iter().filter(|edge| !(edge.make)().is_empty()).for_each(|edge| _ = check(&(edge.make)(), edge.name));
        SHAPES.iter().for_each(|shape| _ = check(&(shape.make)(30_001), shape.name));
        for len in 1..300 {
            check(&b"a".repeat(len), "a long word");
            check(&[b"a".repeat(len), b" ".repeat(len)].concat().repeat(16), "long phrases");
            check(&[&b" ".repeat(len)[..], b"ab", &b"\0".repeat(17)].concat(), "blanks");
            check(&[&b".".repeat(len)[..], b"ab,", &b"x".repeat(len), b"  "].concat(), "others");
        }
        check(&(0..=255).flat_map(|byte| [byte, byte, byte / 2, b'.']).collect::<Vec<u8>>(), "all bytes");
        // Words of all lengths, which begin and end anywhere in a part, some rare bytes, and blanks.
        let mut rng = Rng(51);
        for round in 0..12 {
            let words: Vec<Vec<u8>> =
                (0..40).map(|_| (0..1 + rng.below(70)).map(|_| b"abcdefgh_0189XYZ"[rng.below(16)]).collect()).collect();
            let mut text = Vec::new();
            while text.len() < 40_000 {
                text.extend_from_slice(&words[rng.below(20)]);
                // Some rounds have long sequences of blanks, and of words and blanks; all kernels must cut these alike.
                let blanks = if round % 2 == 0 { 1 + rng.below(10) } else { rng.below(3) * rng.below(150) };
                text.extend(b" \0\n"[rng.below(3)..].iter().cycle().take(blanks));
                text.extend((round % 3 == 2 && rng.below(20) == 0).then(|| rng.below(256) as u8));
            }
            assert!(check(&text, "words") < text.len() * 2 / 3, "no phrases");
        }
    }
}
