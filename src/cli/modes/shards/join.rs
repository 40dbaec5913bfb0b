//! `--join`: finds out which part belongs to which shard, and writes their blocks, one after the other.
//!
//! The combined CRC of a part tells to which shard the part belongs. Shards of the same text have the same parts, so
//! these are interchangeable.

use super::meanwhile::write_meanwhile;
use super::{create, write_trouble};
use crate::cli::args::{Operand, Plan};
use crate::cli::files::is_still;
use crate::cli::messages::{Failure, Messages, Note};
use crate::cli::modes::limits;
use crate::cli::modes::plan_file::PlanFile;
use crate::cli::modes::single::{self, Trouble};
use hybz::read::MultiBzDecoder;
use hybz::shard::{Joiner, Part, Shard};
use hybz::{Error, Level, Settings};
use hybz_files::file;
use hybz_files::quote::shown;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

const NAMED: usize = 10;

pub fn join(plan: &Plan, messages: &Messages) -> Result<(), Trouble> {
    let plan_path = Path::new(plan.join.as_deref().unwrap_or_default());
    let PlanFile { level, crc, shards, .. } = PlanFile::read(plan_path)?;
    // An output that cannot be made is reported before all parts are examined.
    let mut out = create(plan, Some(plan_path), None)?;
    let parts = sorted(plan, level, &shards, messages).ok_or(Trouble::Said)?;
    if plan.verifies() {
        let settings = Settings::new().pool(&limits::pool(plan));
        shards.iter().zip(&parts).try_for_each(|(shard, part)| check(shard, part.path, &settings))?;
    }
    let (joined, written) = write_meanwhile(&mut out, |out| {
        // Parts are opened one at a time, because there may be more parts than descriptors.
        let mut joiner = Joiner::new(level, out);
        for (shard, part) in shards.iter().zip(&parts) {
            let file = part.again(level, shard)?;
            joiner.part(shard, &file).map_err(|error| trouble(plan, part.path.as_os_str(), error))?;
            part.check_unchanged(&file)?;
        }
        // This happens before the stream gets its end and the file its name.
        if joiner.crc() != crc {
            let text = format!(" states the CRC {crc:08x}, but the blocks of the parts have {:08x}.", joiner.crc());
            return Err(Failure::about(1, "Plan ", plan_path.as_os_str(), &text).into());
        }
        joiner.finish().map(drop).map_err(|error| trouble(plan, OsStr::new("(none)"), error))
    });
    written.map_err(|e| write_trouble(plan, &e))?;
    joined?;
    single::finish(out, None, plan)
}

struct Examined<'a> {
    path: &'a Path,
    found: Metadata,
}

impl Examined<'_> {
    /// Opens the part again, which must still be of this shard.
    fn again(&self, level: Level, shard: &Shard) -> Result<File, Failure> {
        let (file, part, _) = open(self.path)?;
        if (part.level, part.crc) != (level, shard.crc) {
            return Err(Failure::about(1, "Part ", self.path.as_os_str(), " has changed."));
        }
        self.check_unchanged(&file).map(|()| file)
    }

    /// Checks that the file is the one that was examined, and that it has not been written to since then: the code
    /// that was read is then the code that was examined, and with `--verify` decoded.
    fn check_unchanged(&self, file: &File) -> Result<(), Failure> {
        let now = rustix::fs::fstat(file).map_err(|e| Failure::input("read", self.path.as_os_str(), &e.into()))?;
        if is_still(&self.found, &now) {
            return Ok(());
        }
        Err(Failure::about(1, "Part ", self.path.as_os_str(), " has changed."))
    }
}

/// The parts in the order of the shards; `None` if not every shard has exactly one part. Every fault has then been
/// printed.
fn sorted<'a>(plan: &'a Plan, level: Level, shards: &[Shard], messages: &Messages) -> Option<Vec<Examined<'a>>> {
    let mut of_crc: HashMap<u32, Vec<usize>> = HashMap::new();
    // The shards are pushed in reverse, because they are popped from the end.
    shards.iter().enumerate().rev().for_each(|(at, shard)| of_crc.entry(shard.crc).or_default().push(at));
    let mut parts: Vec<Option<Examined<'_>>> = shards.iter().map(|_| None).collect();
    let mut wrong = false;
    let mut say = |failure: Failure| {
        wrong = true;
        messages.print(&Note::Failure(failure));
    };
    for path in plan.operands.iter().filter_map(Operand::path) {
        let is = |what: &str| Failure::about(1, "Part ", path.as_os_str(), what);
        match open(path) {
            Err(failure) => say(failure),
            Ok((_, part, _)) if part.level != level => {
                let levels = (part.level.get(), level.get());
                say(is(&format!(" has level {}, but the plan has level {}.", levels.0, levels.1)));
            }
            Ok((_, part, found)) => match of_crc.get_mut(&part.crc).map(Vec::pop) {
                Some(Some(shard)) => parts[shard] = Some(Examined { path, found }),
                None => {
                    say(is(" belongs to no shard of the plan: it belongs to another plan, or its file has changed."))
                }
                Some(None) => {
                    let shard = shards.iter().position(|shard| shard.crc == part.crc).unwrap_or(0);
                    let other = parts[shard].as_ref().map_or(path, |other| other.path);
                    let other = shown(other.as_os_str());
                    say(is(&format!(" belongs to shard {shard}, and so does {}.", other.display())));
                }
            },
        }
    }
    let missing = parts.iter().enumerate().filter(|(_, part)| part.is_none()).map(|(shard, _)| shard.to_string());
    let missing: Vec<String> = missing.collect();
    if !missing.is_empty() {
        let (named, others) = missing.split_at(missing.len().min(NAMED));
        let others = if others.is_empty() { "" } else { " and others" };
        let (count, all, named) = (missing.len(), parts.len(), named.join(", "));
        say(Failure::new(1, format!("No part for {count} of {all} shards: {named}{others}.").into()));
    }
    if wrong { None } else { parts.into_iter().collect() }
}

/// Opens the file of a part, and does not wait for the writer of a FIFO.
fn open_file(path: &Path) -> Result<File, Failure> {
    let name = path.as_os_str();
    let file = file::open_regular(path).map_err(|e| Failure::input("open", name, &e))?;
    file.ok_or_else(|| Failure::about(1, "Part ", name, " is not a normal file."))
}

fn open(path: &Path) -> Result<(File, Part, Metadata), Failure> {
    let name = path.as_os_str();
    let file = open_file(path)?;
    let found = file.metadata().map_err(|e| Failure::input("read", name, &e))?;
    let part = Part::open(&file).map_err(|error| match error {
        Error::Read(e) => Failure::input("read", name, &e),
        Error::NotBzip2 => Failure::about(1, "Part ", name, " is not a .bz2 file."),
        _ => Failure::about(1, "Part ", name, " does not end as a .bz2 file: it is cut, or other data follow."),
    })?;
    Ok((file, part, found))
}

/// Decodes a part. (Its CRCs are then known to be right, and combined they give the shard's.)
fn check(shard: &Shard, path: &Path, settings: &Settings) -> Result<(), Failure> {
    let name = path.as_os_str();
    let file = open_file(path)?;
    let mut decoder = MultiBzDecoder::with_settings(file, settings);
    let decoded = io::copy(&mut decoder, &mut io::sink());
    let decoded = decoded.map_err(|e| Failure::about(1, "Part ", name, &format!(" is damaged: {e}.")))?;
    let found = decoder.summary();
    if (decoded, found.blocks, found.streams) == (shard.length, shard.blocks, 1) {
        return Ok(());
    }
    let text = format!(" does not belong to shard {}, although it has its CRC.", shard.number);
    Err(Failure::about(1, "Part ", name, &text))
}

fn trouble(plan: &Plan, name: &OsStr, error: Error) -> Trouble {
    match error {
        Error::Read(e) => Failure::input("read", name, &e).into(),
        Error::Write(e) => write_trouble(plan, &e),
        error => Failure::about(1, "Part ", name, &format!(" has changed: {error}.")).into(),
    }
}
