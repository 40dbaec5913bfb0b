//! The first step of coding: makes the run-length-coded bytes of a block from text, and ends it where bzip2 does.
//!
//! bzip2 holds the last run back until a byte that differs comes, and checks whether the block is full before it takes
//! each byte. Stretches without runs of four are copied as a whole here, up to the last place at which the block
//! cannot be full.

use hybz::internals::codec::run_length::find_run;
use hybz::internals::crc::Crc;

/// The longest run.
const MAX_RUN: usize = 255;

/// A block as it fills.
#[derive(Default)]
pub struct Input {
    /// The block, run-length-coded.
    pub block: Vec<u8>,
    /// The length at which a block is full.
    pub full: usize,
    /// The CRC of the text in `block`.
    crc: Crc,
    /// The run that is held back.
    byte: u8,
    len: usize,
}

impl Input {
    /// A block that is full at this length.
    pub fn new(full: usize) -> Self {
        Input { full, ..Self::default() }
    }

    /// Whether no run is held back.
    pub fn is_drained(&self) -> bool {
        self.len == 0
    }

    /// Whether the block takes no more text.
    pub fn is_full(&self) -> bool {
        self.block.len() >= self.full
    }

    /// How long the block may get when it takes `len` bytes of text.
    pub fn len_after(&self, len: usize) -> usize {
        (self.block.len() + len + len / 4 + 10).min(self.full + 5)
    }

    /// Adds the run that is held back.
    pub fn drain(&mut self) {
        self.crc.update(&[self.byte; MAX_RUN][..self.len]);
        self.push_run();
    }

    /// Returns the CRC of the block's text and begins anew.
    pub fn take_crc(&mut self) -> u32 {
        std::mem::take(&mut self.crc).finish()
    }

    /// Adds the run to the block, without its CRC.
    fn push_run(&mut self) {
        let Input { block, byte, len, .. } = self;
        block.extend_from_slice(&[*byte; 4][..(*len).min(4)]);
        if *len >= 4 {
            block.push((*len - 4) as u8);
        }
        *len = 0;
    }

    /// Takes text until the block is full. Returns the number of bytes taken.
    pub fn take(&mut self, text: &[u8]) -> usize {
        // A run from an earlier call has no CRC yet.
        let earlier = (self.len, self.byte);
        let mut begun = earlier.0 == 0;
        let mut at = 0;
        while at < text.len() && !self.is_full() {
            if self.len > 0 {
                let room = MAX_RUN - self.len;
                let same = text[at..].iter().take(room).take_while(|&&byte| byte == self.byte).count();
                self.len += same;
                at += same;
                if at == text.len() {
                    break;
                }
                if !begun {
                    self.crc.update(&[earlier.1; MAX_RUN][..earlier.0]);
                    // What this call has added to that run is in `text`.
                    begun = true;
                }
                self.push_run();
            }
            at = self.take_stretch(text, at);
        }
        if begun {
            self.crc.update(&text[..at - self.len]);
        }
        at
    }

    /// Takes the byte at `at`, with which a run begins, and the stretch without long runs after it.
    fn take_stretch(&mut self, text: &[u8], at: usize) -> usize {
        let room = self.full.saturating_sub(self.block.len()).max(1);
        let window = &text[at..text.len().min(at + room)];
        let (literal, run) = match find_run(window, 0) {
            Some(run) => (run, 1),
            None => {
                let last = window[window.len() - 1];
                let run = window.iter().rev().take_while(|&&byte| byte == last).count();
                (window.len() - run, run)
            }
        };
        self.block.extend_from_slice(&window[..literal]);
        (self.byte, self.len) = (window[literal], run);
        at + literal + run
    }
}
