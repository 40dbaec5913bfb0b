//! Decodes a block 32 sequences at a time, as a warp with a lane for each sequence could, optionally starting at the
//! places of an index. Files are never decoded by this module, but by `block`. (The kernel differs: it finds tokens by
//! pointer jumping, has a lane for each byte, and needs no places. The kernel's own code runs in the emulation,
//! `cuda/sim`.)
//!
//! 1. The tokens of a group are parsed, one after the other.
//! 2. Prefix sums of the lengths give each lane its place in the text. Each checks its sequence; the first bad one ends
//!    the block.
//! 3. All literals are copied.
//! 4. Matches are copied in rounds. Each round copies every match whose source ends before the first incomplete target.
//!    The match of that target is always among them: its source either ends where the target begins, or overlaps it,
//!    which makes it periodic.

use super::sequence::{Sequence, Unreadable, parse};

/// The number of sequences in a group.
pub const GROUP: usize = 32;
/// The number of groups per place in an [`Index`](super::index::Index).
pub const STRIDE: usize = 8;

/// A place in a block at which a group of sequences begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The offset in the block's bytes.
    pub input: u16,
    /// The offset in the block's text.
    pub output: u16,
}

/// Counts of the work that decoding took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Groups of sequences.
    pub groups: usize,
    /// Rounds in which matches were copied.
    pub rounds: usize,
}

/// Decodes `coded` into `text` from `from` on; matches may begin before that. Returns the end of the block's text, and
/// the counts.
///
/// # Errors
/// The error of the first sequence that cannot be decoded.
pub fn decode(coded: &[u8], text: &mut [u8], from: usize) -> Result<(usize, Effort), Unreadable> {
    let (mut at, mut to, mut effort) = (0, from, Effort::default());
    loop {
        let mut group = [Sequence::default(); GROUP];
        let (count, parsed) = parse_group(coded, &mut at, &mut group);
        to = copy_group(coded, &group[..count], text, to, &mut effort)?;
        parsed?;
        if at == coded.len() {
            return Ok((to, effort));
        }
    }
}

/// Decodes a block that begins the text, using the places of an index. The parts of the block between places are parsed
/// independently, as separate lanes would. Without places it is the same as [`decode`].
///
/// # Errors
/// [`Unreadable::Samples`] if the places are not those of the block; the block itself may be good.
pub fn decode_sampled(coded: &[u8], text: &mut [u8], samples: &[Sample]) -> Result<usize, Unreadable> {
    if samples.is_empty() {
        return Ok(decode(coded, text, 0)?.0);
    }
    let mut groups = Vec::new();
    let mut start = (0, 0);
    let places = samples.iter().map(|sample| (usize::from(sample.input), usize::from(sample.output)));
    for end in places.map(Some).chain([None]) {
        parse_part(coded, start, end, &mut groups)?;
        start = end.unwrap_or(start);
    }
    let (mut to, mut effort) = (0, Effort::default());
    for group in groups.chunks(GROUP) {
        to = copy_group(coded, group, text, to, &mut effort)?;
    }
    Ok(to)
}

/// Parses from one place to the next, or to the end of the block.
fn parse_part(
    coded: &[u8],
    (mut at, mut to): (usize, usize),
    end: Option<(usize, usize)>,
    sequences: &mut Vec<Sequence>,
) -> Result<(), Unreadable> {
    for _ in 0..GROUP * STRIDE {
        if at >= coded.len() {
            return Err(Unreadable::Samples);
        }
        let sequence = parse(coded, &mut at)?;
        to += sequence.text_len();
        sequences.push(sequence);
        if at == coded.len() {
            return if end.is_none() { Ok(()) } else { Err(Unreadable::Samples) };
        }
    }
    if end == Some((at, to)) { Ok(()) } else { Err(Unreadable::Samples) }
}

/// The places at which each [`STRIDE`]th group of a block begins, except for the first.
pub(super) fn samples(coded: &[u8], samples: &mut Vec<Sample>) -> Result<(), Unreadable> {
    let (mut at, mut to, mut count) = (0, 0, 0);
    loop {
        to += parse(coded, &mut at)?.text_len();
        count += 1;
        if at == coded.len() {
            return Ok(());
        }
        if count % (GROUP * STRIDE) == 0 {
            let (Ok(input), Ok(output)) = (at.try_into(), to.try_into()) else { return Err(Unreadable::TooLong) };
            samples.push(Sample { input, output });
        }
    }
}

/// Step 1. Returns the number of sequences: fewer than a group at the end of the block or before a bad one.
fn parse_group(coded: &[u8], at: &mut usize, group: &mut [Sequence; GROUP]) -> (usize, Result<(), Unreadable>) {
    for (count, lane) in group.iter_mut().enumerate() {
        match parse(coded, at) {
            Ok(sequence) => *lane = sequence,
            Err(why) => return (count, Err(why)),
        }
        if *at == coded.len() {
            return (count + 1, Ok(()));
        }
    }
    (GROUP, Ok(()))
}

/// Steps 2 to 4. Returns the end of the text.
fn copy_group(
    coded: &[u8],
    group: &[Sequence],
    text: &mut [u8],
    from: usize,
    effort: &mut Effort,
) -> Result<usize, Unreadable> {
    let mut places = [0; GROUP + 1];
    places[0] = from;
    for (lane, sequence) in group.iter().enumerate() {
        // A lane's sum is arbitrary if a lane before it is bad; only the first bad one counts.
        sequence.check(places[lane], text.len())?;
        places[lane + 1] = places[lane] + sequence.text_len();
    }
    for (sequence, &place) in group.iter().zip(&places) {
        let literals = &coded[sequence.literals..][..sequence.literals_len];
        text[place..place + literals.len()].copy_from_slice(literals);
    }
    let mut open = group.iter().enumerate().filter(|(_, s)| s.match_len > 0).fold(0_u32, |set, (n, _)| set | 1 << n);
    effort.groups += 1;
    while open != 0 {
        let target = |lane: usize| places[lane] + group[lane].literals_len;
        let first = target(open.trailing_zeros() as usize);
        let mut done = 0_u32;
        for lane in (0..group.len()).filter(|lane| open >> lane & 1 == 1) {
            let (to, Sequence { offset, match_len, .. }) = (target(lane), group[lane]);
            let source = to - offset;
            // A match that overlaps its source reads only the source's first period.
            if source + match_len.min(offset) <= first {
                for n in 0..match_len {
                    text[to + n] = text[source + n % offset];
                }
                done |= 1 << lane;
            }
        }
        open &= !done;
        effort.rounds += 1;
    }
    Ok(places[group.len()])
}
