//! The plan of `-l`.

use super::choices::IndexFormat;
use super::flags::Flags;
use super::index::IndexPlan;
use super::kind::Given;
use anyhow::bail;

/// Lists files.
#[derive(Clone, Debug)]
pub struct ListMode {
    pub listing: Listing,
    /// The index to write for a file.
    pub index: Option<IndexPlan>,
}

/// How files are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    Table,
    Json,
    Offsets,
}

impl ListMode {
    pub fn new(given: &Given<'_>) -> anyhow::Result<ListMode> {
        let flags = given.flags;
        let listing = match (flags.json.is_some(), prints_offsets(flags)) {
            (false, false) => Listing::Table,
            (true, false) => Listing::Json,
            (true, true) => bail!("--json and --index-format=offsets cannot be used together."),
            (false, true) if flags.verbose > 0 => bail!("--index-format=offsets and -v cannot be used together."),
            (false, true) => match given.operands.len() {
                1 => Listing::Offsets,
                operands => bail!("--index-format=offsets lists one file, not {operands}."),
            },
        };
        Ok(ListMode { listing, index: IndexPlan::new(given)? })
    }
}

/// Whether the offsets of an index are printed rather than written to a file.
pub fn prints_offsets(flags: &Flags) -> bool {
    flags.list && flags.index.is_none() && flags.index_format == Some(IndexFormat::Offsets)
}
