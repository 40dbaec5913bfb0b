//! The destination of `--json`, for modes that make files.

use super::given::Given;
use super::target::Target;
use anyhow::bail;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The destination of the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportPlace {
    Stderr,
    Stdout,
    File(PathBuf),
}

impl ReportPlace {
    /// Its name in messages.
    pub fn name(&self) -> &OsStr {
        match self {
            ReportPlace::Stderr => OsStr::new("(stderr)"),
            ReportPlace::Stdout => OsStr::new("(stdout)"),
            ReportPlace::File(path) => path.as_os_str(),
        }
    }
}

/// The destination of the report, if one was asked for, when results go to `target`.
pub fn report(given: &Given<'_>, target: &Target) -> anyhow::Result<Option<ReportPlace>> {
    let Some(file) = &given.flags.json else { return Ok(None) };
    let place = match file.as_bytes() {
        b"" => ReportPlace::Stderr,
        b"-" => ReportPlace::Stdout,
        _ => ReportPlace::File(file.into()),
    };
    if place == ReportPlace::Stderr && given.flags.verbose > 1 {
        bail!("--json and -vv cannot be used together: use --json=FILE.");
    }
    let data_on_stdout = match target {
        Target::Stdout => true,
        Target::Beside => given.reads_stdin(),
        Target::File(_) | Target::Below(_) | Target::Nowhere => false,
    };
    if place == ReportPlace::Stdout && data_on_stdout {
        bail!("--json=- and a result on standard output cannot be used together.");
    }
    Ok(Some(place))
}
