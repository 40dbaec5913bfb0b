//! Index files: finding an operand's index, reading it, and writing one.

use crate::cli::args::{Plan, usual_index};
use crate::cli::files::{OutputFile, Place, SourceFile, id};
use crate::cli::messages::Failure;
use crate::cli::messages::formats::WITHOUT_STREAMS;
use hybz::index::{Index, Recorder};
use hybz::{Error, Format, ReadAt};
use hybz_files::directory::{Directory, Stat, is_directory, is_file};
use hybz_files::{file, tree};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::sync::Arc;

pub struct IndexJob {
    pub place: Place,
    pub recorder: Recorder,
    /// `Some` once work on the operand has begun.
    output: Option<OutputFile>,
}

impl IndexJob {
    pub fn new(place: Place) -> IndexJob {
        IndexJob { place, recorder: Recorder::new(), output: None }
    }

    /// Checks that the name of `compressed`'s index is free. `compressed` is `source` or is made from it. If a file of
    /// that name exists and may be replaced, returns it.
    pub fn check(&self, compressed: &Path, source: Option<&Metadata>, replace: bool) -> Result<Option<Stat>, Failure> {
        let name = self.place.name();
        let is = |what| Failure::about(1, "Output file ", name, what);
        let found = self.place.find_link().ok();
        if self.place.path() == compressed {
            return Err(is(" would be its own index."));
        }
        match (&found, source) {
            (Some(found), Some(source)) if tree::id(found) == id(source) => Err(is(" is the input file.")),
            (Some(_), _) if !replace => Err(Failure::exists(name)),
            (Some(found), _) if is_directory(found) => Err(Failure::output("create", name, &file::is_a_directory())),
            _ => Ok(found),
        }
    }

    /// Creates the file before the work begins: the work would be in vain if the file could not be created.
    pub fn create(&mut self, private: bool, last: Option<&Directory>) -> Result<(), Failure> {
        let create = || {
            let directory = self.place.directory(last)?;
            // An existing regular file may be replaced (see `check`); an existing device or FIFO is written to.
            let (place, existing) = (&self.place, self.place.is_typed());
            OutputFile::create(place.path(), directory, (private, existing), place.owner().as_slice())
        };
        self.output = Some(create().map_err(|e| Failure::output("create", self.place.name(), &e))?);
        Ok(())
    }

    /// Writes the recorded index. Returns the file, which has no name yet, or the format that cannot have an index.
    pub fn write(self, source: Option<&SourceFile>) -> Result<Result<OutputFile, Format>, Failure> {
        let IndexJob { place, recorder, output } = self;
        let failed = |e: &io::Error| Failure::output("write", place.name(), e);
        let index = match recorder.finish() {
            Ok(index) => index,
            Err(Error::NoIndex { format, .. }) => return Ok(Err(format)),
            Err(Error::BadIndex(_)) => return Ok(Err(WITHOUT_STREAMS)),
            Err(Error::Perturbed) => {
                return Err(Failure::about(1, "Index ", place.name(), " is not written: the text is perturbed."));
            }
            Err(error) => return Err(Failure::internal(place.name(), &error)),
        };
        let Some(mut output) = output else { return Ok(Err(WITHOUT_STREAMS)) };
        index.write(&mut output).map_err(|e| failed(&e.into()))?;
        if let Some(source) = source {
            output.set_attributes(source).map_err(|e| failed(&e))?;
        }
        Ok(Ok(output))
    }
}

/// The index of an operand, and its name: the one that `--index` names, or the one next to the operand if `open` opens
/// it. If that index is useless, `remark` says why, and how the work goes on `without` it.
pub fn wanted(
    plan: &Plan,
    operand: Option<&Place>,
    open: impl Fn(&Place) -> Result<Index, Failure>,
    without: &str,
    remark: &mut Option<Vec<u8>>,
) -> Result<Option<(Place, Index)>, Failure> {
    if plan.index.is_some() {
        let place = Place::near(plan.index_of(operand.map_or(Path::new(""), Place::path)), operand);
        return open(&place).map(|index| Some((place, index)));
    }
    let usual = operand.map(|operand| operand.beside(usual_index(operand.path())));
    let Some(usual) = usual.filter(|usual| usual.find().is_ok_and(|found| is_file(&found))) else { return Ok(None) };
    Ok(match open(&usual) {
        Ok(index) => Some((usual, index)),
        Err(failure) => {
            *remark = Some(useless(&failure.text, without));
            None
        }
    })
}

pub fn useless(why: &[u8], without: &str) -> Vec<u8> {
    let why = why.trim_ascii_end();
    [why.strip_suffix(b".").unwrap_or(why), b"; ", without.as_bytes(), b" without it."].concat()
}

pub fn open(place: &Place, coded: &dyn ReadAt) -> Result<Index, Failure> {
    let file = open_file(place)?;
    Index::open(Arc::new(file), coded).map_err(|error| failure(place.name(), &error))
}

/// Opens an index file. It must be a regular file, because its end is read first.
pub fn open_file(place: &Place) -> Result<File, Failure> {
    let (file, found) = place.open_at_once(true).map_err(|e| Failure::input("open", place.name(), &e))?;
    let file = file.filter(|_| found.is_file());
    file.ok_or_else(|| Failure::about(1, "Index ", place.name(), " is not a normal file."))
}

pub fn failure(name: &OsStr, error: &Error) -> Failure {
    match error {
        Error::Read(e) => Failure::input("read", name, e),
        _ => Failure::about(1, "Index ", name, &format!(": {error}.")),
    }
}
