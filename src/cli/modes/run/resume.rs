//! `--resume`: whether the result of a source is there already, and right.
//!
//! A result is right if it decompresses to exactly the source's bytes (with -d: if it is exactly what the source
//! decompresses to). With `--verify=file` both are read from the disk.

use crate::cli::args::{Action, FilesMode, Plan};
use crate::cli::files::place::Place;
use crate::cli::files::source::{SourceFile, id};
use crate::cli::messages::{self, Failure};
use hybz::read::MultiBzDecoder;
use hybz::{Error, Pool, Settings};
use hybz_files::directory::is_file;
use hybz_files::file::{forget_pages, sync_data};
use hybz_files::tree;
use std::fs::File;
use std::io::{self, Read, Seek};

/// Whether the result of a source is complete and right, so that nothing is left to do. If it is and the source is to
/// be removed, removes the source.
pub fn is_complete(
    plan: &Plan<FilesMode>,
    pool: &Pool,
    (source, file): (&SourceFile, &File),
    result: &Place,
) -> Result<bool, Failure> {
    if !result.find_link().is_ok_and(|found| is_file(&found) && tree::id(&found) != id(&source.found)) {
        return Ok(false);
    }
    let (opened, _) = result.open_at_once(false).map_err(|e| Failure::input("open", result.name(), &e))?;
    let opened = opened.ok_or_else(|| Failure::exists(result.name()))?;
    if plan.mode.verify.file {
        // Data that are not on the disk yet cannot be dropped from the cache.
        sync_data(&opened).map_err(|e| Failure::output("sync", result.name(), &e))?;
        forget_pages(file);
        forget_pages(&opened);
    }
    let settings = Settings::new().pool(pool).trailing_garbage(plan.common.trailing_garbage);
    let fits = match plan.mode.action {
        Action::Compress => same_text(&settings.trailing_garbage(false), &opened, file, false),
        _ => same_text(&settings.formats(plan.common.formats), file, &opened, true),
    };
    let source_name = source.place.name();
    let right = match fits.map_err(|e| Failure::input("compare", source_name, &e))? {
        Comparison::Same => true,
        // The right result is unknown, so the message is the same as without --resume.
        Comparison::Damaged(error) if plan.mode.action != Action::Compress => {
            return Err(messages::undecodable(source_name, result.name(), &error, plan.common.quiet));
        }
        Comparison::Differs | Comparison::Damaged(_) => false,
    };
    if !right {
        if plan.common.force {
            return Ok(false);
        }
        let text = " already exists, and is not the result of the input file.";
        return Err(Failure::about(1, "Output file ", result.name(), text));
    }
    if plan.mode.remove_sources {
        remove(plan, source, &opened, result)?;
    }
    Ok(true)
}

/// Removes a source whose result is complete, once the result is on the disk.
fn remove(plan: &Plan<FilesMode>, source: &SourceFile, opened: &File, result: &Place) -> Result<(), Failure> {
    let failed = |e: &io::Error| Failure::output("sync", result.name(), e);
    let directory = result.directory(None).map_err(|e| failed(&e))?;
    if plan.common.sync {
        sync_data(opened).and_then(|_| directory.sync()).map_err(|e| failed(&e))?;
    }
    match source.remove(&directory) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::changed(source.place.name())),
        Err(e) => Err(Failure::input("remove", source.place.name(), &e)),
    }
}

enum Comparison {
    Same,
    Differs,
    /// The compressed data are damaged.
    Damaged(Error),
}

/// Whether `coded` decompresses to exactly the bytes of `text`. With `all`, damage after a difference is reported too.
/// Both are read from their beginning, and are back at it afterwards.
fn same_text(settings: &Settings, mut coded: &File, mut text: &File, all: bool) -> io::Result<Comparison> {
    let mut decoded = MultiBzDecoder::with_settings(coded, settings);
    let (mut a, mut b) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    let mut same = true;
    let mut compare = || loop {
        let n = match decoded.read(&mut a) {
            Ok(n) => n,
            Err(e) if matches!(e.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) => {
                return e.downcast().map(Comparison::Damaged);
            }
            Err(e) => return Err(e),
        };
        if n == 0 {
            same = same && text.read(&mut b)? == 0;
        } else if same {
            same = match text.read_exact(&mut b[..n]) {
                Ok(()) => a[..n] == b[..n],
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => false,
                Err(e) => return Err(e),
            };
        }
        if n == 0 || !(same || all) {
            return Ok(if same { Comparison::Same } else { Comparison::Differs });
        }
    };
    let compared = compare()?;
    drop(decoded);
    coded.rewind()?;
    text.rewind()?;
    Ok(compared)
}
