//! `--verify=file`: when a result is on the disk, and before it gets its name, source and result are read again and
//! compared.
//!
//! What blocks are verified against is the text as it was read. A read that went wrong, or a disk that keeps something
//! else than it was given, is seen only here. The system is asked to forget what it has in memory of both files; where
//! it cannot (tmpfs, for one), they are read from there.

use crate::cli::os::file;
use crate::cli::output::OutputFile;
use crate::cli::quote::shown;
use crate::cli::report::Failure;
use crate::cli::source::SourceFile;
use hybz::read::MultiBzDecoder;
use hybz::{Pool, Settings};
use std::io::{self, Read};

/// What it takes to read both files again.
pub struct Reread {
    pub source: SourceFile,
    pub pool: Pool,
}

/// How much is compared at once.
const PIECE: usize = 1 << 20;

/// Why the files are not known to be the same.
enum Trouble {
    Source(io::Error),
    Result(io::Error),
    /// The text differs from this byte on.
    Differs(u64),
}

impl Reread {
    /// Compares the source with what is on the disk of its result.
    pub fn check(&self, output: &OutputFile) -> Result<(), Failure> {
        let name = self.source.path.as_os_str();
        let changed = || Failure::about(1, "Input file ", name, " changed while it was read: its result was not kept.");
        let unreadable = |e: &io::Error| Failure::input("read", name, e);
        let source = self.source.open_again().map_err(|e| unreadable(&e))?.ok_or_else(changed)?;
        file::forget_pages(&source);
        let trouble = match self.compare(&source, output) {
            Ok(()) => return Ok(()),
            Err(Trouble::Source(e)) => return Err(unreadable(&e)),
            Err(trouble) => trouble,
        };
        // Somebody wrote to it: that is no defect.
        if !self.source.is_unchanged(&source).map_err(|e| unreadable(&e))? {
            return Err(changed());
        }
        let why = match trouble {
            Trouble::Differs(at) => format!("they differ at byte {at}"),
            Trouble::Result(e) | Trouble::Source(e) => e.to_string(),
        };
        let result = shown(output.path.as_os_str());
        let result = result.display();
        let text =
            format!(" and its result {result}, read again from the disk, are not the same: {why}. There is no result.");
        Err(Failure::about(3, "Input file ", name, &text))
    }

    fn compare(&self, mut source: &std::fs::File, output: &OutputFile) -> Result<(), Trouble> {
        let mut result = MultiBzDecoder::with_settings(output.read_again(), &Settings::new().pool(&self.pool));
        let (mut expected, mut found) = (vec![0; PIECE], vec![0; PIECE]);
        let mut at = 0;
        loop {
            let wanted = fill(&mut source, &mut expected).map_err(Trouble::Source)?;
            let there = fill(&mut result, &mut found).map_err(Trouble::Result)?;
            if expected[..wanted] != found[..there] {
                let same = expected[..wanted].iter().zip(&found[..there]).take_while(|(a, b)| a == b).count();
                return Err(Trouble::Differs(at + same as u64));
            }
            if wanted < PIECE {
                return Ok(());
            }
            at += PIECE as u64;
        }
    }
}

/// Reads as much as there is, up to the length of `buf`.
fn fill(reader: &mut dyn Read, buf: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < buf.len() {
        match reader.read(&mut buf[len..]) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(len)
}
