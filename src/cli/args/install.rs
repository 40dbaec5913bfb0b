//! The plan of `--install-to`.

use super::kind::Given;
use anyhow::bail;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Installs this program.
#[derive(Clone, Debug)]
pub struct InstallMode {
    /// The folder that gets `bin` and `share`.
    pub prefix: PathBuf,
    /// Whether links of bzip2's names are installed too.
    pub bzip2_names: bool,
}

impl InstallMode {
    pub fn new(given: &Given<'_>, prefix: &OsStr) -> anyhow::Result<InstallMode> {
        if given.typed > 0 {
            bail!("--install-to takes no files.");
        }
        if prefix.is_empty() {
            bail!("--install-to wants the name of a directory.");
        }
        Ok(InstallMode { prefix: prefix.into(), bzip2_names: given.flags.about.bzip2_names })
    }
}
