//! `--resume`: whether the result of a source is there already, and right.
//!
//! A result is right if it decompresses to exactly the source's bytes (with -d: if it is exactly what the source
//! decompresses to). With `--verify=file` both are read from the disk.

use crate::cli::args::{Kind, Plan};
use crate::cli::files::reread::{Trouble, compare, is_damage};
use crate::cli::files::{Place, SourceFile, id};
use crate::cli::messages::{self, Failure};
use hybz::read::MultiBzDecoder;
use hybz::{Pool, Settings};
use hybz_files::directory::is_file;
use hybz_files::file::{forget_pages, sync_data};
use hybz_files::tree;
use std::fs::File;
use std::io::{self, Seek};

/// Whether the result of a source is complete and right, so that nothing is left to do. If it is and the source is to
/// be removed, removes the source.
pub fn is_complete(
    plan: &Plan,
    pool: &Pool,
    (source, file): (&SourceFile, &File),
    result: &Place,
) -> Result<bool, Failure> {
    if !result.find_link().is_ok_and(|found| is_file(&found) && tree::id(&found) != id(&source.found)) {
        return Ok(false);
    }
    let (opened, _) = result.open_at_once(false).map_err(|e| Failure::input("open", result.name(), &e))?;
    let opened = opened.ok_or_else(|| Failure::exists(result.name()))?;
    if plan.rereads {
        // Data that are not on the disk yet cannot be dropped from the cache.
        sync_data(&opened).map_err(|e| Failure::output("sync", result.name(), &e))?;
        forget_pages(file);
        forget_pages(&opened);
    }
    let settings = Settings::new().pool(pool).trailing_garbage(plan.trailing_garbage);
    let compresses = plan.kind == Kind::Compress;
    let compared = match compresses {
        true => {
            let decoder = MultiBzDecoder::with_settings(&opened, &settings.trailing_garbage(false));
            compare(file, decoder, false)
        }
        false => {
            let decoder = MultiBzDecoder::with_settings(file, &settings.formats(plan.formats));
            compare(&opened, decoder, true)
        }
    };
    let name = source.place.name();
    let failed = |e: io::Error| Failure::input("compare", name, &e);
    let right = match compared {
        Ok(()) => true,
        Err(Trouble::Differs(_)) => false,
        Err(Trouble::Decoded(e)) if is_damage(&e) => {
            let error = e.downcast().map_err(failed)?;
            if !compresses {
                // The right result is unknown, so the message is the same as without --resume.
                return Err(messages::undecodable(name, result.name(), &error, plan.quiet));
            }
            false
        }
        Err(Trouble::Decoded(e) | Trouble::Text(e)) => return Err(failed(e)),
    };
    (&*file).rewind().map_err(failed)?;
    if !right {
        if plan.force {
            return Ok(false);
        }
        let text = " already exists, and is not the result of the input file.";
        return Err(Failure::about(1, "Output file ", result.name(), text));
    }
    if plan.remove_sources {
        remove(plan, source, &opened, result)?;
    }
    Ok(true)
}

/// Removes a source whose result is complete, once the result is on the disk.
fn remove(plan: &Plan, source: &SourceFile, opened: &File, result: &Place) -> Result<(), Failure> {
    let failed = |e: &io::Error| Failure::output("sync", result.name(), e);
    let directory = result.directory(None).map_err(|e| failed(&e))?;
    if plan.sync {
        sync_data(opened).and_then(|_| directory.sync()).map_err(|e| failed(&e))?;
    }
    source.remove(&directory)
}
