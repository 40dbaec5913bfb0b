//! The part of a compressed file that `-d` decompresses.

use super::given::Given;
use super::index::IndexPlan;
use super::ranges::{Amount, Range, Ranges, Split};
use super::rows::Kind;
use super::target::Target;
use anyhow::bail;

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Ranges(TextRanges),
    Split(SplitPlan),
}

/// The blocks that begin in some bytes of the compressed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitPlan {
    pub split: Split,
    /// Whether to write whole lines.
    pub lines: bool,
}

/// Ranges of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRanges {
    pub ranges: Vec<Range>,
    /// Whether to write the lines that begin in the ranges.
    pub lines: bool,
    /// The index to read, if one was named.
    pub index: Option<IndexPlan>,
}

/// The part that `-d` decompresses, if not the whole file.
pub fn part(given: &Given<'_>, target: &Target) -> anyhow::Result<Option<Part>> {
    if let Some(split) = given.flags.split {
        return Ok(Some(Part::Split(SplitPlan { split, lines: given.flags.lines })));
    }
    let Some(ranges) = &given.flags.ranges else { return Ok(None) };
    if given.kind == Kind::Decompress && *target == Target::Beside {
        bail!("--ranges gives a part of the text: use it with -c or -o.");
    }
    Ok(Some(Part::Ranges(text_ranges(given, ranges)?)))
}

fn text_ranges(given: &Given<'_>, Ranges(ranges): &Ranges) -> anyhow::Result<TextRanges> {
    let lines = given.flags.lines;
    let is_lines = |amount| matches!(amount, Amount::Lines(_));
    if lines && ranges.iter().any(|range| is_lines(range.size) || is_lines(range.offset)) {
        bail!("--lines and ranges of lines (L) cannot be used together.");
    }
    if given.reads_stdin() && given.operands.len() > 1 {
        bail!("--ranges reads stdin only if it is the one input file.");
    }
    let index = IndexPlan::new(given)?;
    if index.as_ref().is_some_and(|index| index.path.is_none()) && given.reads_stdin() {
        bail!("The index needs a name: use --index=FILE.");
    }
    Ok(TextRanges { ranges: ranges.clone(), lines, index })
}
