//! Grey pictures and bitmaps: the input and the output.

use std::io::{self, Write};
use std::ops::Range;

/// A grey picture: 0 is black, 255 white.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Picture {
    /// A picture of these pixels, row by row; `None` if their number is not `width * height`.
    pub fn new(width: usize, height: usize, pixels: Vec<u8>) -> Option<Picture> {
        (width.checked_mul(height) == Some(pixels.len())).then_some(Picture { width, height, pixels })
    }

    /// The columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The pixels of a row.
    pub fn row(&self, y: usize) -> &[u8] {
        &self.pixels[y * self.width..][..self.width]
    }

    /// All pixels, row by row.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Picture({} x {})", self.width, self.height)
    }
}

/// A picture of black and white in the form of a PBM file: each row begins with a new byte, its leftmost pixel is the
/// highest bit, 1 is black. Bits beyond the last column are 0.
#[derive(Clone, PartialEq, Eq)]
pub struct Bitmap {
    width: usize,
    height: usize,
    bits: Vec<u8>,
}

impl Bitmap {
    /// All white.
    pub fn white(width: usize, height: usize) -> Bitmap {
        Bitmap { width, height, bits: vec![0; width.div_ceil(8) * height] }
    }

    /// The columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The rows.
    pub fn height(&self) -> usize {
        self.height
    }

    fn stride(&self) -> usize {
        self.width.div_ceil(8)
    }

    /// The bytes of all rows.
    pub fn bits(&self) -> &[u8] {
        &self.bits
    }

    /// Whether a pixel is black.
    pub fn is_black(&self, x: usize, y: usize) -> bool {
        self.bits[y * self.stride() + x / 8] << (x % 8) & 0x80 != 0
    }

    /// Makes a pixel black.
    pub fn set_black(&mut self, x: usize, y: usize) {
        let at = y * self.stride() + x / 8;
        self.bits[at] |= 0x80 >> (x % 8);
    }

    /// Copies the black pixels of a part: `rows`, and columns from `start`, a multiple of 8, in rows of `stride` bytes.
    /// Pixels beyond the last column are left out.
    pub fn blacken(&mut self, rows: Range<usize>, start: usize, stride: usize, part: &[u8]) {
        let own = self.stride();
        let skip = (start / 8).min(own);
        for (y, from) in rows.zip(part.chunks_exact(stride.max(1))) {
            let to = &mut self.bits[y * own..][..own][skip..];
            for (to, from) in to.iter_mut().zip(from) {
                *to |= from;
            }
        }
    }

    /// Writes it as a binary PBM file (P4).
    pub fn write_pbm(&self, mut out: impl Write) -> io::Result<()> {
        write!(out, "P4\n{} {}\n", self.width, self.height)?;
        out.write_all(&self.bits)
    }
}

impl std::fmt::Debug for Bitmap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Bitmap({} x {})", self.width, self.height)
    }
}
