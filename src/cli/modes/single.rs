//! The one result of `--recover`, `--plan` and `--join`: a file, which appears when it is complete, or stdout.

use crate::cli::args::{Plan, Target};
use crate::cli::files::{OutputFile, Place, Sink, SourceFile, commit, id};
use crate::cli::messages::{Failure, Messages};
use hybz_files::directory::is_directory;
use hybz_files::{stdout, tree};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io;

pub enum Trouble {
    Failure(Failure),
    /// The reason has been printed already.
    Said,
    /// The reader of our stdout is gone.
    BrokenPipe,
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Failure(failure)
    }
}

/// Refuses a destination (stdout, if there is no place) that exists already, or that is one of these inputs.
pub fn check<'a>(
    place: Option<&Place>,
    mut inputs: impl Iterator<Item = (&'a OsStr, Metadata)>,
    force: bool,
) -> Result<(), Failure> {
    let Some(place) = place else {
        stdout::check().map_err(|e| Failure::output("write", OsStr::new("(stdout)"), &e))?;
        let stdout = stdout::regular_file();
        return match stdout.and_then(|stdout| inputs.find(|(_, input)| id(input) == id(&stdout))) {
            Some((name, _)) => Err(Failure::about(1, "Input file ", name, " is the output file.")),
            None => Ok(()),
        };
    };
    let is = |what| Failure::about(1, "Output file ", place.name(), what);
    match place.find() {
        Ok(found) if inputs.any(|(_, input)| tree::id(&found) == id(&input)) => Err(is(" is the input file.")),
        Ok(found) if is_directory(&found) => Err(is(" is a directory.")),
        _ if !force && !place.is_stream() && place.find_link().is_ok() => Err(Failure::exists(place.name())),
        _ => Ok(()),
    }
}

/// Opens a destination, with holes in place of zeros if they are wanted. An existing device or FIFO is written to.
pub fn create(place: Option<&Place>, private: bool, force: bool, holes: bool) -> Result<Sink, Failure> {
    let Some(place) = place else {
        return Ok(Sink::stdout());
    };
    let existing = force || place.is_stream();
    let file = new_file(place, private, existing).map_err(|e| Failure::output("create", place.name(), &e))?;
    Ok(Sink::file(file.with_holes(holes)))
}

pub fn new_file(place: &Place, private: bool, existing: bool) -> io::Result<OutputFile> {
    OutputFile::create(place.path(), place.directory(None)?, (private, existing), place.owner().as_slice())
}

/// Ends a result; a file gets the attributes of its source, if it has one, and its name.
pub fn finish(out: Sink, source: Option<&SourceFile>, plan: &Plan) -> Result<(), Trouble> {
    let name = out.name().to_owned();
    // This also ends the last hole, before the times are set.
    let Some(file) = out.finish().map_err(|e| write_trouble(&name, &e))? else { return Ok(()) };
    let attributes = source.map_or(Ok(()), |source| file.set_attributes(source).map(drop));
    let synced = attributes.and_then(|()| if plan.sync { file.sync() } else { Ok(true) });
    synced.map_err(|e| write_trouble(&name, &e))?;
    Ok(commit::publish(file, plan.force)?)
}

/// The failure of a write to this file or to `(stdout)`; if the reader of stdout has left, there is no message.
pub fn write_trouble(name: &OsStr, e: &io::Error) -> Trouble {
    match e.kind() {
        io::ErrorKind::BrokenPipe if name == "(stdout)" => Trouble::BrokenPipe,
        io::ErrorKind::AlreadyExists => Failure::exists(name).into(),
        _ => Failure::output("write", name, e).into(),
    }
}

pub fn end(target: &Target, messages: &Messages) -> u8 {
    if *target == Target::Stdout {
        Messages::stdout_failure().into_iter().for_each(|note| messages.print(&note));
    }
    messages.code()
}
