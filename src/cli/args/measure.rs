//! The plan of `--measure`.

use super::kind::Given;
use super::report::{ReportPlace, report};
use super::task::Target;

/// Measures how repetitive files are.
#[derive(Clone, Debug)]
pub struct MeasureMode {
    /// Whether to measure the text of compressed files.
    pub decode: bool,
    pub report: Option<ReportPlace>,
}

impl MeasureMode {
    pub fn new(given: &Given<'_>) -> anyhow::Result<MeasureMode> {
        let report = report(given, &Target::Nowhere)?;
        Ok(MeasureMode { decode: given.flags.decompress, report })
    }
}
