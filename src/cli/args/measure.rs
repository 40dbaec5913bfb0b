//! What `--measure` measures, and where that goes.

use super::kind::Given;
use super::report::{ReportPlace, report};
use super::task::Target;

/// How repetitive files are is measured.
#[derive(Clone, Debug)]
pub struct MeasureMode {
    /// Whether the text of compressed files is measured.
    pub decode: bool,
    pub json: bool,
    pub report: Option<ReportPlace>,
}

impl MeasureMode {
    pub fn new(given: &Given<'_>) -> anyhow::Result<MeasureMode> {
        let report = report(given, &Target::Nowhere)?;
        Ok(MeasureMode { decode: given.flags.decompress, json: given.flags.json, report })
    }
}
