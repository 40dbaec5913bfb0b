//! Where `--report` goes, and what does not go with objects on stderr.

use super::flags::{Flags, ProgressFormat};
use super::task::{Mode, Operand, Target};
use anyhow::bail;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Where the report goes.
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

/// Where the report goes, if there is to be one.
pub fn report(flags: &Flags, mode: Mode, target: &Target, operands: &[Operand]) -> anyhow::Result<Option<ReportPlace>> {
    let Some(value) = &flags.report else { return Ok(None) };
    let place = match value.as_bytes().strip_prefix(b"json") {
        Some(b"") => ReportPlace::Stderr,
        Some(b":-") => ReportPlace::Stdout,
        Some([b':', name @ ..]) if !name.is_empty() => ReportPlace::File(OsStr::from_bytes(name).into()),
        _ => bail!("--report wants json or json:FILE, not `{}'.", value.display()),
    };
    match () {
        () if flags.list => bail!("--report and -l cannot be used together: -l has --json."),
        () if flags.recover.is_some() => bail!("--report and --recover cannot be used together: --recover has --json."),
        () if place == ReportPlace::Stderr && flags.verbose > 1 => {
            bail!("--report=json and -vv cannot be used together: use --report=json:FILE.")
        }
        () => {}
    }
    if place == ReportPlace::Stdout && flags.measure && flags.json {
        bail!("--report=json:- and --json cannot be used together: both write to standard output.");
    }
    let data_on_stdout = match target {
        _ if flags.measure => false,
        Target::Stdout => true,
        Target::Beside => mode != Mode::Test && operands.contains(&Operand::Stdin),
        Target::File(_) | Target::Below(_) => false,
    };
    if place == ReportPlace::Stdout && data_on_stdout {
        bail!("--report=json:- and a result on standard output cannot be used together.");
    }
    Ok(Some(place))
}

/// Whether progress is shown as objects.
pub fn progress_json(flags: &Flags) -> anyhow::Result<bool> {
    let json = flags.progress == Some(ProgressFormat::Json);
    if json && flags.verbose > 1 {
        bail!("--progress=json and -vv cannot be used together.");
    }
    Ok(json)
}
