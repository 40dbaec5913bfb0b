//! What a device takes off the cores.

use hybz_gpu::Pipeline;

/// The work that a device does for the cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offload {
    /// The device sorts all rotations and returns the last column; a core codes it.
    Bwt,
    /// The device sorts two thirds of the rotations and from these the rest, and returns both lists; a core merges and
    /// codes them (the shape of Deshpande's thesis, 2014, section 5.2).
    Hybrid,
    /// The device sorts all rotations and codes the columns; the lane's thread writes the heads of the blocks before
    /// the codes. The cores do nothing.
    #[default]
    Resident,
    /// For blocks of `.hbz` streams: the device sorts all suffixes, and returns the last column and the entry points; a
    /// core codes. (The lane's thread does the steps before the sort.)
    Suffixes,
    /// Like [`Suffixes`](Self::Suffixes), but in the shape of [`Hybrid`](Self::Hybrid).
    HybridLarge,
    /// Like [`Suffixes`](Self::Suffixes), but the device codes; the lane's thread writes the heads of the blocks. The
    /// cores do nothing.
    CodeLarge,
    /// The other direction, for `.bz2` streams: the lane's thread reads the headers, the device decodes blocks up to
    /// their text, and the thread checks it; some texts come back run-length-coded.
    Decode,
    /// The same for `.hbz` streams: the lane's thread reads the payloads up to their segments, the device decodes
    /// blocks up to their codes, and the thread replaces the codes by text and checks it.
    DecodeLarge,
}

impl Offload {
    /// What the device does for it.
    pub(super) fn pipeline(self) -> Pipeline {
        match self {
            Offload::Bwt => Pipeline::Bwt,
            Offload::Hybrid | Offload::HybridLarge => Pipeline::Hybrid,
            Offload::Resident => Pipeline::Resident,
            Offload::Suffixes => Pipeline::Suffixes,
            Offload::CodeLarge => Pipeline::CodeLarge,
            Offload::Decode => Pipeline::Decode,
            Offload::DecodeLarge => Pipeline::DecodeLarge,
        }
    }
}
