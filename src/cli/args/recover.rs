//! The plan of `--recover`.

use super::choices::Recovery;
use super::index::IndexPlan;
use super::kind::Given;
use super::task::{Target, target};
use anyhow::bail;

/// Writes the good blocks of damaged files.
#[derive(Clone, Debug)]
pub struct RecoverMode {
    pub recovery: Recovery,
    pub target: Target,
    /// The index to read, if one was named.
    pub index: Option<IndexPlan>,
    pub json: bool,
    /// Whether zeros in results become holes.
    pub sparse: bool,
}

impl RecoverMode {
    pub fn new(given: &Given<'_>, recovery: Recovery) -> anyhow::Result<RecoverMode> {
        let (target, json) = (target(given)?, given.flags.json.is_some());
        match target {
            Target::Beside if given.reads_stdin() => {
                bail!("The result of recovering stdin needs a name: use -o or -c.")
            }
            Target::Beside => {}
            _ if recovery == Recovery::Split => {
                bail!("--recover=split makes several files: it takes neither -c nor -o.")
            }
            Target::Stdout if json => bail!("--json prints to standard output: use --recover with -o, not with -c."),
            _ => {}
        }
        Ok(RecoverMode { recovery, target, index: IndexPlan::new(given)?, json, sparse: !given.flags.no_sparse })
    }
}
