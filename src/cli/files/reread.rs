//! `--verify=file`: source and result are read again and compared after the result is on the disk and before it gets
//! its name.
//!
//! Blocks are verified against the text as it was read. Only this check detects misread input and disk corruption. The
//! system is asked to drop both files from its cache; if it cannot (as on tmpfs), they are read from memory.

use crate::cli::files::{OutputFile, SourceFile};
use crate::cli::messages::Failure;
use hybz::read::MultiBzDecoder;
use hybz::{Pool, Settings};
use hybz_files::file;
use hybz_files::quote::shown;
use std::io::{self, Read};

pub struct Reread {
    pub source: SourceFile,
    pub pool: Pool,
}

const PIECE: usize = 1 << 20;

pub enum Trouble {
    Text(io::Error),
    Decoded(io::Error),
    /// The first byte that differs.
    Differs(u64),
}

impl Reread {
    pub fn check(&self, output: &OutputFile) -> Result<(), Failure> {
        let name = self.source.place.name();
        let changed = || Failure::about(1, "Input file ", name, " changed while it was read: its result was not kept.");
        let unreadable = |e: &io::Error| Failure::input("read", name, e);
        let source = self.source.open_again().map_err(|e| unreadable(&e))?.ok_or_else(changed)?;
        file::forget_pages(&source);
        let compared = output.read_again().map_err(Trouble::Decoded).and_then(|result| {
            let decoder = MultiBzDecoder::with_settings(result, &Settings::new().pool(&self.pool));
            compare(&source, decoder, false)
        });
        let trouble = match compared {
            Ok(()) => return Ok(()),
            Err(Trouble::Text(e)) => return Err(unreadable(&e)),
            Err(trouble) => trouble,
        };
        // Another process wrote to the file, which is not a defect of hybz.
        if !self.source.is_unchanged(&source).map_err(|e| unreadable(&e))? {
            return Err(changed());
        }
        let why = match trouble {
            Trouble::Differs(at) => format!("they differ at byte {at}"),
            Trouble::Decoded(e) if !is_damage(&e) => {
                let text = format!(" cannot be read again: {e}. There is no result.");
                return Err(Failure::about(1, "Output file ", output.path.as_os_str(), &text));
            }
            Trouble::Decoded(e) | Trouble::Text(e) => e.to_string(),
        };
        let result = shown(output.path.as_os_str());
        let result = result.display();
        let text =
            format!(" and its result {result}, read again from the disk, are not the same: {why}. There is no result.");
        Err(Failure::about(3, "Input file ", name, &text))
    }
}

pub fn is_damage(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof)
}

/// Compares a text with what a decoder returns. With `whole`, damage after a difference is found too.
pub fn compare(mut text: impl Read, mut decoder: impl Read, whole: bool) -> Result<(), Trouble> {
    let (mut expected, mut found) = (Vec::with_capacity(PIECE), Vec::with_capacity(PIECE));
    let mut at = 0;
    loop {
        expected.clear();
        found.clear();
        text.by_ref().take(PIECE as u64).read_to_end(&mut expected).map_err(Trouble::Text)?;
        decoder.by_ref().take(PIECE as u64).read_to_end(&mut found).map_err(Trouble::Decoded)?;
        if expected != found {
            let same = expected.iter().zip(&found).take_while(|(a, b)| a == b).count();
            if whole {
                io::copy(&mut decoder, &mut io::sink()).map_err(Trouble::Decoded)?;
            }
            return Err(Trouble::Differs(at + same as u64));
        }
        if expected.len() < PIECE {
            return Ok(());
        }
        at += PIECE as u64;
    }
}
