//! Files of indexes: their names, and when one can be written.

use super::common::Common;
use super::rows::Kind;
use super::target::Target;
use anyhow::bail;
use std::path::{Path, PathBuf};

/// The index of a compressed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPlan {
    /// The index's name, if it was typed.
    pub path: Option<PathBuf>,
}

impl IndexPlan {
    /// The index that `--index` names, if the flag was common.
    pub fn new(common: &Common) -> anyhow::Result<Option<IndexPlan>> {
        let Some(index) = &common.index else { return Ok(None) };
        let path = (!index.is_empty()).then(|| PathBuf::from(index));
        if path.is_some() && common.operands.len() > 1 {
            bail!("--index=FILE is the index of one file, not of {}.", common.operands.len());
        }
        if path.is_none() && common.reads_stdin() && matches!(common.kind, Kind::List | Kind::Recover) {
            return without_name(common, "standard input");
        }
        Ok(Some(IndexPlan { path }))
    }

    /// The name of the index of the compressed file `path`.
    pub fn path(&self, path: &Path) -> PathBuf {
        self.path.clone().unwrap_or_else(|| usual_index(path))
    }
}

/// The index to write while files are compressed, decompressed or tested.
pub fn written(common: &Common, target: &Target, remove_sources: bool) -> anyhow::Result<Option<IndexPlan>> {
    let Some(index) = IndexPlan::new(common)? else { return Ok(None) };
    if common.kind == Kind::Decompress && remove_sources {
        bail!("The index is of the compressed file: use -d --index with -k, -c or -o.");
    }
    // The index is named after the compressed file.
    let (has_name, unnamed) = match (common.kind, target) {
        (Kind::Compress, Target::Stdout) => (false, "-c"),
        (Kind::Compress, Target::File(_)) => (true, ""),
        _ => (!common.reads_stdin(), "standard input"),
    };
    if index.path.is_none() && !has_name { without_name(common, unnamed) } else { Ok(Some(index)) }
}

fn without_name(common: &Common, unnamed: &str) -> anyhow::Result<Option<IndexPlan>> {
    if common.operands.len() > 1 || common.recursive || common.filelist.is_some() {
        bail!("--index and {unnamed} cannot be used together for several files: their indexes need names.");
    }
    bail!("The index needs a name: use --index=FILE.")
}

/// The default name of an index: next to `path`.
pub fn usual_index(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".bzi");
    name.into()
}
