//! The `bzip2` crate (libbz2), used as the `bzip2` program uses libbz2: a judge that needs no process.

use crate::program::Refusal;
use bzip2::{Action, Compress, Compression, Decompress, Error, Status};

/// The program's output for `file`: one stream after another, until the file ends or other data follow, which are
/// ignored.
pub fn decompress(file: &[u8], limit: usize) -> Result<Vec<u8>, Refusal> {
    let mut text = Vec::new();
    let mut rest = file;
    let mut streams = 0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let mut stream = Decompress::new(false);
        loop {
            let (taken, made) = (stream.total_in(), stream.total_out());
            let status = stream.decompress(rest, &mut buffer);
            let (taken, made) = ((stream.total_in() - taken) as usize, (stream.total_out() - made) as usize);
            rest = &rest[taken..];
            text.extend_from_slice(&buffer[..made]);
            if text.len() > limit {
                return Err(Refusal::TooLong);
            }
            match status {
                Ok(Status::StreamEnd) => break,
                Ok(_) if rest.is_empty() && made < buffer.len() => return Err(Refusal::Ends),
                Ok(_) => {}
                Err(Error::DataMagic) if streams > 0 => return Ok(text),
                Err(Error::DataMagic) => return Err(Refusal::NotBzip2),
                Err(_) => return Err(Refusal::Data),
            }
        }
        streams += 1;
        if rest.is_empty() {
            return Ok(text);
        }
    }
}

/// The program's output for `text` at `level`. The program passes all of the text before it announces the end: a
/// single call that does both cuts the last block elsewhere.
pub fn compress(level: u8, text: &[u8]) -> Vec<u8> {
    compress_flushing(level, &[(text, 0)])
}

/// The program's output for a text in parts, each followed by a number of flushes.
pub fn compress_flushing(level: u8, parts: &[(&[u8], usize)]) -> Vec<u8> {
    let mut stream = Compress::new(Compression::new(level.into()), 0);
    let mut file = Vec::new();
    for &(mut rest, flushes) in parts {
        while !rest.is_empty() {
            file.reserve(1 << 16);
            let before = stream.total_in();
            stream.compress_vec(rest, &mut file, Action::Run).expect("running");
            rest = &rest[(stream.total_in() - before) as usize..];
        }
        for _ in 0..flushes {
            loop {
                file.reserve(1 << 16);
                if stream.compress_vec(&[], &mut file, Action::Flush).expect("flushing") == Status::RunOk {
                    break;
                }
            }
        }
    }
    loop {
        file.reserve(1 << 16);
        if stream.compress_vec(&[], &mut file, Action::Finish).expect("finishing") == Status::StreamEnd {
            return file;
        }
    }
}
