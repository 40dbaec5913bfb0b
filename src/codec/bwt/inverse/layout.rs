//! The entries of T after the rows: ladders and entry rows, as all kernels of the walk find them.

/// The number of steps between two checks of the lanes, and of rungs of a ladder.
pub(super) const STEPS: usize = 16;
/// The max number of splitters.
pub(super) const MAX_SPLITTERS: usize = 1024;
/// An entry that leads to itself, for lanes without a segment.
pub(super) const IDLE: usize = (1 << 20) - 1;
/// The first rung of the first ladder.
pub(super) const LADDERS: usize = 1 << 20;
/// The entries at which lanes begin segments: the entries that were in the splitters' rows.
pub(super) const ENTRIES: usize = LADDERS + MAX_SPLITTERS * STEPS;
/// The number of entries of T.
pub(super) const TABLE: usize = ENTRIES + MAX_SPLITTERS;
