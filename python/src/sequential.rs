//! The decoder that goes through a file from its beginning on, and text that a reader holds for small reads.

use crate::source::{Cursor, Shared};
use hybz::Settings;
use hybz::index::Recorder;
use hybz::read::MultiBzDecoder;
use std::io::{self, Read};

/// The decoder that goes through the file.
pub(crate) struct Sequential {
    pub decoder: MultiBzDecoder<Cursor>,
    /// Its position in the text.
    pub at: u64,
    /// Text that was decoded to learn where a block ends.
    ahead: AtHand,
}

impl Sequential {
    pub fn new(source: &Shared, settings: &Settings) -> Sequential {
        let decoder = MultiBzDecoder::recording(Cursor::new(source), settings);
        Sequential { decoder, at: 0, ahead: AtHand::default() }
    }

    pub fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut n = self.ahead.text().read(buf)?;
        self.ahead.consume(n);
        if self.ahead.text().is_empty() {
            self.ahead = AtHand::default();
            n = if n == 0 { self.decoder.read(buf)? } else { n };
        }
        self.at += n as u64;
        Ok(n)
    }

    /// Decodes some more without handing it out. Returns whether there was any.
    pub fn read_ahead(&mut self, scratch: &mut [u8]) -> io::Result<bool> {
        let n = self.decoder.read(scratch)?;
        self.ahead.text.extend_from_slice(&scratch[..n]);
        Ok(n > 0)
    }

    pub fn recorder(&self) -> Option<&Recorder> {
        self.decoder.recorder()
    }
}

/// Text that follows the position, from which small reads are served directly.
#[derive(Default)]
pub(crate) struct AtHand {
    text: Vec<u8>,
    begin: usize,
}

impl AtHand {
    /// This text.
    pub fn new(text: Vec<u8>) -> AtHand {
        AtHand { text, begin: 0 }
    }

    /// The text that is left.
    pub fn text(&self) -> &[u8] {
        &self.text[self.begin..]
    }

    /// Records that the first `n` bytes are used.
    pub fn consume(&mut self, n: usize) {
        self.begin += n;
    }

    /// Fills the memory with up to this many of the next bytes. All earlier bytes must have been used.
    pub fn fill<E>(&mut self, most: usize, fill: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<(), E> {
        let mut text = std::mem::take(&mut self.text);
        self.begin = 0;
        text.resize(most, 0);
        let n = fill(&mut text)?;
        text.truncate(n);
        self.text = text;
        Ok(())
    }

    /// Records that the position has moved by this many bytes forward, or to another place.
    pub fn moved(&mut self, forward: Option<u64>) {
        match forward.and_then(|by| usize::try_from(by).ok()).filter(|by| *by <= self.text().len()) {
            Some(by) => self.begin += by,
            None => (self.text, self.begin) = (Vec::new(), 0),
        }
    }
}
