//! Reads codes, and copies strings to the end of the text.

/// The number of bytes copied in one step.
const CHUNK: usize = 16;
/// The number of bytes after a string that the fast copy may overwrite.
pub const SLACK: usize = 2 * CHUNK;

/// Eight bytes of `bytes` from `at` on, with zeros past the end.
#[inline(always)]
pub fn eight(bytes: &[u8], at: usize) -> [u8; 8] {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(eight) => *eight,
        None => last_bytes(bytes, at),
    }
}

#[cold]
fn last_bytes(bytes: &[u8], at: usize) -> [u8; 8] {
    let mut eight = [0; 8];
    let rest = &bytes[at.min(bytes.len())..];
    let n = rest.len().min(8);
    eight[..n].copy_from_slice(&rest[..n]);
    eight
}

/// Copies the `len` bytes at `from` to `to`, in chunks. There must be [`SLACK`] bytes after the copy, which may be
/// overwritten. The last byte of the source may be the first byte of the copy, for a string that is one byte longer
/// than the one before it; the copy's last byte then gets the value of its first byte.
#[inline(always)]
pub fn string(text: &mut [u8], from: usize, to: usize, len: usize) {
    let mut done = 0;
    loop {
        let chunk: [u8; CHUNK] = text[from + done..][..CHUNK].try_into().unwrap_or_default();
        text[to + done..][..CHUNK].copy_from_slice(&chunk);
        done += CHUNK;
        if done >= len {
            break;
        }
    }
    // If the last byte of the source is the first byte of the copy, it was not yet written when it was read.
    text[to + len - 1] = text[from + len - 1];
}

/// Copies the first `len` bytes of `from` to `to`. Both have [`SLACK`] bytes after them; those of `to` are overwritten.
#[inline(always)]
pub(super) fn between(from: &[u8], to: &mut [u8], len: usize) {
    let mut done = 0;
    loop {
        let chunk: [u8; CHUNK] = from[done..][..CHUNK].try_into().unwrap_or_default();
        to[done..][..CHUNK].copy_from_slice(&chunk);
        done += CHUNK;
        if done >= len {
            return;
        }
    }
}
