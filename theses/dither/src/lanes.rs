//! Dithers sixteen rows together, in the lanes of one AVX2 register. Each row lags two columns behind the row above it.
//!
//! At step `t` lane `i` does column `t - 2i`. From its own row it needs its result of the step before; from the row
//! above, the results of lane `i - 1` one, two and three steps before. Each step therefore shifts the errors up by one
//! lane, once, and keeps the last three shifted results; lane 0 gets the line of errors that the strip above has left.
//! A step is about 20 instructions for 16 pixels, and its errors wait about 10 cycles for the errors of the step
//! before.
//!
//! Pixels are loaded by transposing: 16 bytes of each row, skewed, become 16 registers of one step each, in 64
//! instructions for 256 pixels. Bits are collected in a register of 16 lanes of 16 bits, shifted left at each step, and
//! moved from a lane's columns to the bitmap's after 16 steps.
//!
//! One core of an EPYC that others used too, 1024 x 1024, best of 60 rounds: 0.26 Gpx/s by the plain loop, 2.7 by this
//! module.
//!
//! Without AVX2, [`supported`] returns false and slabs are done row by row. While some lanes are outside the picture,
//! at its left and right ends, a mask keeps their errors 0; in between there is no mask.

use crate::line::Line;
use std::ops::Range;

/// The number of rows that are done together.
pub const LANES: usize = 16;

/// Some rows of a slab.
pub struct Strip<'a> {
    /// The rows, of the whole picture.
    pub rows: [&'a [u8]; LANES],
    /// The first column of the first row, a multiple of 16.
    pub x: i64,
    /// The number of steps, a multiple of 16.
    pub steps: i64,
    /// For each row, the three errors before its first column.
    pub left: [[i8; 3]; LANES],
    /// The columns whose bits are kept.
    pub window: Range<usize>,
}

/// Whether this machine has the necessary instructions.
pub fn supported() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

impl Strip<'_> {
    /// Dithers. `line` has the errors of the row above and gets those of the last row; `bits` has rows of the window's
    /// columns, of which all those of the slab are written. Returns the last three errors of each row.
    ///
    /// # Panics
    /// If the machine is not [`supported`].
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    pub fn run(&self, line: &mut Line, bits: &mut [u8]) -> [[i8; 3]; LANES] {
        assert!(supported() && self.x % 16 == 0 && self.steps % 16 == 0);
        // SAFETY: the machine has AVX2 (checked just now).
        unsafe { avx2::run(self, line, bits) }
    }

    /// Never called: the machine is not [`supported`].
    #[cfg(not(target_arch = "x86_64"))]
    pub fn run(&self, _: &mut Line, _: &mut [u8]) -> [[i8; 3]; LANES] {
        unreachable!("lanes without AVX2")
    }

    /// Puts the bits of sixteen steps in their places. The bitmap's words begin at multiples of 16, so those of the
    /// first eight lanes begin 16 columns before `x`, those of the others 32.
    fn write(&self, x: i64, words: [i16; LANES], bits: &mut [u8]) {
        let stride = self.window.len() / 8;
        for (half, words) in words.chunks_exact(LANES / 2).enumerate() {
            let column = usize::try_from(x - 16 - 16 * half as i64).unwrap_or(usize::MAX);
            if self.window.contains(&column) {
                let at = (column - self.window.start) / 8;
                let rows = bits.chunks_exact_mut(stride).skip(LANES / 2 * half);
                for (row, word) in rows.zip(words) {
                    row[at..at + 2].copy_from_slice(&word.to_ne_bytes());
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{LANES, Line, Strip};
    use std::arch::x86_64::*;
    use std::mem::transmute;

    /// The state that a step passes to the next one.
    #[derive(Clone, Copy)]
    struct State {
        /// The errors of the last step.
        left: __m256i,
        /// The errors of the last three steps, each in the lane of the row below.
        above_right: __m256i,
        above: __m256i,
        above_left: __m256i,
        /// The bits of the last 16 steps.
        black: __m256i,
    }

    // The arrays below are not made by `array::from_fn` and `map`: a closure with AVX2 is not inlined into functions
    // without it, and the calls took 40 % of the time.

    /// The number of columns that each lane lags behind lane 0.
    const SKEW: [i16; LANES] = {
        let mut skew = [0; LANES];
        let mut lane = 1;
        while lane < LANES {
            skew[lane] = skew[lane - 1] + 2;
            lane += 1;
        }
        skew
    };

    /// 2 to the power of the lag, without whole words.
    const POWERS: [i16; LANES] = {
        let mut powers = [0; LANES];
        let mut lane = 0;
        while lane < LANES {
            powers[lane] = 1 << (SKEW[lane] % 16);
            lane += 1;
        }
        powers
    };

    /// Reverses the order of eight words.
    const TURNED: [i16; LANES] = {
        let mut turned = [0; LANES];
        let mut word = 0;
        while word < LANES {
            turned[word] = 0x0f0e - 0x0202 * (word % 8) as i16;
            word += 1;
        }
        turned
    };

    /// The number of columns that the last lane lags behind lane 0.
    const LAG: i64 = 2 * (LANES as i64 - 1);

    #[allow(unsafe_code)]
    #[inline]
    #[target_feature(enable = "avx2")]
    fn to_words(register: __m256i) -> [i16; LANES] {
        // SAFETY: both have 32 bytes, and any bytes are sixteen words.
        unsafe { transmute(register) }
    }

    #[allow(unsafe_code)]
    #[inline]
    #[target_feature(enable = "avx2")]
    fn from_words(words: [i16; LANES]) -> __m256i {
        // SAFETY: both have 32 bytes, and any bytes are a register.
        unsafe { transmute(words) }
    }

    #[allow(unsafe_code)]
    #[inline]
    #[target_feature(enable = "avx2")]
    fn from_bytes(bytes: [u8; 16]) -> __m128i {
        // SAFETY: both have 16 bytes, and any bytes are a register.
        unsafe { transmute(bytes) }
    }

    #[allow(unsafe_code)]
    #[inline]
    #[target_feature(enable = "avx2")]
    fn from_half(words: [i16; 8]) -> __m128i {
        // SAFETY: both have 16 bytes, and any bytes are a register.
        unsafe { transmute(words) }
    }

    #[target_feature(enable = "avx2")]
    pub fn run(strip: &Strip<'_>, line: &mut Line, bits: &mut [u8]) -> [[i8; 3]; LANES] {
        let width = strip.rows[0].len() as i64;
        // Steps before all lanes' first column in the picture, and after their last, change nothing.
        let begin = (-strip.x).clamp(0, strip.steps);
        let end = (width + LAG - strip.x + 15).div_euclid(16) * 16;
        let end = end.clamp(begin, strip.steps);
        let mut state = enter(strip, begin, line);
        let mut before = _mm256_setzero_si256();
        let mut step = begin;
        while step < end {
            let x = strip.x + step;
            state = match x >= LAG && x + 16 <= width {
                true => sixteen::<false>(state, x, width, inner(strip, x), line),
                false => sixteen::<true>(state, x, width, outer(strip, x, width), line),
            };
            strip.write(x, words(before, state.black), bits);
            before = state.black;
            step += 16;
        }
        strip.write(strip.x + end, words(before, _mm256_setzero_si256()), bits);
        if end < strip.steps {
            return [[0; 3]; LANES]; // all of them lie after the end of the picture
        }
        let states = [state.above_right, state.above, state.above_left].map(|register| to_words(register));
        let last = strip.x + strip.steps - LAG - 1;
        std::array::from_fn(|lane| match lane {
            15 => [0, 1, 2].map(|k| line.get(last - k)),
            _ => [0, 1, 2].map(|k: usize| states[k][lane + 1] as i8),
        })
    }

    /// The state before the first step that is done.
    #[target_feature(enable = "avx2")]
    fn enter(strip: &Strip<'_>, begin: i64, line: &Line) -> State {
        let left = |lane: usize, k: usize| i16::from(strip.left[lane][k]);
        let x = strip.x + begin;
        // Lane 0 was at column x - k k steps ago, and its neighbour above right at x + 1 - k.
        let shifted = |k: usize| {
            let of_line = line.get(x + 1 - k as i64).into();
            from_words(std::array::from_fn(|lane| if lane == 0 { of_line } else { left(lane - 1, k) }))
        };
        State {
            left: from_words(std::array::from_fn(|lane| left(lane, 0))),
            above_right: shifted(0),
            above: shifted(1),
            above_left: shifted(2),
            black: _mm256_setzero_si256(),
        }
    }

    /// The words of the bitmap: lane `i` has `before` of the columns from `x - 16 - 2i` and `now` of those from `x -
    /// 2i`, highest bit first. Multiplying shifts each lane by its own 2i; a shift of more than 16 is partly a whole
    /// word.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn words(before: __m256i, now: __m256i) -> [i16; LANES] {
        let powers = from_words(POWERS);
        let words = _mm256_or_si256(_mm256_mullo_epi16(before, powers), _mm256_mulhi_epu16(now, powers));
        // In the byte order of the file; this machine is little-endian.
        to_words(_mm256_or_si256(_mm256_slli_epi16::<8>(words), _mm256_srli_epi16::<8>(words)))
    }

    /// The bytes of the next 16 columns of each row; all of them lie in the picture.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn inner(strip: &Strip<'_>, x: i64) -> [__m128i; LANES] {
        let mut rows = [_mm_setzero_si128(); LANES];
        for (lane, row) in rows.iter_mut().enumerate() {
            let bytes = strip.rows[lane][x as usize - 2 * lane..].first_chunk();
            *row = from_bytes(*bytes.expect("all of them lie in the picture"));
        }
        transposed(rows)
    }

    /// The same if not all of them lie in the picture.
    #[target_feature(enable = "avx2")]
    fn outer(strip: &Strip<'_>, x: i64, width: i64) -> [__m128i; LANES] {
        let mut rows = [_mm_setzero_si128(); LANES];
        for (lane, row) in rows.iter_mut().enumerate() {
            let first = x - 2 * lane as i64;
            let mut bytes = [0; 16];
            for (column, byte) in (first..).zip(&mut bytes) {
                if (0..width).contains(&column) {
                    *byte = strip.rows[lane][column as usize];
                }
            }
            *row = from_bytes(bytes);
        }
        transposed(rows)
    }

    /// Transposes rows to columns. Each turn moves the highest bit of the row's number to the end of the column's.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn transposed(mut rows: [__m128i; LANES]) -> [__m128i; LANES] {
        for _ in 0..4 {
            let before = rows;
            for pair in 0..LANES / 2 {
                rows[2 * pair] = _mm_unpacklo_epi8(before[pair], before[pair + 8]);
                rows[2 * pair + 1] = _mm_unpackhi_epi8(before[pair], before[pair + 8]);
            }
        }
        rows
    }

    /// Sixteen steps, the first of them at column `x` of lane 0.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn sixteen<const MASKED: bool>(
        mut state: State,
        x: i64,
        width: i64,
        pixels: [__m128i; LANES],
        line: &mut Line,
    ) -> State {
        // The error above right of lane 0's next step is the last of eight words from here.
        let above: &[i16; 23] = line.part(x + 2 - 7);
        // The last lane's errors, the newest first: those of the first eight steps, and those of the others.
        let mut below = [_mm_setzero_si128(); 2];
        for (half, below) in below.iter_mut().enumerate() {
            let (mut now, mut newest) = (state, *below);
            for step in 8 * half..8 * half + 8 {
                let errors =
                    one(&mut now, pixels[step], if MASKED { Some(inside(x + step as i64, width)) } else { None });
                newest = _mm_alignr_epi8::<14>(newest, _mm256_extracti128_si256::<1>(errors));
                let of_line = _mm256_castsi128_si256(from_half(*above[step..].first_chunk().expect("eight")));
                let lower = _mm256_inserti128_si256::<1>(of_line, _mm256_castsi256_si128(errors));
                now.above_left = now.above;
                now.above = now.above_right;
                now.above_right = _mm256_alignr_epi8::<14>(errors, lower);
                now.left = errors;
            }
            (state, *below) = (now, newest);
        }
        let below = _mm256_shuffle_epi8(_mm256_set_m128i(below[1], below[0]), from_words(TURNED));
        *line.part_mut(x - LAG) = to_words(below);
        state
    }

    /// Which lanes are in the picture when lane 0 is at column `x`.
    #[target_feature(enable = "avx2")]
    fn inside(x: i64, width: i64) -> __m256i {
        let skew = from_words(SKEW);
        // Beyond these ends the mask does not change.
        let clamp = |x: i64| _mm256_set1_epi16(x.clamp(-1, LAG + 1) as i16);
        let not_yet = _mm256_cmpgt_epi16(skew, clamp(x));
        let still = _mm256_cmpgt_epi16(skew, clamp(x - width));
        _mm256_andnot_si256(not_yet, still)
    }

    /// One step: the definition in `plain`, with 16 times the value.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn one(state: &mut State, pixels: __m128i, inside: Option<__m256i>) -> __m256i {
        let times_3 = |v| _mm256_add_epi16(_mm256_add_epi16(v, v), v);
        let times_5 = |v| _mm256_add_epi16(_mm256_slli_epi16::<2>(v), v);
        let times_7 = |v| _mm256_sub_epi16(_mm256_slli_epi16::<3>(v), v);
        let grey = _mm256_add_epi16(_mm256_slli_epi16::<4>(_mm256_cvtepu8_epi16(pixels)), _mm256_set1_epi16(8));
        // The values known longest are added first.
        let early = _mm256_add_epi16(_mm256_add_epi16(grey, state.above_left), times_5(state.above));
        let value = _mm256_add_epi16(_mm256_add_epi16(early, times_7(state.left)), times_3(state.above_right));
        let white = _mm256_cmpgt_epi16(value, _mm256_set1_epi16(16 * 128 - 1));
        let mut errors =
            _mm256_sub_epi16(_mm256_srai_epi16::<4>(value), _mm256_and_si256(white, _mm256_set1_epi16(255)));
        let mut black = _mm256_add_epi16(white, _mm256_set1_epi16(1));
        if let Some(inside) = inside {
            errors = _mm256_and_si256(errors, inside);
            black = _mm256_and_si256(black, inside);
        }
        state.black = _mm256_add_epi16(_mm256_add_epi16(state.black, state.black), black);
        errors
    }
}
