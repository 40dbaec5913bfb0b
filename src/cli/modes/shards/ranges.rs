//! `--plan-ranges`: divides the text of a compressed file into ranges, for programs that share the reading.

use super::{Trouble, create, finish, open_text, write_trouble};
use crate::cli::args::{Common, IndexPlan, Operand, Plan, ShardsMode, usual_index};
use crate::cli::files::index;
use crate::cli::files::place::Place;
use crate::cli::files::source::SourceFile;
use crate::cli::messages::formats;
use crate::cli::messages::{self, Failure, Messages, Note};
use crate::cli::modes::limits;
use hybz::index::{Index, TextRange};
use hybz::{Error, Pool, Settings};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;

/// The beginning of a list of ranges.
const HEAD: &str = "#hybz-ranges-1";

/// Finds ranges, and prints them.
pub fn ranges(
    plan: &Plan<ShardsMode>,
    size: u64,
    named: Option<&IndexPlan>,
    messages: &Messages,
) -> Result<(), Trouble> {
    let Some(operand @ Operand::File(path)) = plan.common.operands.first() else { return Ok(()) };
    let name = path.as_os_str();
    let (place, file) = open_text(path, "--plan-ranges")?;
    let source = SourceFile::of(operand, &file).map_err(|e| Failure::input("read", name, &e))?;
    // A list that cannot be written is reported before the whole file is decoded.
    let mut out = create(plan, None, Some(&place))?;
    let (index, ranges) = find(&plan.common, size, named, (&place, &file), messages)?;
    let is_still = |source: SourceFile| source.is_unchanged(&file).unwrap_or(false);
    if !source.is_none_or(is_still) {
        return Err(
            Failure::about(1, "Input file ", name, " changed while it was read: its ranges are unknown.").into()
        );
    }
    let head = format!("{HEAD}\t{}\t{}\n", index.coded_len(), index.text_len());
    let names = "#number\toffset\tlength\tblocks\tbit\tend\tlines\n";
    let mut write = |line: &str| out.write_all(line.as_bytes()).map_err(|e| write_trouble(plan, &e));
    write(&head)?;
    write(names)?;
    ranges.iter().try_for_each(|range| write(&line(range)))?;
    finish(out, plan)
}

/// The ranges, and the index from which they come: the index that was named, the one next to the file, or a new one.
fn find(
    common: &Common,
    size: u64,
    named: Option<&IndexPlan>,
    (place, file): (&Place, &File),
    messages: &Messages,
) -> Result<(Index, Vec<TextRange>), Failure> {
    let all = |index: &Index| index.ranges(size).collect::<Result<Vec<_>, _>>();
    if let Some(named) = named {
        let named = Place::near(named.path(place.path()), Some(place));
        let index = index::open(&named, file)?;
        let ranges = all(&index).map_err(|error| index::failure(named.name(), &error))?;
        return Ok((index, ranges));
    }
    let mut remark = None;
    if let Some(index) = index::beside(place, file, &mut remark) {
        match all(&index) {
            Ok(ranges) => return Ok((index, ranges)),
            Err(error) => {
                remark = Some(index::useless(&index::failure(usual_index(place.path()).as_os_str(), &error).text));
            }
        }
    }
    if let Some(remark) = remark {
        messages.print(&Note::Remark(remark));
    }
    let mut pool = Pool::builder().threads(limits::threads(common, None)).max_memory(limits::share_of_memory());
    if let Some(memory) = common.memory {
        pool = pool.memory(memory);
    }
    let pool = pool.build();
    let settings = Settings::new().pool(&pool).formats(common.formats).trailing_garbage(common.trailing_garbage);
    let failed = |error| failure(common, place.name(), &error);
    let index = Index::build(file, &settings).map_err(failed)?;
    let ranges = all(&index).map_err(failed)?;
    Ok((index, ranges))
}

/// The reason why a file has no ranges.
fn failure(common: &Common, name: &OsStr, error: &Error) -> Failure {
    match error {
        Error::Read(e) => Failure::input("read", name, e),
        Error::NoIndex { format, .. } => {
            let text = format!(" {}: --plan-ranges is about .bz2.", formats::found(*format));
            Failure::about(1, "Input file ", name, &text)
        }
        Error::Perturbed => Failure::perturbed(name),
        Error::Internal { .. } | Error::BadIndex(_) => Failure::internal(name, error),
        Error::Memory { .. } => Failure::memory(name, error, common.memory.is_some()),
        _ => Failure::about(2, "", name, &format!(": {}", messages::verdict(error, true))),
    }
}

/// The line of a range.
fn line(range: &TextRange) -> String {
    let TextRange { number, offset, length, blocks, bit_offset, end_bit, lines_before, .. } = range;
    let lines = lines_before.map_or_else(|| "-".to_owned(), |lines| lines.to_string());
    format!("{number}\t{offset}\t{length}\t{blocks}\t{bit_offset}\t{end_bit}\t{lines}\n")
}
