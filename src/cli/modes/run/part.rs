//! Opens files to decompress a part of each.

use crate::cli::args::{Amount, Operand, Plan, Range, Split};
use crate::cli::files::{Place, Ready, check_file, index};
use crate::cli::messages::{Failure, formats};
use crate::cli::modes::run::ranges::{Coded, Cursor, are_ascending};
use hybz::index::Index;
use hybz::internals::formats::IndexKind;
use hybz::seek::{Reader, SplitReader};
use hybz::{Error, Format, Pool, ReadAt, Settings};
use hybz_files::quote::shown;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// The blocks that begin in some bytes of a `.bz2`.
pub fn split(plan: &Plan, split: Split, pool: &Pool, name: &OsStr, mut file: File) -> Result<SplitReader, Failure> {
    check_file(name, &mut file, "--split")?;
    let mut head = Vec::new();
    let read_error = |e: io::Error| Failure::input("read", name, &e);
    (&file).take(Format::HEAD_LEN as u64).read_to_end(&mut head).map_err(read_error)?;
    if let Some(format) = Format::of(&head).filter(|&format| format != Format::Bzip2) {
        let text = format!(" {}: --split works only with .bz2.", formats::found(format));
        return Err(Failure::about(1, "Input file ", name, &text));
    }
    let coded: Coded = Arc::new(file);
    let settings = Settings::new().pool(pool).trailing_garbage(plan.trailing_garbage);
    let bytes = split.of(coded.len());
    Ok(SplitReader::new(coded, bytes, plan.lines, &settings))
}

/// The way to the text of a file for `--ranges`: by the index that was named, by the index next to the file or in it,
/// or by decoding everything before the range.
pub fn ranges(
    plan: &Plan,
    ranges: &[Range],
    pool: &Pool,
    (operand, ready): (&Operand, &Ready),
    mut file: File,
    remark: &mut Option<Vec<u8>>,
) -> Result<Cursor, Failure> {
    let name = operand.name();
    check_file(name, &mut file, "--ranges")?;
    let place = ready.source.as_ref().map(|source| &source.place);
    let coded: Coded = Arc::new(file);
    let settings = Settings::new().pool(pool).formats(plan.formats).trailing_garbage(plan.trailing_garbage);
    let open = Open { plan, ranges, coded, settings };
    let is_named = plan.index.is_some();
    let has_own_index = !is_named && open.has_own_index().map_err(|e| Failure::input("read", name, &e))?;
    let place = place.filter(|_| !has_own_index);
    let open_index = |place: &Place| index::open(place, &*open.coded);
    if let Some((place, index)) = index::wanted(plan, place, open_index, "decoding", remark)? {
        *remark = open.uncounted(&index, place.path());
        let reader = open.limited(Reader::with_index(open.coded.clone(), index, &open.settings));
        match if is_named { Ok(()) } else { open.try_first(&reader) } {
            Ok(()) => return Ok(Cursor::indexed(reader)),
            Err(why) => *remark = Some(index::useless(&index::failure(place.name(), &why).text, "decoding")),
        }
    }
    Ok(open.without_index(has_own_index))
}

struct Open<'a> {
    plan: &'a Plan,
    ranges: &'a [Range],
    coded: Coded,
    settings: Settings,
}

impl Open<'_> {
    /// Limits the reader to its share of the memory that `-m` allows.
    fn limited(&self, reader: Reader<Coded>) -> Reader<Coded> {
        match self.plan.memory {
            Some(memory) => reader.cache(memory),
            None => reader,
        }
    }

    /// The remark that lines are counted from the beginning although an index exists.
    fn uncounted(&self, index: &Index, path: &Path) -> Option<Vec<u8>> {
        let by_line = self.ranges.iter().any(|range| matches!(range.offset, Amount::Lines(1..)));
        let text = b" has no line ends; counting them from the beginning.";
        (by_line && matches!(index.lines(), Ok(None)))
            .then(|| [b"Index ", shown(path.as_os_str()).as_bytes(), text].concat())
    }

    fn has_own_index(&self) -> io::Result<bool> {
        let mut head = [0; Format::HEAD_LEN];
        let n = self.coded.read_at(&mut head, 0)?;
        let format = self.plan.formats.of(&head[..n]);
        Ok(format.is_some_and(|format| matches!(format.index(), IndexKind::Within(_))))
    }

    /// Reads the first wanted byte: the reader will need its block anyway, and an index that does not match can still
    /// be ignored at this point. Errors of the file itself will be met again later.
    fn try_first(&self, reader: &Reader<Coded>) -> Result<(), Error> {
        let first = self.ranges.iter().find_map(|range| range.bytes()).map_or(0, |(from, _)| from);
        match reader.read_at(&mut [0], first).map_err(io::Error::downcast::<Error>) {
            Err(Ok(error @ (Error::ForeignIndex { .. } | Error::BadIndex(_) | Error::NewerIndex { .. }))) => Err(error),
            _ => Ok(()),
        }
    }

    /// Opens a file that has no index next to it. The file may contain its own index; for a `.bz2`, an index is made if
    /// ranges go backwards.
    fn without_index(self, has_own_index: bool) -> Cursor {
        if has_own_index || !are_ascending(self.ranges) {
            // A damaged file, or a file with streams of several formats, has no index: its good blocks are decoded
            // from the beginning.
            if let Ok(reader) = Reader::open(self.coded.clone(), &self.settings) {
                return Cursor::indexed(self.limited(reader));
            }
        }
        Cursor::forward(self.coded, self.settings)
    }
}
