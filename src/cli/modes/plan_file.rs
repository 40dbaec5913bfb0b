//! The text of a plan: a head, a line for each shard, and an end. Fields are separated by tabs.
//!
//! The last field of these lines is a check: bzip2's CRC-32 of all these lines so far, each without its check and the
//! tab before the check. It detects a line that was changed, swapped, removed or doubled. The end has the combined CRC
//! of the whole text, which must also follow from the CRCs and block counts of the shards.

use crate::cli::files::Reader;
use crate::cli::messages::Failure;
use anyhow::{Context as _, anyhow, bail};
use hybz::Level;
use hybz::internals::crc::Crc;
use hybz::shard::Shard;
use hybz_files::file;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The beginning of a plan. (Lines with # are comments for programs that hand out shards.)
const HEAD: &str = "#hybz-plan-2";
/// The constant line after the head, which needs no check.
const NAMES: &[u8] = b"#number\toffset\tlength\tblocks\tcrc\tcheck\n";
const END: &str = "#end";
/// More bytes than the longest line has.
const MAX_LINE: u64 = 128;
/// The number of characters shown of a wrong line.
const MAX_SHOWN: usize = 60;

#[derive(Debug, PartialEq, Eq)]
pub struct PlanFile {
    pub level: Level,
    /// The length in bytes of the file that is cut.
    pub len: u64,
    /// The combined CRC of all blocks.
    pub crc: u32,
    pub shards: Vec<Shard>,
}

#[derive(Default)]
pub struct Lines(Crc);

impl Lines {
    pub fn head(&mut self, level: Level, len: u64) -> Vec<u8> {
        let head = self.checked(&format!("{HEAD}\t{}\t{len}", level.get()));
        [head.as_bytes(), NAMES].concat()
    }

    pub fn shard(&mut self, shard: &Shard) -> String {
        let Shard { number, offset, length, blocks, crc, .. } = shard;
        self.checked(&format!("{number}\t{offset}\t{length}\t{blocks}\t{crc:08x}"))
    }

    pub fn end(&mut self, crc: u32) -> String {
        self.checked(&format!("{END}\t{crc:08x}"))
    }

    fn checked(&mut self, fields: &str) -> String {
        self.0.update(fields.as_bytes());
        self.0.update(b"\n");
        format!("{fields}\t{:08x}\n", self.0.finish())
    }
}

impl PlanFile {
    /// Reads a complete plan. A pipe is read to its end, and refused if it has no writer.
    pub fn read(path: &Path) -> Result<PlanFile, Failure> {
        let name = path.as_os_str();
        let unopened = |e: &io::Error| Failure::input("open", name, e);
        let (file, found) = file::open_at_once(path, true).map_err(|e| unopened(&e))?;
        let file = file.ok_or_else(|| unopened(&file::not_found()))?;
        if found.is_dir() {
            return Err(unopened(&file::is_a_directory()));
        }
        let mut reader = BufReader::new(Reader::at_once(file));
        // A FIFO opened without blocking reads as empty until it has a writer.
        if found.file_type().is_fifo() && reader.fill_buf().is_ok_and(<[u8]>::is_empty) {
            return Err(not_a_plan(name, "is a FIFO without a writer"));
        }
        Self::parse(reader).map_err(|refused| match refused.downcast() {
            Ok(e) => Failure::input("read", name, &e),
            Err(what) => not_a_plan(name, &what.to_string()),
        })
    }

    fn parse(mut reader: impl BufRead) -> anyhow::Result<PlanFile> {
        let mut lines = Lines::default();
        let first = next_line(&mut reader)?;
        let (level, len) = head(&first)?;
        let found = [first, next_line(&mut reader)?].concat();
        if found != lines.head(level, len) {
            bail!("does not begin as a plan, or its first lines have changed");
        }
        let (mut shards, mut end, mut combined) = (Vec::new(), 0u64, 0u32);
        loop {
            let line = next_line(&mut reader)?;
            let fields = fields(&line);
            if let [END, crc, _] = fields[..] {
                let crc = u32::from_str_radix(crc, 16).ok();
                let crc =
                    crc.filter(|&crc| lines.end(crc).as_bytes() == line).ok_or_else(|| unlike(&line, end, len))?;
                match next_line(&mut reader)? {
                    _ if end != len => bail!(unlike(b"", end, len)),
                    _ if combined != crc => bail!("has shards whose CRCs do not give the CRC of the whole"),
                    rest if !rest.is_empty() => bail!("goes on after its end"),
                    _ => return Ok(PlanFile { level, len, crc, shards }),
                }
            }
            let follows = |shard: &Shard| shard.number == shards.len() as u64 && shard.offset == end;
            // The numbers are compared as text, so only one spelling of a number is accepted.
            let is_right = |shard: &Shard| follows(shard) && lines.shard(shard).as_bytes() == line;
            let shard = shard(&fields).filter(is_right).ok_or_else(|| unlike(&line, end, len))?;
            end = end.checked_add(shard.length).context("has more bytes than are possible")?;
            combined = combined.rotate_left((shard.blocks % 32) as u32) ^ shard.crc;
            shards.push(shard);
        }
    }
}

/// Reads a line with its line end. If a line is too long, reads more bytes than a valid line can have. Empty at the end
/// of the file.
fn next_line(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
    Ok(line)
}

/// The fields of a line, which must end with a line end.
fn fields(line: &[u8]) -> Vec<&str> {
    str::from_utf8(line.strip_suffix(b"\n").unwrap_or_default()).unwrap_or_default().split('\t').collect()
}

fn head(line: &[u8]) -> anyhow::Result<(Level, u64)> {
    let head = match fields(line)[..] {
        [HEAD, level, len, _] => level.parse().ok().and_then(Level::try_new).zip(len.parse().ok()),
        _ => None,
    };
    head.context("does not begin as a plan")
}

fn shard(fields: &[&str]) -> Option<Shard> {
    let &[number, offset, length, blocks, crc, _] = fields else { return None };
    let number_of = |field: &str| field.parse::<u64>().ok();
    let (length, blocks) = (number_of(length)?, number_of(blocks)?);
    (length > 0 && blocks > 0).then_some(())?;
    Some(Shard::new(number_of(number)?, number_of(offset)?, length, blocks, u32::from_str_radix(crc, 16).ok()?))
}

/// Why the plan is not right at this line, after shards up to byte `end`. The line is shown without characters that
/// control a terminal.
fn unlike(line: &[u8], end: u64, len: u64) -> anyhow::Error {
    let text = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line));
    let shown = |c: char| if c.is_control() && c != '\t' { '?' } else { c };
    match line {
        [] if end == len => anyhow!("has no line {END}: it is not complete"),
        [] => anyhow!("ends at byte {end} of {len}: it is not complete"),
        _ => anyhow!(
            "has a line that does not follow: `{}'",
            text.chars().take(MAX_SHOWN).map(shown).collect::<String>()
        ),
    }
}

fn not_a_plan(name: &OsStr, what: &str) -> Failure {
    Failure::about(1, "Plan ", name, &format!(" {what}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(level: Level, len: u64, shards: &[Shard], crc: u32) -> Vec<u8> {
        let mut lines = Lines::default();
        let mut text = lines.head(level, len);
        shards.iter().for_each(|shard| text.extend(lines.shard(shard).bytes()));
        text.extend(lines.end(crc).bytes());
        text
    }

    fn example() -> (Vec<Shard>, u32) {
        let shards = vec![Shard::new(0, 0, 10, 1, 7), Shard::new(1, 10, 90, 2, u32::MAX), Shard::new(2, 100, 5, 1, 7)];
        (shards, ((7u32.rotate_left(2) ^ u32::MAX).rotate_left(1)) ^ 7)
    }

    fn refused(text: &[u8]) -> String {
        PlanFile::parse(text).expect_err(&String::from_utf8_lossy(text)).to_string()
    }

    #[test]
    fn what_is_written_is_read() {
        let (shards, crc) = example();
        let plan = text(Level::BEST, 105, &shards, crc);
        assert_eq!(PlanFile::parse(&plan[..]).unwrap(), PlanFile { level: Level::BEST, len: 105, crc, shards });
        assert_eq!(PlanFile::parse(&text(Level::FASTEST, 0, &[], 0)[..]).unwrap().shards, []);
        // The longest possible lines.
        let longest = Shard::new(0, 0, u64::MAX, u64::MAX, u32::MAX);
        let plan = text(Level::BEST, u64::MAX, &[longest], u32::MAX);
        assert_eq!(PlanFile::parse(&plan[..]).unwrap().shards, [longest]);
        assert!(
            Lines::default().shard(&Shard::new(u64::MAX, u64::MAX, u64::MAX, u64::MAX, 0)).len() < MAX_LINE as usize
        );
    }

    #[test]
    fn whatever_has_changed_is_refused() {
        let (shards, crc) = example();
        let plan = text(Level::BEST, 105, &shards, crc);
        for at in 0..plan.len() {
            let (before, after) = (&plan[..at], &plan[at + 1..]);
            (0..8).for_each(|bit| drop(refused(&[before, &[plan[at] ^ 1 << bit], after].concat())));
            refused(before);
            refused(&[before, after].concat());
        }
        let lines: Vec<&[u8]> = plan.split_inclusive(|&byte| byte == b'\n').collect();
        for a in 0..lines.len() {
            let (before, after) = (lines[..a].concat(), lines[a + 1..].concat());
            refused(&[&before[..], lines[a], lines[a], &after].concat());
            refused(&[&before[..], b"#\n", lines[a], &after].concat());
            refused(&[&before[..], &after].concat());
            for b in a + 1..lines.len() {
                let mut swapped = lines.clone();
                swapped.swap(a, b);
                refused(&swapped.concat());
            }
        }
        assert_eq!(refused(&[&plan[..], b"x"].concat()), "goes on after its end");
    }

    #[test]
    fn what_is_no_plan() {
        for bad in
            ["", "x", "0\t0\t10\t1\t7\n", "#hybz-plan-2", "#hybz-plan-1\t9\t0\n", "#hybz-plan-3\t9\t0\t00000000\n"]
        {
            assert_eq!(refused(bad.as_bytes()), "does not begin as a plan", "{bad:?}");
        }
        // Valid checks alone do not make a plan right.
        let huge = [Shard::new(0, 0, u64::MAX, 1, 0), Shard::new(1, u64::MAX, 1, 1, 0)];
        assert_eq!(refused(&text(Level::BEST, 0, &huge, 0)), "has more bytes than are possible");
    }
}
