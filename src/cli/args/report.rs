//! The destination of `--report`.

use super::kind::{Given, Kind};
use super::task::Target;
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
    let Some(value) = &given.flags.report else { return Ok(None) };
    let place = match value.as_bytes().strip_prefix(b"json") {
        Some(b"") => ReportPlace::Stderr,
        Some(b":-") => ReportPlace::Stdout,
        Some([b':', name @ ..]) if !name.is_empty() => ReportPlace::File(OsStr::from_bytes(name).into()),
        _ => bail!("--report wants json or json:FILE, not `{}'.", value.display()),
    };
    if place == ReportPlace::Stderr && given.flags.verbose > 1 {
        bail!("--report=json and -vv cannot be used together: use --report=json:FILE.");
    }
    if place != ReportPlace::Stdout {
        return Ok(Some(place));
    }
    if given.kind == Kind::Measure && given.flags.json {
        bail!("--report=json:- and --json cannot be used together: both write to standard output.");
    }
    let data_on_stdout = match target {
        Target::Stdout => true,
        Target::Beside => given.reads_stdin(),
        Target::File(_) | Target::Below(_) | Target::Nowhere => false,
    };
    if data_on_stdout {
        bail!("--report=json:- and a result on standard output cannot be used together.");
    }
    Ok(Some(place))
}
