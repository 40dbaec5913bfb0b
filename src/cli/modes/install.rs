//! `--install-to`: the command, its links, its manual page and its completions, below a prefix.
//!
//! Nothing is replaced that this mode did not put there: the file [`RECORD`] below the prefix has the checksum, length
//! and path of each file that it wrote, and a file that still has these is its own. All places are looked at before
//! anything is written; a single one that is taken refuses the whole call. Each file is written under a temporary name,
//! and gets its own when it is complete.

use crate::cli::args::{InstallMode, Plan, SHARE};
use crate::cli::messages::progress::Progress;
use crate::cli::messages::{Failure, Messages, Note, Outcome, errno_text};
use anyhow::{Context, anyhow};
use hybz::internals::crc::checksum;
use hybz_files::directory::Directory;
use hybz_files::file::sync_all;
use hybz_files::quote::shown;
use hybz_files::temporary::TemporaryFiles;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::{env, process};

/// The list of what was installed: lines of CHECKSUM, LENGTH and PATH.
const RECORD: &str = "share/hybz/installed";
const COMMAND: &str = "bin/hybz";
const OWN_NAMES: [&str; 2] = ["hybunz", "hybcat"];
const BZIP2_NAMES: [&str; 4] = ["bzip2", "bunzip2", "bzcat", "bzip2recover"];

/// One thing to install.
struct Item {
    /// Its path below the prefix.
    path: String,
    what: What,
}

enum What {
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    /// A symbolic link to this name in the same folder.
    Link(&'static str),
}

/// What is at an item's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    /// The item itself.
    Same,
    /// An older version of it, as the record says.
    Older,
    /// A file or link of somebody else's.
    Foreign,
    Directory,
}

/// Checksums and lengths of the files that were installed, by their paths.
type Record = BTreeMap<String, (u32, u64)>;

/// Installs this program.
pub fn install(plan: &Plan<InstallMode>) -> anyhow::Result<Outcome> {
    let messages = Messages::new(&plan.common, Progress::new(&plan.common, &Default::default()));
    for remark in &plan.common.ignored_words {
        messages.print(&Note::Remark(remark.clone().into_bytes()));
    }
    let prefix = &plan.mode.prefix;
    let items = items(plan.mode.bzip2_names)?;
    let mut record = read_record(&prefix.join(RECORD))?;
    let mut found = Vec::new();
    for item in &items {
        let path = prefix.join(&item.path);
        found.push(item.found(&path, &record).map_err(|e| failed("look at", &path, &e))?);
    }
    let taken = |found: Found| found == Found::Directory || found == Found::Foreign && !plan.common.force;
    for (item, _) in items.iter().zip(&found).filter(|(_, found)| taken(**found)) {
        let path = prefix.join(&item.path);
        messages.print(&Note::Failure(Failure::about(1, "", path.as_os_str(), " exists: nothing is installed.")));
    }
    if found.iter().any(|found| taken(*found)) {
        return Ok(Outcome::Exit(messages.code()));
    }
    let say = |item: &Item, what: &str| {
        if plan.common.verbose > 0 {
            let path = prefix.join(&item.path);
            let line = [b"  ", shown(path.as_os_str()).as_bytes(), b": ", what.as_bytes(), b"\n"].concat();
            messages.print(&Note::Line(line));
        }
    };
    let mut installed = Ok(());
    for (item, found) in items.iter().zip(found) {
        if found != Found::Same {
            installed = item.put(prefix, found != Found::Nothing);
            if installed.is_err() {
                break;
            }
        }
        if let What::File { bytes, .. } = &item.what {
            record.insert(item.path.clone(), (checksum(bytes), bytes.len() as u64));
        }
        say(item, if found == Found::Same { "was there" } else { "installed" });
    }
    // What was put there is recorded even if the next file could not be.
    let recorded = write_record(prefix, &record);
    installed.and(recorded)?;
    Ok(Outcome::Exit(messages.code()))
}

/// All that is installed.
fn items(bzip2_names: bool) -> anyhow::Result<Vec<Item>> {
    let program = env::current_exe().context("Can't find this program's own file")?;
    let bytes = fs::read(&program).map_err(|e| failed("read", &program, &e))?;
    let mut items = vec![Item { path: COMMAND.to_owned(), what: What::File { bytes, mode: 0o755 } }];
    let names = OWN_NAMES.iter().chain(BZIP2_NAMES.iter().filter(|_| bzip2_names));
    items.extend(names.map(|name| Item { path: format!("bin/{name}"), what: What::Link("hybz") }));
    for (path, text) in SHARE {
        let what = What::File { bytes: text.as_bytes().to_vec(), mode: 0o644 };
        items.push(Item { path: format!("share/{path}"), what });
    }
    let pages = OWN_NAMES.map(|name| Item { path: format!("share/man/man1/{name}.1"), what: What::Link("hybz.1") });
    items.extend(pages);
    Ok(items)
}

impl Item {
    /// What is at its place.
    fn found(&self, path: &Path, record: &Record) -> io::Result<Found> {
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(e) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&e.kind()) => {
                return Ok(Found::Nothing);
            }
            Err(e) => return Err(e),
        };
        Ok(match &self.what {
            _ if found.is_dir() => Found::Directory,
            What::Link(target) if found.is_symlink() && fs::read_link(path)? == Path::new(target) => Found::Same,
            What::File { bytes, mode } if found.is_file() => {
                let there = fs::read(path)?;
                match record.get(&self.path) {
                    _ if there == *bytes && found.permissions().mode() & 0o7777 == *mode => Found::Same,
                    Some(known) if *known == (checksum(&there), there.len() as u64) => Found::Older,
                    _ => Found::Foreign,
                }
            }
            _ => Found::Foreign,
        })
    }

    /// Puts it in its place below the prefix.
    fn put(&self, prefix: &Path, replace: bool) -> anyhow::Result<()> {
        let path = prefix.join(&self.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|e| failed("make the directory", folder, &e))?;
        }
        match &self.what {
            What::File { bytes, mode } => write(&path, bytes, *mode, replace),
            What::Link(target) => link(&path, target, replace),
        }
        .map_err(|e| failed("install", &path, &e))
    }
}

/// Writes a file under a temporary name, and then renames it.
fn write(path: &Path, bytes: &[u8], mode: u32, replace: bool) -> io::Result<()> {
    let directory = Directory::of(path, None)?;
    let name = path.file_name().unwrap_or_default();
    let (mut file, temporary) = TemporaryFiles::default().create(&directory, name, true)?;
    file.write_all(bytes)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    sync_all(&file)?;
    temporary.rename(|from| directory.rename(from, name, replace))
}

/// Makes a link; in place of another one by a rename, so that the name is never missing.
fn link(path: &Path, target: &str, replace: bool) -> io::Result<()> {
    if !replace {
        return symlink(target, path);
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let temporary = path.with_file_name(format!(".{name}.{}.hybz-tmp", process::id()));
    symlink(target, &temporary)?;
    fs::rename(&temporary, path).inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// The record of earlier calls; empty if there is none.
fn read_record(path: &Path) -> anyhow::Result<Record> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&e.kind()) => String::new(),
        Err(e) => return Err(failed("read", path, &e)),
    };
    let entry = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let checksum = u32::from_str_radix(words.next()?, 16).ok()?;
        let len = words.next()?.parse().ok()?;
        Some((words.next()?.to_owned(), (checksum, len)))
    };
    text.lines()
        .map(|line| entry(line).ok_or_else(|| anyhow!("{} is no record of installed files.", path.display())))
        .collect()
}

fn write_record(prefix: &Path, record: &Record) -> anyhow::Result<()> {
    let lines = record.iter().map(|(path, (checksum, len))| format!("{checksum:08x} {len} {path}\n"));
    let what = What::File { bytes: lines.collect::<String>().into_bytes(), mode: 0o644 };
    Item { path: RECORD.to_owned(), what }.put(prefix, true)
}

/// `Can't WHAT PATH: ERR.`
fn failed(what: &str, path: &Path, e: &io::Error) -> anyhow::Error {
    anyhow!("Can't {what} {}: {}.", path.display(), errno_text(e))
}
