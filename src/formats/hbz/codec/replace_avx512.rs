//! Replaces a text by codes on CPUs with AVX-512 (VBMI and VBMI2), 64 bytes at a time.
//!
//! A table of 256 bytes fits four registers, so one look-up gives the codes of 64 bytes, and another gives their kinds,
//! from which masks of the ends of pieces follow (as in `words`). An instruction turns such a mask into the positions
//! of its bits, so no step is taken for each piece; eight pieces at once are hashed and looked up in the filter. A
//! phrase writes its code over its first byte, and clears the bits of its other bytes in a mask of bytes to keep; the
//! same instruction moves the kept bytes together. Phrases therefore cost no copying.
//!
//! The time of all steps before a block's sort, in ns per byte of text, alternating with the portable kernel and the
//! standard library's hash for the sample (Zen 5, medians of nine, the quietest of some rounds): source code 1.72,
//! portable 2.85; prose 1.74, portable 2.90.

use super::super::dictionary::Dictionary;
use super::super::words::{MAX_WORD, WordPiece, is_blank, is_word, push, split};
use super::{Candidate, HASH_FACTOR, HASH_SHIFT, Lookup, PART, RARE};
use crate::cpu;
use std::arch::x86_64::{
    __m512i, _mm_loadu_si128, _mm512_add_epi16, _mm512_add_epi64, _mm512_and_si512, _mm512_castsi512_si256,
    _mm512_cmpgt_epu64_mask, _mm512_cvtepu8_epi16, _mm512_cvtepu16_epi64, _mm512_i64gather_epi64, _mm512_loadu_si512,
    _mm512_mask_blend_epi8, _mm512_mask_i64gather_epi64, _mm512_mask_test_epi64_mask, _mm512_maskz_compress_epi8,
    _mm512_maskz_compress_epi64, _mm512_maskz_loadu_epi8, _mm512_min_epu64, _mm512_movepi8_mask, _mm512_mullo_epi64,
    _mm512_or_si512, _mm512_permutex2var_epi8, _mm512_set1_epi8, _mm512_set1_epi16, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_slli_epi64, _mm512_srli_epi64, _mm512_srlv_epi64, _mm512_storeu_si512,
    _mm512_sub_epi64, _mm512_test_epi8_mask, _mm512_xor_si512,
};

/// The bytes of a register.
const WIDE: usize = 64;
/// The registers of a part.
const COUNT: usize = PART / WIDE;

/// The kinds of a byte. The sign bit marks a word's byte.
const WORD: u8 = 1 << 7;
const BLANK: u8 = 1;
const WITHOUT_CODE: u8 = 2;

/// Whether this CPU supports the kernel.
pub(super) fn is_supported() -> bool {
    cpu::has!(Avx512: "avx512f", "avx512bw", "avx512dq", "avx512vbmi", "avx512vbmi2", "bmi1", "bmi2", "lzcnt", "popcnt")
}

/// Replaces the text if [`is_supported`] is true, and panics otherwise.
pub(super) fn replace(dictionary: &Dictionary, text: &[u8], interval: usize, out: &mut Vec<u8>) {
    assert!(is_supported());
    // SAFETY: the features for which `replace_wide` is compiled have just been detected.
    #[allow(unsafe_code)]
    unsafe {
        replace_wide(dictionary, text, interval, out);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
fn replace_wide(dictionary: &Dictionary, text: &[u8], interval: usize, out: &mut Vec<u8>) {
    let lookup = Lookup::new(dictionary);
    let codes = Table::new(|byte| lookup.table[usize::from(byte)] as u8);
    let kinds = Table::new(|byte| {
        let rare = if lookup.table[usize::from(byte)] & RARE > 0 { WITHOUT_CODE } else { 0 };
        rare + is_word(byte) * WORD + is_blank(byte) * BLANK
    });
    let (blank, without) = (_mm512_set1_epi8(BLANK as i8), _mm512_set1_epi8(WITHOUT_CODE as i8));
    let (mut cutter, mut pieces, mut found) = (Cutter::default(), Pieces::new(), Hit::new());
    let mut part = Stretch { codes: [0; WIDE + PART], keep: [0; COUNT + 2], rare: [0; COUNT + 1] };
    let mut len = 0;
    for begin in (0..text.len()).step_by(PART) {
        let end = text.len().min(begin + PART);
        cutter.begin_part(begin, &mut pieces);
        part.keep[1..].fill(0);
        for (number, bytes) in text[begin..end].chunks(WIDE).enumerate() {
            let (wide, valid) = load(bytes);
            codes.of(wide, part.codes[WIDE * (1 + number)..].first_chunk_mut().expect("as many as the text has"));
            let kind = kinds.look_up(wide);
            part.keep[1 + number] = valid;
            part.rare[1 + number] = _mm512_test_epi8_mask(kind, without) & valid;
            let (words, blanks) = (_mm512_movepi8_mask(kind) & valid, _mm512_test_epi8_mask(kind, blank) & valid);
            cutter.cut(begin, WIDE * number, (words, blanks), &mut pieces);
        }
        cutter.end_part(end, text.len(), &mut pieces);
        if pieces.long || begin + PART + 8 > text.len() {
            // Some are too long, or too close to the end to be read eight bytes at a time.
            pieces.split(begin);
        }
        found.look_for(&lookup, text, begin, &pieces);
        for candidate in found.candidates(begin) {
            if let Some(code) = lookup.code(text, &candidate) {
                let (from, to) = candidate.piece;
                part.put(from + WIDE - begin, to - from, code);
            }
        }
        let open = cutter.open_piece(end);
        let room = len + 3 * part.codes.len() + WIDE;
        if out.len() < room {
            out.resize(room.max(len + text.len() - begin + 2 * WIDE), 0);
        }
        len += part.write(open + WIDE - begin, (len, interval, lookup.escape), &mut out[len..]);
        part.carry(end - open);
    }
    out.truncate(len);
}

/// Cuts a text into pieces, as `WordCutter` does.
#[derive(Default)]
struct Cutter {
    /// Masks of the previous 64 bytes: bytes of words, blanks, and positions at which pieces begin and others end.
    words: u64,
    blanks: u64,
    changes: u64,
    /// More masks of the previous 64 bytes: the positions after nine blanks, and those at which blanks are cut.
    nine: u64,
    cuts: u64,
    /// The start of the last piece if it has not ended, or if it is neither a word nor blanks.
    begin: usize,
}

impl Cutter {
    fn is_open(&self) -> bool {
        (self.words | self.blanks) >> 63 == 1
    }

    #[inline(always)]
    fn begin_part(&self, begin: usize, pieces: &mut Pieces) {
        (pieces.started, pieces.ended, pieces.long) = (0, 0, false);
        pieces.odd.clear();
        // If only its first byte is in the previous part, `cut` finds its start itself.
        if self.is_open() && self.changes >> 63 == 0 {
            pieces.starts[0] = (self.begin + WIDE - begin) as u16;
            pieces.started = 1;
        }
    }

    /// Cuts 64 bytes, `at` bytes after the part's beginning.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    fn cut(&mut self, begin: usize, at: usize, (words, blanks): (u64, u64), pieces: &mut Pieces) {
        let words_before = words << 1 | self.words >> 63;
        let blanks_before = blanks << 1 | self.blanks >> 63;
        let changes = (words ^ words_before) | (blanks ^ blanks_before) | self.cut_blanks(blanks);
        let changes_before = changes << 1 | self.changes >> 63;
        // Pieces of at least two bytes: the positions after their first bytes, and those after their last ones.
        let seconds = !changes & changes_before & (words | blanks);
        let ends = changes & !changes_before & (words_before | blanks_before);
        pieces.started += places(seconds, at + WIDE - 1, &mut pieces.starts[pieces.started..]);
        pieces.ended += places(ends, at + WIDE, &mut pieces.ends[pieces.ended..]);
        if changes != 0 {
            let (here, first) = (begin + at, changes.trailing_zeros());
            pieces.long |= words_before >> first & 1 == 1 && here + first as usize - self.begin > MAX_WORD;
            self.begin = here + changes.ilog2() as usize;
        }
        (self.words, self.blanks, self.changes) = (words, blanks, changes);
    }

    /// The positions at which more than eight blanks are cut into pieces.
    #[inline(always)]
    fn cut_blanks(&mut self, blanks: u64) -> u64 {
        let both = u128::from(blanks) << 64 | u128::from(self.blanks);
        let two = both & both << 1;
        let four = two & two << 2;
        let nine = ((four & four << 4 & both << 8) >> 64) as u64;
        let mut cuts = 0;
        if nine != 0 {
            let firsts = nine & !(nine << 1 | self.nine >> 63);
            cuts = firsts | (self.cuts >> 56 & nine);
            // Bits of different sequences are more than eight places apart, so no shift moves a bit from one sequence
            // into another.
            for _ in 1..8 {
                cuts |= cuts << 8 & nine;
            }
        }
        (self.nine, self.cuts) = (nine, cuts);
        cuts
    }

    #[inline(always)]
    fn end_part(&mut self, end: usize, len: usize, pieces: &mut Pieces) {
        if self.is_open() {
            self.begin = split(self.begin, end, MAX_WORD, &mut pieces.odd);
            if end == len {
                push(self.begin, end, &mut pieces.odd);
                self.begin = end;
            }
        }
    }

    /// The start of the piece that has not ended at `end`, the end of the last part.
    fn open_piece(&self, end: usize) -> usize {
        if self.is_open() { self.begin } else { end }
    }
}

/// Stores the positions of the bits of a mask, each plus `base`, and returns their number: at most 32, because no two
/// are neighbours.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
fn places(mask: u64, base: usize, to: &mut [u16]) -> usize {
    const PLACES: [u8; WIDE] = {
        let mut places = [0; WIDE];
        let mut place = 0;
        while place < WIDE {
            places[place] = place as u8;
            place += 1;
        }
        places
    };
    let to: &mut [u16; 32] = to.first_chunk_mut().expect("room for 32 more");
    // SAFETY: 64 bytes are read, and 64 written.
    #[allow(unsafe_code)]
    unsafe {
        let places = _mm512_maskz_compress_epi8(mask, _mm512_loadu_si512(PLACES.as_ptr().cast()));
        let places = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(places));
        _mm512_storeu_si512(to.as_mut_ptr().cast(), _mm512_add_epi16(places, _mm512_set1_epi16(base as i16)));
    }
    mask.count_ones() as usize
}

/// The pieces of at least two bytes that end in a part, as positions in `Stretch`.
struct Pieces {
    starts: [u16; PART / 2 + 64],
    started: usize,
    ends: [u16; PART / 2 + 64],
    ended: usize,
    /// Some words may be too long.
    long: bool,
    /// More pieces, as positions in the text.
    odd: Vec<WordPiece>,
}

impl Pieces {
    fn new() -> Pieces {
        let none = [0; PART / 2 + 64];
        Pieces { starts: none, started: 0, ends: none, ended: 0, long: false, odd: Vec::with_capacity(PART) }
    }

    /// Moves all pieces to `odd`, and splits words that are too long.
    #[inline(never)]
    fn split(&mut self, begin: usize) {
        for (&start, &end) in self.starts.iter().zip(&self.ends).take(self.ended) {
            let (from, to) = (begin + usize::from(start) - WIDE, begin + usize::from(end) - WIDE);
            let from = split(from, to, MAX_WORD, &mut self.odd);
            push(from, to, &mut self.odd);
        }
        self.ended = 0;
    }
}

/// The pieces that pass the filter.
struct Hit {
    /// For each piece its first eight bytes; then its begin and its end, as positions in `Stretch`, and its hash, in 16
    /// bits each.
    keys: [u64; PART / 2 + 16],
    about: [u64; PART / 2 + 16],
    len: usize,
    /// More of them.
    odd: Vec<Candidate>,
}

impl Hit {
    fn new() -> Hit {
        let none = [0; PART / 2 + 16];
        Hit { keys: none, about: none, len: 0, odd: Vec::with_capacity(PART) }
    }

    /// Looks up pieces in the filter, eight at a time. All of them have eight bytes of text after their beginning.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi2,popcnt")]
    fn look_for(&mut self, lookup: &Lookup<'_>, text: &[u8], begin: usize, pieces: &Pieces) {
        let (eight, most, one) = (_mm512_set1_epi64(8), _mm512_set1_epi64(64), _mm512_set1_epi64(1));
        let ones = _mm512_set1_epi64(-1);
        let factor = _mm512_set1_epi64(HASH_FACTOR as i64);
        let shift = _mm512_set1_epi64(begin as i64 - WIDE as i64);
        let mut len = 0;
        for first in (0..pieces.ended).step_by(8) {
            let valid = (u32::MAX >> (32 - (pieces.ended - first).min(8))) as u8;
            let (starts, ends) = (eight_places(&pieces.starts[first..]), eight_places(&pieces.ends[first..]));
            let lens = _mm512_sub_epi64(ends, starts);
            let bits = _mm512_slli_epi64::<3>(_mm512_min_epu64(lens, eight));
            // SAFETY: a piece begins at least 8 bytes before the text ends, and filters have 64 words.
            #[allow(unsafe_code)]
            let (keys, hashes, words) = unsafe {
                let at = _mm512_add_epi64(starts, shift);
                let texts = _mm512_mask_i64gather_epi64::<1>(_mm512_setzero_si512(), valid, at, text.as_ptr().cast());
                let keys = _mm512_and_si512(texts, _mm512_srlv_epi64(ones, _mm512_sub_epi64(most, bits)));
                let mixed = _mm512_xor_si512(keys, _mm512_slli_epi64::<56>(lens));
                let hashes = _mm512_srli_epi64::<HASH_SHIFT>(_mm512_mullo_epi64(mixed, factor));
                let words = _mm512_srli_epi64::<6>(hashes);
                (keys, hashes, _mm512_i64gather_epi64::<8>(words, lookup.filter.as_ptr().cast()))
            };
            let bits = _mm512_srlv_epi64(words, _mm512_and_si512(hashes, _mm512_set1_epi64(63)));
            let pass = _mm512_mask_test_epi64_mask(valid, bits, one);
            let pass = pass & _mm512_cmpgt_epu64_mask(lens, one);
            let about = _mm512_or_si512(starts, _mm512_slli_epi64::<16>(ends));
            let about = _mm512_or_si512(about, _mm512_slli_epi64::<32>(hashes));
            store_eight(_mm512_maskz_compress_epi64(pass, keys), &mut self.keys[len..]);
            store_eight(_mm512_maskz_compress_epi64(pass, about), &mut self.about[len..]);
            len += pass.count_ones() as usize;
        }
        self.len = len;
        lookup.candidates(text, &pieces.odd, &mut self.odd);
    }

    /// Removes and returns all of them.
    fn candidates(&mut self, begin: usize) -> impl Iterator<Item = Candidate> {
        let len = std::mem::take(&mut self.len);
        let found = self.keys[..len].iter().zip(&self.about[..len]).map(move |(&key, &about)| {
            let place = |shift: u32| usize::from((about >> shift) as u16);
            Candidate { piece: (begin + place(0) - WIDE, begin + place(16) - WIDE), key, hash: place(32) }
        });
        found.chain(self.odd.iter().copied())
    }
}

#[target_feature(enable = "avx512f")]
fn eight_places(places: &[u16]) -> __m512i {
    let places: &[u16; 8] = places.first_chunk().expect("room for eight more");
    // SAFETY: 16 bytes are read.
    #[allow(unsafe_code)]
    unsafe {
        _mm512_cvtepu16_epi64(_mm_loadu_si128(places.as_ptr().cast()))
    }
}

#[target_feature(enable = "avx512f")]
fn store_eight(wide: __m512i, to: &mut [u64]) {
    let to: &mut [u64; 8] = to.first_chunk_mut().expect("room for eight more");
    // SAFETY: 64 bytes are written.
    #[allow(unsafe_code)]
    unsafe {
        _mm512_storeu_si512(to.as_mut_ptr().cast(), wide);
    }
}

/// Up to 64 bytes, and a mask with a bit for each byte present.
#[target_feature(enable = "avx512f,avx512bw")]
fn load(bytes: &[u8]) -> (__m512i, u64) {
    let valid = u64::MAX >> (WIDE - bytes.len().min(WIDE));
    // SAFETY: only bytes of the slice are read.
    #[allow(unsafe_code)]
    let wide = unsafe { _mm512_maskz_loadu_epi8(valid, bytes.as_ptr().cast()) };
    (wide, valid)
}

/// A table that maps each byte to a byte.
struct Table([__m512i; 4]);

impl Table {
    #[target_feature(enable = "avx512f")]
    fn new(of: impl Fn(u8) -> u8) -> Table {
        let all: [u8; 256] = std::array::from_fn(|byte| of(byte as u8));
        Table(std::array::from_fn(|number| {
            // SAFETY: 64 bytes of the 256 are read.
            #[allow(unsafe_code)]
            unsafe {
                _mm512_loadu_si512(all[WIDE * number..][..WIDE].as_ptr().cast())
            }
        }))
    }

    /// Looks up 64 bytes.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn look_up(&self, bytes: __m512i) -> __m512i {
        let low = _mm512_permutex2var_epi8(self.0[0], bytes, self.0[1]);
        let high = _mm512_permutex2var_epi8(self.0[2], bytes, self.0[3]);
        _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high)
    }

    /// Looks up 64 bytes and stores the result.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn of(&self, bytes: __m512i, to: &mut [u8; WIDE]) {
        // SAFETY: `to` has 64 bytes.
        #[allow(unsafe_code)]
        unsafe {
            _mm512_storeu_si512(to.as_mut_ptr().cast(), self.look_up(bytes));
        }
    }
}

/// A part of the text as codes, after the rest of the previous part: a piece that had not ended, of up to 64 bytes.
struct Stretch {
    codes: [u8; WIDE + PART],
    /// A bit for each code to be written. The last one stays 0.
    keep: [u64; COUNT + 2],
    /// A bit for each code that needs an escape before it.
    rare: [u64; COUNT + 1],
}

impl Stretch {
    /// Replaces the `len` bytes at `from`, at most 64, by a code.
    #[inline(always)]
    fn put(&mut self, from: usize, len: usize, code: u8) {
        self.codes[from] = code;
        let rest = u128::from(u64::MAX >> (WIDE + 1 - len)) << ((from + 1) % WIDE);
        let word = (from + 1) / WIDE;
        self.keep[word] &= !(rest as u64);
        self.keep[word + 1] &= !((rest >> WIDE) as u64);
        self.rare[from / WIDE] &= !(1 << (from % WIDE));
    }

    /// Writes the codes up to `end` to `out`, and returns their number. `at`: the number written before, the codes
    /// between entry points, and the escape.
    #[target_feature(enable = "avx512f,avx512vbmi2,popcnt")]
    fn write(&self, end: usize, at: (usize, usize, Option<u8>), out: &mut [u8]) -> usize {
        let mut len = 0;
        for number in 0..end.div_ceil(WIDE) {
            let before = u64::MAX >> WIDE.saturating_sub(end - WIDE * number);
            let keep = self.keep[number] & before;
            let codes: &[u8; WIDE] = self.codes[WIDE * number..].first_chunk().expect("there are as many");
            if keep & self.rare[number] > 0 {
                len += self.write_rare(number, keep, (at.0 + len, at.1, at.2), &mut out[len..]);
                continue;
            }
            let to: &mut [u8; WIDE] = out[len..].first_chunk_mut().expect("room for all of them");
            // SAFETY: 64 bytes are read, and 64 written.
            #[allow(unsafe_code)]
            unsafe {
                let codes = _mm512_loadu_si512(codes.as_ptr().cast());
                _mm512_storeu_si512(to.as_mut_ptr().cast(), _mm512_maskz_compress_epi8(keep, codes));
            }
            len += keep.count_ones() as usize;
        }
        len
    }

    /// Like [`write`](Self::write), for one register in which some codes need an escape.
    #[inline(never)]
    fn write_rare(&self, number: usize, mut keep: u64, at: (usize, usize, Option<u8>), out: &mut [u8]) -> usize {
        let (written, interval, escape) = at;
        let mut len = 0;
        while keep > 0 {
            let bit = keep.trailing_zeros() as usize;
            keep &= keep - 1;
            if self.rare[number] >> bit & 1 > 0 {
                let escape = escape.expect("an escape for bytes without a code");
                // An entry point must not lie between an escape and its byte.
                let times = 1 + usize::from((written + len + 1).is_multiple_of(interval));
                out[len..len + times].fill(escape);
                len += times;
            }
            out[len] = self.codes[WIDE * number + bit];
            len += 1;
        }
        len
    }

    /// Keeps the last `len` bytes for the next part, at most 64.
    #[inline(always)]
    fn carry(&mut self, len: usize) {
        self.codes.copy_within(PART.., 0);
        self.keep[0] = u64::MAX.checked_shl((WIDE - len) as u32).unwrap_or(0);
        self.rare[0] = self.rare[COUNT] & self.keep[0];
    }
}
