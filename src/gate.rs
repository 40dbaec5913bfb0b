//! Limits the input that a decoder may take if it has to stop exactly at the end of the first stream.
//!
//! A [`Gate`] looks at bytes before they are taken and closes where the stream *may* end. The joiner, which has all
//! bytes up to there, then says whether it does end. Everything before such a place is taken in one step, so blocks are
//! still read ahead and decoded in parallel.

use crate::flow::one_stream::Driver;
use crate::format::Formats;
use crate::stream::piece::StreamEndDetector;
use crate::table;
use std::fmt;

/// The maximum input handed over in one step: more would pile up before a full pool.
const PUSH: usize = 64 << 10;

/// Watches the input of a decoder.
#[derive(Default)]
pub(crate) struct Gate {
    /// Whether the first byte has been seen.
    begun: bool,
    /// `None`: all of the input is taken.
    end: Option<Box<dyn StreamEndDetector>>,
    closed: bool,
}

impl Gate {
    pub fn new() -> Gate {
        Gate::default()
    }

    /// Takes some of `bytes`, the next part of the input: all of them, or those up to a place where the stream may end.
    /// Returns the number taken.
    pub fn take(&mut self, bytes: &[u8]) -> usize {
        let Some(&first) = bytes.first() else { return 0 };
        if self.closed {
            return 0;
        }
        if !self.begun {
            self.begun = true;
            self.end = (table::first(Formats::All, Some(first)).end)();
        }
        let end = self.end.as_mut().and_then(|end| end.take(bytes));
        self.closed = end.is_some();
        end.unwrap_or(bytes.len())
    }

    /// Hands some of `bytes` to the decoder, up to a place where the stream may end. Returns the number: 0 only if
    /// `bytes` is empty or the gate is closed.
    pub fn push(&mut self, driver: &mut Driver, bytes: &[u8]) -> usize {
        let n = self.take(&bytes[..bytes.len().min(PUSH)]);
        let mut pushed = 0;
        while pushed < n {
            pushed += driver.push(&bytes[pushed..n]);
        }
        if self.closed {
            driver.flush();
        }
        n
    }

    /// Whether the stream may end after the bytes taken.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Called when the joiner wants more, because the stream goes on.
    pub fn open(&mut self) {
        self.closed = false;
        self.end.take_if(|end| !end.goes_on());
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("closed", &self.closed).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::writer::set_bits;
    use crate::formats::bzip2::header::END_MAGIC;
    use crate::{LargeBlocks, Level, Settings};
    use hybz_testkit::shapes::{Rng, random, shape};

    /// Feeds `data` in pieces, opening the gate wherever it closes. Returns the positions at which it closed.
    fn places(data: &[u8], mut piece: impl FnMut() -> usize) -> Vec<usize> {
        let mut gate = Gate::new();
        let (mut at, mut places) = (0, Vec::new());
        while at < data.len() {
            let end = data.len().min(at + piece());
            let n = gate.take(&data[at..end]);
            at += n;
            if gate.is_closed() {
                places.push(at);
                assert_eq!(gate.take(&data[at..]), 0);
                gate.open();
            } else {
                assert_eq!(at, end);
            }
        }
        places
    }

    #[test]
    fn it_closes_exactly_where_records_end() {
        let mut rng = Rng(8);
        for round in 0..300 {
            let mut data = random(2000);
            let mut bits: Vec<u64> = (0..rng.below(20)).map(|_| rng.below(8 * 1980) as u64).collect();
            bits.sort_unstable();
            bits.dedup_by(|b, a| *b < *a + 48);
            bits.iter().for_each(|&bit| set_bits(&mut data, bit, END_MAGIC, 48));
            let mut expected: Vec<usize> = bits.iter().map(|bit| (bit + 80).div_ceil(8) as usize).collect();
            expected.dedup();
            let most = [1, 2, 5, 11, 12, 30, 700, 5000][round % 8];
            assert_eq!(places(&data, || 1 + rng.below(most)), expected, "{round}");
        }
    }

    #[test]
    fn streams_end_where_it_closes() {
        let text = (shape("words").make)(250_000);
        let large = Settings::new().encoding(LargeBlocks::try_new(40_000).unwrap());
        for settings in [Settings::new().level(Level::FASTEST), large] {
            for text in [&text[..], b""] {
                let coded = crate::compress(text, &settings).unwrap();
                let more = [&coded[..], &[0; 100]].concat();
                for most in [1, 3, 31, 33, 1000, 1 << 20] {
                    assert_eq!(places(&coded, || most), [coded.len()]);
                    assert_eq!(places(&more, || most), [coded.len()]);
                }
            }
        }
    }
}
