//! The program `bzip2recover`, if hybz is called by that name: its arguments, files, messages and exit codes.
//!
//! Like bzip2recover, it decodes and checks nothing: the bits between two magics become a file. Unlike bzip2recover,
//! whose limit is 50,000, it has no limit on the number of blocks.

use crate::cli::messages::errno_text;
use hybz::internals::bits::{BitWriter, append_bits_from};
use hybz::internals::recover::Marks;
use hybz::{Error, ReadAt};
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::prelude::*;

const MAX_NAME: usize = 1980;
/// bzip2recover counts data as a block if more bits than this follow the magic.
const MIN_BITS: u64 = 130;
/// The rest at the end of the file is mentioned if it has at least this many bits.
const MIN_REST: u64 = 40;
const BLOCK_MAGIC: u64 = 0x3141_5926_5359;
const END_MAGIC: u64 = 0x1772_4538_5090;

/// The reason for exit code 1, as the message that is printed.
struct Ends(Vec<u8>);

/// The bits between two magics: the positions of the first and the last bit.
type BlockBits = (u64, u64);

pub fn run(called: &OsStr, words: impl Iterator<Item = OsString>) -> u8 {
    say(b"bzip2recover 1.0.8: extracts blocks from damaged .bz2 files.\n");
    match extract(called.as_bytes(), &words.collect::<Vec<_>>()) {
        Ok(()) => 0,
        Err(Ends(text)) => {
            say(&text);
            1
        }
    }
}

fn say(text: &[u8]) {
    // If stderr fails, there is nowhere to report it.
    let _ = io::stderr().write_all(text);
}

fn extract(program: &[u8], words: &[OsString]) -> Result<(), Ends> {
    let ends = |parts: &[&[u8]]| Ends([&[program, b": "], parts, &[b"\n"]].concat().concat());
    let [name] = words else {
        let usage = b"\trestrictions on size of recovered file: None";
        return Err(ends(&[b"usage is `", program, b" damaged_file_name'.\n", usage]));
    };
    let name = name.as_bytes();
    if name.len() >= MAX_NAME {
        let len = name.len().to_string();
        return Err(ends(&[b"supplied filename is suspiciously (>= ", len.as_bytes(), b" chars) long.  Bye!"]));
    }
    let file = File::open(OsStr::from_bytes(name)).map_err(|_| ends(&[b"can't read `", name, b"'"]))?;
    say(&[program, b": searching for block boundaries ...\n"].concat());
    let failed = |e: &io::Error| {
        let (why, prefix) = (errno_text(e), [b"\n", program, b": "].concat());
        let rest = [&prefix, why.as_bytes(), &prefix, b"warning: output file(s) may be incomplete."].concat();
        ends(&[b"I/O error reading `", name, b"', possible reason follows.", &rest])
    };
    let blocks = find(&file).map_err(|error| failed(&error.into()))?;
    if blocks.is_empty() {
        return Err(ends(&[b"sorry, I couldn't find any block boundaries."]));
    }
    say(&[program, b": splitting into blocks\n"].concat());
    for (number, &(first, last)) in (1..).zip(&blocks) {
        // No bit lies between the two magics: bzip2recover counts such a pair, but makes no file of it.
        if last < first {
            continue;
        }
        let result = result_name(name, number);
        say(&[format!("   writing block {number} to `").as_bytes(), result.as_bytes(), b"' ...\n"].concat());
        let options = OpenOptions::new().write(true).create_new(true).mode(0o600).clone();
        let cannot = || ends(&[b"can't write `", result.as_bytes(), b"'"]);
        let mut out = options.open(&result).map_err(|_| cannot())?;
        let bytes = block(&file, first, last).map_err(|e| failed(&e))?;
        out.write_all(&bytes).map_err(|e| failed(&e))?;
    }
    say(&[program, b": finished\n"].concat());
    Ok(())
}

fn find(file: &File) -> Result<Vec<BlockBits>, Error> {
    let mut blocks = Vec::new();
    // The number of magics so far, and the end of the last one.
    let (mut magics, mut first) = (0u64, 0);
    for mark in Marks::new(file, 0) {
        let bit = mark?.bit;
        let last = bit.saturating_sub(1);
        if magics > 0 && last.wrapping_sub(first) >= MIN_BITS {
            blocks.push((first, last));
            say(format!("   block {} runs from {first} to {last}\n", blocks.len()).as_bytes());
        }
        (magics, first) = (magics + 1, bit + 48);
    }
    let end = file.len().saturating_mul(8);
    if magics > 0 && end.saturating_add(1) >= first + MIN_REST {
        say(format!("   block {magics} runs from {first} to {end} (incomplete)\n").as_bytes());
    }
    Ok(blocks)
}

/// `rec00001NAME.bz2` in the directory of NAME.
pub fn result_name(name: &[u8], number: u64) -> OsString {
    let base = name.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let number = format!("rec{number:05}");
    let suffix: &[u8] = if name.ends_with(b".bz2") { b"" } else { b".bz2" };
    OsString::from_vec([&name[..base], number.as_bytes(), &name[base..], suffix].concat())
}

/// A stream of one block, from the bits after the block's magic. The stream's CRC is the block's own.
fn block(file: &File, first: u64, last: u64) -> io::Result<Vec<u8>> {
    let (begin, end) = (first / 8, last / 8 + 1);
    let mut bytes = vec![0; (end - begin) as usize];
    file.read_exact_at(&mut bytes, begin)?;
    let mut bits = BitWriter::with_capacity(bytes.len() as u64 * 8 + 256);
    b"BZh9".iter().for_each(|&byte| bits.write(byte.into(), 8));
    bits.write(BLOCK_MAGIC, 48);
    append_bits_from(&mut bits, &bytes, first % 8, last - first + 1);
    bits.write(END_MAGIC, 48);
    append_bits_from(&mut bits, &bytes, first % 8, 32);
    Ok(bits.finish())
}
