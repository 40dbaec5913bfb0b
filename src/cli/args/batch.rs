//! Whole trees and long lists of files.

use super::given::Given;
use anyhow::bail;
use glob::Pattern;
use std::path::PathBuf;

/// A file of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameList {
    /// `None` is stdin.
    pub file: Option<PathBuf>,
    /// Whether a zero byte ends each name, not a line end.
    pub null: bool,
}

/// How trees and lists are processed.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Whether to walk directories.
    pub recursive: bool,
    /// Whether to walk other file systems too.
    pub crosses: bool,
    pub list: Option<NameList>,
    /// Names that a walk or a list leaves out.
    pub exclude: Vec<Pattern>,
    /// Whether to examine existing results.
    pub resume: bool,
    /// Whether to stop at the first failure.
    pub fail_fast: bool,
}

impl Batch {
    /// Reads the flags.
    pub fn new(given: &Given<'_>) -> anyhow::Result<Batch> {
        let flags = given.flags;
        check_names(given)?;
        let list = flags
            .filelist
            .as_ref()
            .map(|file| NameList { file: (file != "-").then(|| PathBuf::from(file)), null: flags.null });
        Ok(Batch {
            recursive: flags.recursive,
            crosses: flags.cross_file_systems,
            list,
            exclude: flags.exclude.clone(),
            resume: flags.resume,
            fail_fast: flags.fail_fast,
        })
    }

    /// Whether a walk or a list may add files to those that were typed.
    pub fn is_open_ended(&self) -> bool {
        self.recursive || self.list.is_some()
    }
}

/// Refuses names that are missing, or used twice.
fn check_names(given: &Given<'_>) -> anyhow::Result<()> {
    let flags = given.flags;
    if flags.filelist.as_ref().is_some_and(|file| file.is_empty()) {
        bail!("--filelist wants the name of a file, or -.");
    }
    if flags.output_dir.as_ref().is_some_and(|directory| directory.is_empty()) {
        bail!("--output-dir wants the name of a directory.");
    }
    if flags.filelist.as_ref().is_some_and(|file| file == "-") && given.reads_stdin() {
        bail!("--filelist - reads the list from stdin, which is also an input file.");
    }
    if given.typed == 0 && flags.filelist.is_none() {
        if flags.recursive {
            bail!("-r wants the name of a directory.");
        }
        if flags.resume {
            bail!("--resume wants the names of files.");
        }
    }
    if flags.output_dir.is_some() && given.reads_stdin() {
        bail!("--output-dir wants files: the result of stdin has no name.");
    }
    Ok(())
}
