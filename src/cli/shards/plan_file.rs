//! The text of a plan: a line that says what it is of, and one for each shard. Fields are separated by tabs.

use crate::cli::report::Failure;
use hybz::Level;
use hybz::shard::Shard;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// How a plan begins. (Lines with # are comments for whoever hands out shards.)
const HEAD: &str = "#hybz-plan-1";

/// A plan.
#[derive(Debug, PartialEq, Eq)]
pub struct PlanFile {
    pub level: Level,
    /// The bytes of the file that is cut.
    pub len: u64,
    pub shards: Vec<Shard>,
}

/// The first lines, of a plan for a file of so many bytes.
pub fn head(level: Level, len: u64) -> String {
    format!("{HEAD}\t{}\t{len}\n#number\toffset\tlength\tblocks\tcrc\n", level.get())
}

/// The line of a shard.
pub fn line(shard: &Shard) -> String {
    let Shard { number, offset, length, blocks, crc, .. } = shard;
    format!("{number}\t{offset}\t{length}\t{blocks}\t{crc:08x}\n")
}

impl PlanFile {
    /// Reads a complete plan.
    pub fn read(path: &Path) -> Result<PlanFile, Failure> {
        let name = path.as_os_str();
        let bytes = fs::read(path).map_err(|e| Failure::input("open", name, &e))?;
        Self::parse(&String::from_utf8_lossy(&bytes)).map_err(|what| not_a_plan(name, &what))
    }

    fn parse(text: &str) -> Result<PlanFile, String> {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let head: Vec<&str> = first.split('\t').collect();
        let head = match head[..] {
            [HEAD, level, len] => level.parse().ok().and_then(Level::try_new).zip(len.parse().ok()),
            _ => None,
        };
        let (level, len) = head.ok_or("does not begin as one")?;
        let (mut shards, mut end) = (Vec::new(), 0u64);
        for (number, line) in rest.lines().filter(|line| !line.starts_with('#')).enumerate() {
            let shard = shard(line).filter(|shard| shard.number == number as u64 && shard.offset == end);
            let shard = shard.ok_or_else(|| format!("has a line that does not follow: `{line}'"))?;
            end = shard.offset.checked_add(shard.length).ok_or("is of more bytes than there can be")?;
            shards.push(shard);
        }
        if end != len {
            return Err(format!("ends at byte {end} of {len}: it is not complete"));
        }
        Ok(PlanFile { level, len, shards })
    }
}

fn shard(line: &str) -> Option<Shard> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [number, offset, length, blocks, crc] = fields[..] else { return None };
    let number_of = |field: &str| field.parse::<u64>().ok();
    let crc = u32::from_str_radix(crc, 16).ok()?;
    let (length, blocks) = (number_of(length)?, number_of(blocks)?);
    (length > 0 && blocks > 0).then_some(())?;
    Some(Shard::new(number_of(number)?, number_of(offset)?, length, blocks, crc))
}

fn not_a_plan(name: &OsStr, what: &str) -> Failure {
    Failure::about(1, "Plan ", name, &format!(" {what}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let shards = vec![Shard::new(0, 0, 10, 1, 7), Shard::new(1, 10, 90, 2, u32::MAX)];
        let text = head(Level::BEST, 100) + &shards.iter().map(line).collect::<String>();
        assert_eq!(PlanFile::parse(&text), Ok(PlanFile { level: Level::BEST, len: 100, shards }));
        assert_eq!(PlanFile::parse(&head(Level::FASTEST, 0)).unwrap().shards, []);
        for (from, to) in
            [("#hybz-plan-1", "#hybz-plan-2"), ("\t9\t", "\t0\t"), ("\t100\n", "\t101\n"), ("\n1\t", "\n2\t")]
        {
            assert!(PlanFile::parse(&text.replacen(from, to, 1)).is_err(), "{from:?}");
        }
        for bad in ["", "x", "0\t0\t10\t1\t7\n"] {
            assert!(PlanFile::parse(bad).is_err(), "{bad:?}");
        }
    }
}
