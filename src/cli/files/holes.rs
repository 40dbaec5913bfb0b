//! Holes in place of zeros: in a text that goes to a regular file, long runs of zeros are skipped, not written.
//!
//! The gap between the end of a file and the next write reads as zeros, and takes no space on most file systems. A run
//! begins with a whole piece of the file, so no block of the file system is written for it.

/// The shortest run that becomes a hole: the block size of most file systems.
const PIECE: usize = 4 << 10;

/// The position at which a file is written, and how many zeros before it have been skipped but are not in the file yet.
#[derive(Debug, Default)]
pub struct Holes {
    pub at: u64,
    pub gap: u64,
}

/// The run at the beginning of some bytes.
pub enum Run {
    Zeros(usize),
    Data(usize),
}

impl Holes {
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

    pub fn pass(&mut self, zeros: usize) {
        self.at += zeros as u64;
        self.gap += zeros as u64;
    }
}

/// Whether a piece is all zeros. Its first word already excludes nearly every other piece.
fn is_zero(piece: &[u8]) -> bool {
    piece.first_chunk::<8>().is_none_or(|word| *word == [0; 8]) && *piece == [0; PIECE][..piece.len()]
}
