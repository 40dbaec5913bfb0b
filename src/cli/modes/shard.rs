//! `--shard`: the part of a file that is compressed.

use super::plan_file::PlanFile;
use super::single;
use crate::cli::args::{Coding, Plan, Target};
use crate::cli::files::{Place, check_file};
use crate::cli::messages::Failure;
use hybz::ReadAt;
use hybz::shard::Shard;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

/// Reads the plan of the shards. `plan` then compresses the shard that `--shard` asks for.
pub fn read_plan(plan: &mut Plan) -> Result<(), Failure> {
    let (path, number) = (Path::new(plan.plan_file.as_deref().unwrap_or_default()), plan.shard.unwrap_or_default());
    // The file to compress is not open yet; it is checked later.
    let place = place_of(&plan.target, None)?;
    single::check(place.as_ref(), inputs([path]), true)?;
    let PlanFile { level, len, shards, .. } = PlanFile::read(path)?;
    let count = shards.len();
    let found = usize::try_from(number).ok().and_then(|number| shards.get(number));
    let none = || Failure::about(1, "Plan ", path.as_os_str(), &format!(" has {count} shards, but no shard {number}."));
    plan.part = Some((*found.ok_or_else(none)?, len));
    plan.coding = Some(Coding::of_level(level));
    Ok(())
}

pub struct UpTo {
    file: File,
    end: u64,
}

impl ReadAt for UpTo {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let most = self.end.saturating_sub(offset).min(buf.len() as u64) as usize;
        self.file.read_at(&mut buf[..most], offset)
    }

    fn len(&self) -> u64 {
        self.end
    }
}

/// The text of a shard of a file that must have this length: what has been appended since the plan was made would be
/// missing in the joined file.
pub fn text(name: &OsStr, mut file: File, shard: &Shard, file_len: u64) -> Result<UpTo, Failure> {
    check_file(name, &mut file, "--shard")?;
    let read_error = |e: &io::Error| Failure::input("read", name, e);
    if file.metadata().map_err(|e| read_error(&e))?.len() != file_len {
        return Err(read_error(&changed(shard)));
    }
    Ok(UpTo { file, end: shard.offset + shard.length })
}

pub fn changed(shard: &Shard) -> io::Error {
    let number = shard.number;
    io::Error::other(format!("shard {number} differs from the plan: the file has changed, or is another one"))
}

pub fn place_of(target: &Target, source: Option<&Place>) -> Result<Option<Place>, Failure> {
    let Target::File(path) = target else { return Ok(None) };
    Place::opened(path, source).map(Some).map_err(|e| Failure::output("create", path.as_os_str(), &e))
}

pub fn inputs<'a>(paths: impl IntoIterator<Item = &'a Path>) -> impl Iterator<Item = (&'a OsStr, Metadata)> {
    paths.into_iter().filter_map(|path| Some((path.as_os_str(), fs::metadata(path).ok()?)))
}
