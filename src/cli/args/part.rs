//! Parts of compressed files: ranges of their text, and some of their streams.

use super::index::IndexPlan;
use super::kind::{Given, Kind};
use super::ranges::{Amount, Range, Ranges};
use super::split::Split;
use super::task::Target;
use anyhow::bail;

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Ranges(TextRanges),
    Streams(StreamRange),
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

/// The streams that begin at byte `at` or later: the first `count` of them, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamRange {
    pub at: u64,
    pub count: Option<u64>,
}

/// The part that `-d` decompresses, if not the whole file.
pub fn part(given: &Given<'_>, target: &Target) -> anyhow::Result<Option<Part>> {
    if let Some(split) = given.flags.split {
        return Ok(Some(Part::Split(SplitPlan { split, lines: given.flags.lines })));
    }
    let flag = match () {
        () if given.flags.ranges.is_some() => "--ranges",
        () if given.flags.at.is_some() => "--at",
        () if given.flags.streams.is_some() => "--streams",
        () => return Ok(None),
    };
    if given.kind == Kind::Decompress && *target == Target::Beside {
        bail!("{flag} gives a part of the text: use it with -c or -o.");
    }
    Ok(match &given.flags.ranges {
        Some(ranges) => Some(Part::Ranges(text_ranges(given, ranges)?)),
        None => streams(given)?.map(Part::Streams),
    })
}

/// The streams that `--at` and `--streams` ask for.
pub fn streams(given: &Given<'_>) -> anyhow::Result<Option<StreamRange>> {
    let (at, count) = (given.flags.at, given.flags.streams);
    if at.is_none() && count.is_none() {
        return Ok(None);
    }
    if given.flags.index.is_some() {
        let flag = if at.is_some() { "--at" } else { "--streams" };
        bail!("An index describes a whole file: {flag} and --index cannot be used together.");
    }
    Ok(Some(StreamRange { at: at.unwrap_or(0), count }))
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
    if given.flags.index.is_some() && given.flags.index_format.is_some() {
        bail!("--ranges reads an index of any format: --index-format is about writing one.");
    }
    let index = IndexPlan::new(given)?;
    if index.as_ref().is_some_and(|index| index.path.is_none()) && given.reads_stdin() {
        bail!("The index needs a name: use --index=FILE.");
    }
    Ok(TextRanges { ranges: ranges.clone(), lines, index })
}
