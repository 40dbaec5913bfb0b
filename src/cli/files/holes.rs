//! Holes in place of zeros: in a text that goes to a regular file, long runs of zeros are skipped, not written.
//!
//! The gap between the end of a file and the next write reads as zeros, and takes no space on most file systems. A run
//! begins with a whole piece of the file, so no block of the file system is written for it.

/// The shortest run that becomes a hole: the block size of most file systems.
pub const PIECE: usize = 4 << 10;

pub static ZEROS: [u8; PIECE] = [0; PIECE];

/// The position at which a file is written, and how many zeros before it have been skipped but are not in the file yet.
#[derive(Debug, Default)]
pub struct Holes {
    pub at: u64,
    pub gap: u64,
}

/// The run at the beginning of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum Run {
    Zeros(usize),
    Data(usize),
}

impl Holes {
    /// For a file written from its end, at offset `at`.
    pub fn at(at: u64) -> Holes {
        Holes { at, gap: 0 }
    }

    /// The run that these bytes begin with: zeros to skip, or bytes that must be written.
    pub fn first_run(&self, bytes: &[u8]) -> Run {
        let into_piece = (self.at % PIECE as u64) as usize;
        let head = if into_piece == 0 { 0 } else { (PIECE - into_piece).min(bytes.len()) };
        let mut zeros = 0;
        if head == 0 || (self.gap > 0 && is_zero(&bytes[..head])) {
            zeros = head;
            for piece in bytes[head..].chunks(PIECE) {
                // Fewer zeros than a piece can continue a run, but cannot begin one.
                let long = piece.len() == PIECE || self.gap > 0 || zeros > 0;
                if !long || !is_zero(piece) {
                    break;
                }
                zeros += piece.len();
            }
        }
        if zeros > 0 {
            return Run::Zeros(zeros);
        }
        let first = if head > 0 { head } else { PIECE.min(bytes.len()) };
        let next = bytes[first..].chunks_exact(PIECE).position(is_zero);
        Run::Data(next.map_or(bytes.len(), |pieces| first + pieces * PIECE))
    }

    /// Skips this many zeros.
    pub fn pass(&mut self, zeros: usize) {
        self.at += zeros as u64;
        self.gap += zeros as u64;
    }
}

/// Whether a piece is all zeros. Its first word already excludes nearly every other piece.
fn is_zero(piece: &[u8]) -> bool {
    piece.first_chunk::<8>().is_none_or(|word| *word == [0; 8]) && *piece == ZEROS[..piece.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The runs of a text written in pieces of `len` bytes to a file that ends at `from`: for each, whether it is a
    /// hole, and its length.
    fn runs(text: &[u8], len: usize, from: u64) -> Vec<(bool, usize)> {
        let (mut holes, mut found) = (Holes::at(from), Vec::<(bool, usize)>::new());
        for mut bytes in text.chunks(len) {
            while !bytes.is_empty() {
                let (hole, run) = match holes.first_run(bytes) {
                    Run::Zeros(run) => (true, run),
                    Run::Data(run) => (false, run),
                };
                if hole {
                    assert!(is_zero_all(&bytes[..run]), "only zeros are passed over");
                    holes.pass(run);
                } else {
                    (holes.at, holes.gap) = (holes.at + run as u64, 0);
                }
                match found.last_mut() {
                    Some((kind, sum)) if *kind == hole => *sum += run,
                    _ => found.push((hole, run)),
                }
                bytes = &bytes[run..];
            }
        }
        assert_eq!(holes.at, from + text.len() as u64);
        found
    }

    fn is_zero_all(bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| byte == 0)
    }

    #[test]
    fn whole_pieces_of_zeros_are_holes() {
        let text = [&[1; PIECE][..], &[0; 3 * PIECE], &[1; 10], &[0; 2 * PIECE - 11], &[1], &[0; PIECE + 1]].concat();
        let whole = [(false, PIECE), (true, 3 * PIECE), (false, 2 * PIECE), (true, PIECE + 1)];
        assert_eq!(runs(&text, text.len(), 0), whole);
        assert_eq!(runs(&text, 2 * PIECE, 0), whole);
        // When writing begins at offset 100, pieces end elsewhere: the hole begins with the next whole piece.
        assert_eq!(runs(&text, text.len(), 100)[..2], [(false, 2 * PIECE - 100), (true, 2 * PIECE)]);
    }

    #[test]
    fn short_runs_are_data() {
        assert_eq!(runs(&[0; PIECE - 1], PIECE, 0), [(false, PIECE - 1)]);
        assert_eq!(runs(&[0; PIECE], PIECE, 0), [(true, PIECE)]);
        assert_eq!(runs(&[0; PIECE], PIECE, 1), [(false, PIECE)]);
        let nearly = [&[0; 2 * PIECE - 1][..], &[1]].concat();
        assert_eq!(runs(&nearly, nearly.len(), 0), [(true, PIECE), (false, PIECE)]);
        assert_eq!(Holes::default().first_run(b""), Run::Data(0));
    }

    #[test]
    fn writes_of_any_length_are_taken() {
        let mut text = vec![0; 50_000];
        for at in [0, 9_000, 9_001, 30_000, 49_999] {
            text[at] = 7;
        }
        for len in [1, 7, 4095, 4096, 4097, 10_000, 50_000] {
            for from in [0, 1, 4095, 4096, 123_456] {
                runs(&text, len, from);
            }
        }
    }
}
