//! Lanes of GPUs as stations: one type for each kind of offload.
//!
//! | [`Offload`] | station | the device | remaining work |
//! |---|---|---|---|
//! | `Resident` | `encode` | sorts and codes | nothing: the lane's thread writes the heads of the blocks and answers |
//! | `Bwt` | `columns` | sorts | move-to-front and Huffman coding, forwarded to a core |
//! | `Hybrid` | `thirds` | sorts two lists, as in Deshpande's thesis (2014) | a core merges them first |
//! | `CodeLarge` | `encode_large` | sorts and codes blocks of `.hbz` streams | the lane's thread prepares, answers |
//! | `Suffixes` | `suffixes` | sorts them | a core codes |
//! | `HybridLarge` | `thirds` | sorts two lists of them | a core merges and codes |
//! | `Decode` | `decode` | decodes blocks of `.bz2` streams | the lane's thread checks and answers |
//! | `DecodeLarge` | `decode_large` | decodes blocks of `.hbz` streams | its thread expands codes, checks, answers |
//!
//! A lane (`batches`) run-length-codes a batch of blocks (`blocks`) and has the device do its part. Several lanes keep
//! a device busy: while some prepare, others sort. The device sorts 3 to 4 GB/s, and one core codes 0.1 to 0.2 GB/s of
//! sorted blocks, so all cores of the host are needed for coding. A core is most useful if it finishes blocks first and
//! sorts only when there is nothing to finish.
//!
//! The lane declines blocks that do not suit the device, and a core does them: periodic blocks, whose rotations tie
//! forever, and tiny ones.
//!
//! **Trust.** Everything that comes from a device is checked (`trust`) before it is used; a device that computes wrong
//! results gets no more work.
//!
//! **Failure.** A lane that fails is replaced by one of half the size, down to 16 blocks (one, for large blocks). After
//! that it retires, or immediately if its context is lost. Cores do its blocks.

use crate::formats::bzip2::header::MAX_ENCODER_BLOCK;
use crate::formats::bzip2::stream::tasks::{DECODE, ENCODE};
use crate::formats::hbz::header::LargeBlocks;
use crate::formats::hbz::stream::tasks::{DECODE_LARGE, ENCODE_LARGE};
use batches::station;
use decode_large::Growth;
use hybz_gpu::{self as gpu, Backend, Device, LaneSize, Open};
use hybz_queue::{Accelerators, Class, Expected, PoolBuilder, Station, WorkerGroup, memory_of_machine};
use std::num::NonZero;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

mod batches;
mod blocks;
#[cfg(test)]
mod coding_cases;
mod columns;
mod decode;
mod decode_large;
#[cfg(test)]
mod decode_tests;
mod encode;
mod encode_large;
#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod large_tests;
mod offload;
mod payload;
#[cfg(test)]
mod pool_tests;
#[cfg(test)]
mod proof_tests;
mod same;
mod suffixes;
#[cfg(test)]
mod tests;
mod thirds;
#[cfg(test)]
mod trial_tests;
mod trust;

pub use offload::Offload;

/// The lengths of text in a batch of large blocks, and in all lanes of a device together. Each byte takes up to 78
/// bytes of device memory.
const LARGE_BATCH: usize = 32 << 20;
const LARGE_BATCHES: usize = 1 << 30;

/// Blocks up to this length are coded by the lanes, longer ones only sorted.
const LARGE_CODED: usize = 64 << 20;

/// The length of the compressed data of a block to be decoded, on average over a batch: bzip2 writes up to 925,000
/// bytes for random bytes, codes and selectors.
const MAX_CODED: usize = 1 << 20;

/// The number of rows that a lane for `.hbz` has for each block. Only their total counts: 32 million, or 40 MB of
/// source code, in 1,000 chains. A longer block makes its lane longer.
const LARGE_ROWS: usize = 1 << 19;

/// The number of threads for each device, and one more, that read and cut one long file. One thread handles 3.6 GB/s if
/// it is alone, and 1.4 next to the lanes of two H200s: with three for each of these 97 GB took 9.92 s, with four 9.77.
/// One device makes no difference between two and four.
const READERS: usize = 4;

/// The length of a block with which lanes that code reach their rate. A batch has 32 blocks at most, however short:
/// with a GPU, 4,000 files of 64 kB took 0.93 s, without it 0.60.
const FULL_BLOCK: u64 = 900_000;

/// The GPU lanes that a pool gets, on all visible devices unless [`devices`](Self::devices) says which.
///
/// ```
/// use hybz::{Lanes, Pool};
/// let pool = Pool::builder().accelerators(&Lanes::default()).accelerators(&Lanes::for_decoding()).build();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    /// The devices, in the notation of [`gpu::select`]; all visible ones if `None`.
    devices: Option<String>,
    /// The number of lanes of each device.
    lanes: usize,
    /// The maximum number of blocks in a batch. Each byte of each block costs 73 bytes of device memory and 2 of pinned
    /// memory (hybrid: about 56 and 2.2, resident: 73 and 2.25, suffixes: 70 to 78 and 2).
    blocks: usize,
    /// The longest block, in bytes: for `.bz2` streams a little more than 900,000.
    max_length: usize,
    /// The number of additional bytes of pinned memory that all lanes of one device that decode `.hbz` streams may take
    /// together for longer blocks: 1.5 for each row. An eighth of the machine's or container's memory if `None`. Cores
    /// do blocks for which no lane has room.
    growth: Option<u64>,
    /// Whether lanes are started with the first block, instead of when the work left is worth their start.
    at_once: bool,
    /// How the work is divided between devices and cores.
    offload: Offload,
    /// Whether the lanes prove the blocks that they code.
    verified: bool,
}

impl Default for Lanes {
    /// Ten lanes of 32 blocks (2.1 GB of device memory each) on every device.
    ///
    /// A lane's thread spends two thirds of its time preparing and checking, so four lanes leave an H200 half idle: on
    /// a machine of 16 cores, all of them working, four lanes of 64 blocks reached 1.57 GB/s and eight of 32 reached
    /// 2.12. With ten, 8 GB took 0.97 and 0.98 of the time with eight on two hosts; twelve gave no more.
    fn default() -> Self {
        let (lanes, blocks, max_length) = (10, 32, MAX_ENCODER_BLOCK);
        let offload = Offload::default();
        Lanes { devices: None, lanes, blocks, max_length, growth: None, at_once: false, offload, verified: false }
    }
}

impl Lanes {
    /// Lanes that code blocks of `.hbz` streams only, not of `.bz2`: batches of 32 MB or one block, in up to sixteen
    /// lanes. For blocks of more than 64 MiB there are fewer lanes, and these only sort, because a lane's thread would
    /// have too much to do. With blocks of 200 MB, 8 GB took 14 s if cores code what five lanes have sorted, and 21 to
    /// 23 s if the lanes code too (one H200, 16 cores); with blocks of 9 MB, 9.3 and 5.6 s.
    pub fn for_large_blocks(large: &LargeBlocks) -> Self {
        let stream = large.stream();
        // Perturbation makes blocks longer, and cores do the blocks that no lane can hold.
        let max_length = (stream.max_rows(stream.block_size) as usize).min(gpu::MAX_WIDE_BLOCK);
        let blocks = LARGE_BATCH.div_ceil(max_length).min(gpu::MAX_BATCH);
        let lanes = (LARGE_BATCHES / (blocks * max_length)).clamp(1, decoding_lanes());
        let offload = if stream.block_size as usize <= LARGE_CODED { Offload::CodeLarge } else { Offload::Suffixes };
        Lanes { lanes, blocks, max_length, offload, ..Lanes::default() }
    }

    /// Lanes that decode `.bz2` streams, of 32 blocks each (0.33 GB of device memory): three for two threads of the
    /// machine, twelve to 24, on one device; two thirds of these on each of several.
    ///
    /// A block's Huffman codes are one chain of 12 ms, so the speed depends on the number of blocks in flight. On hosts
    /// of 16 cores with an H200, 8 GB took 1.49 s with 16 lanes, 1.35 with 24, 1.36 with 32 of 24 blocks, 1.42 with 32
    /// (medians of four); 1.48, 1.30 and, with 24 lanes of 48 blocks, 1.30 (medians of five).
    pub fn for_decoding() -> Self {
        let lanes = decoding_lanes() * 3 / 2;
        Lanes { lanes, max_length: MAX_CODED, offload: Offload::Decode, ..Lanes::default() }
    }

    /// Lanes that decode `.hbz` streams: eight to sixteen of 32 million rows on every device, each with 242 MB of
    /// device memory and 51 MB of pinned memory.
    ///
    /// A lane's thread spends two thirds of its time turning codes into text. With an H200 and 16 cores, 8 GB at 9M
    /// took 2.6 to 3.0 s with eight lanes of 64 million rows, 2.1 with twelve or sixteen, and 2.0 with sixteen of half
    /// the size.
    pub fn for_decoding_large() -> Self {
        let (lanes, blocks, max_length) = (decoding_lanes(), gpu::MAX_LARGE, LARGE_ROWS);
        Lanes { lanes, blocks, max_length, offload: Offload::DecodeLarge, ..Lanes::default() }
    }

    /// The lanes prove that each `.bz2` block which they code is right, for [`Verify`](crate::Verify): without this,
    /// cores decode these blocks.
    pub fn verified(mut self) -> Self {
        self.verified = true;
        self
    }

    /// Only these devices: their numbers, names such as `GPU-4f0b` or PCI addresses, with commas between them.
    pub fn devices(mut self, devices: impl Into<String>) -> Self {
        self.devices = Some(devices.into());
        self
    }

    /// Whether lanes are started with the first block, instead of when the work left is worth their start.
    pub fn at_once(mut self, at_once: bool) -> Self {
        self.at_once = at_once;
        self
    }

    /// The approximate number of input bytes in a batch.
    pub(crate) fn batch_bytes(&self) -> u64 {
        let rows = (self.blocks * self.max_length) as u64;
        if self.offload == Offload::DecodeLarge { rows / 4 } else { rows }
    }

    /// The expected number of devices.
    fn device_count(&self) -> usize {
        gpu::Choice::new(self.devices.as_deref()).count()
    }

    /// The number of threads that should read one long file while these lanes run. An input of `.bz2` streams can be
    /// read from any place, both to compress and to decompress.
    pub(crate) fn readers(&self) -> usize {
        1 + kind(self.offload).readers * self.device_count()
    }

    /// One group for each device. No device is looked for before a group is started; a lane that cannot be opened says
    /// so in its station's report.
    pub(crate) fn groups(&self) -> Vec<WorkerGroup> {
        let choice = gpu::Choice::new(self.devices.as_deref());
        // Several devices wait for the host's memory rather than for blocks: with two H200s and 32 cores, 97 GB took
        // 4.23 s with 24 lanes that decode on each, 4.14 with 16 and 4.61 with 12 (medians of three). One needs all 24.
        let is_shared = self.offload == Offload::Decode && choice.count() > 1;
        let lanes = if is_shared { (self.lanes * 2).div_ceil(3) } else { self.lanes };
        (0..choice.count()).map(|number| self.group(number, lanes, &choice)).collect()
    }

    fn group(&self, number: usize, lanes: usize, choice: &gpu::Choice) -> WorkerGroup {
        let Kind { accepts, held, rate, start, end, full_task, .. } = kind(self.offload);
        let [start, end] = [start, end].map(Duration::from_millis);
        let held = held * (self.blocks * self.max_length) as u64;
        let mut group = WorkerGroup::new(accepts, Expected { rate, start, end }).held_bytes(held).full_task(full_task);
        if self.at_once {
            group = group.at_once();
        }
        let shared = Arc::<Shared>::default();
        for lane in 0..lanes {
            let (own, choice, shared) = (self.clone(), choice.clone(), Arc::clone(&shared));
            group = group.member(move || {
                let (backend, device) = choice.device(number)?;
                let name = format!("gpu {} lane {lane}", device.number);
                own.open(backend, device, name, &shared)
            });
        }
        group
    }

    /// Opens one lane of a device.
    fn open(
        &self,
        backend: &'static dyn Backend,
        device: Device,
        name: String,
        shared: &Shared,
    ) -> Result<Box<dyn Station>, String> {
        let (pipeline, max_length) = (self.offload.pipeline(), self.max_length);
        let size = move |max_blocks| LaneSize { max_blocks, max_length };
        self.station(name, Box::new(move |blocks| backend.open(&device, pipeline, size(blocks))), shared)
    }

    /// A station whose lanes `open` opens.
    fn station(&self, name: String, open: Open, shared: &Shared) -> Result<Box<dyn Station>, String> {
        let blocks = self.blocks;
        match self.offload {
            Offload::Bwt => station(name, blocks, open, columns::Columns::default()),
            Offload::Hybrid => station(name, blocks, open, thirds::Thirds::default()),
            Offload::Resident if self.verified => station(name, blocks, open, encode::Codes::<true>::default()),
            Offload::Resident => station(name, blocks, open, encode::Codes::<false>::default()),
            Offload::Suffixes => station(name, blocks, open, suffixes::Suffixes::default()),
            Offload::HybridLarge => station(name, blocks, open, thirds::LargeThirds::default()),
            Offload::CodeLarge => station(name, blocks, open, encode_large::LargeCodes::counting(&shared.batches)),
            Offload::Decode => station(name, blocks, open, decode::Spans::default()),
            Offload::DecodeLarge => {
                let most = || self.growth.unwrap_or_else(|| memory_of_machine() / 8);
                let growth = shared.growth.get_or_init(|| Arc::new(Growth::new(most())));
                station(name, blocks, open, decode_large::Large::new(Arc::clone(growth)))
            }
        }
    }
}

/// How the lanes of an [`Offload`] differ from others.
///
/// The expected performance, about half of an H200's, holds until the lanes have been measured. Lanes are ready after
/// 0.26 to 0.4 s, and the end of a process takes 0.15 to 0.25 s. So of texts to be compressed on H200 hosts, 400 MB
/// stay on 16 cores (0.64 s) and 500 MB get a GPU (0.56 s, without it 0.78); with 600 and 300 ms and half the rate,
/// 600 MB stayed there (1.02 s, with a GPU 0.56). Of `.hbz`, 300 MB get one (0.71 s, without it 1.42). For
/// decompressing `.bz2` the longer times are kept: 32 cores decoded 1.5 GB in 0.56 s, and with a GPU, which they got if
/// 350 and 200 ms and twice the rate were expected, in 0.70.
struct Kind {
    accepts: &'static [Class],
    /// The bytes of the memory budget that a lane can hold at one time, for each byte of a batch.
    held: u64,
    /// The expected bytes of input (compressed bytes when decoding) of a device in a second. The rate also decides
    /// whether cores leave hardware threads to lanes that start. While 0.3 GB/s were expected, 32 cores were thought
    /// faster than the lanes, and all of them worked and slowed the driver down: with two H200s, 24 GB took 2.22 s,
    /// with `-p4` 2.07.
    rate: f64,
    /// The expected milliseconds that the start and the end of lanes take.
    start: u64,
    end: u64,
    /// The length of a block with which the lanes reach this rate; 0 if any.
    full_task: u64,
    /// The number of threads for each device that should read one long file.
    readers: usize,
}

const SORTING: Kind =
    Kind { accepts: &[ENCODE], held: 5, rate: 1e9, start: 600, end: 300, full_task: FULL_BLOCK, readers: READERS };
/// A block of a `.hbz` stream is charged in the lane and after it.
const SORTING_LARGE: Kind = Kind { accepts: &[ENCODE_LARGE], held: 24, full_task: 0, readers: 0, ..SORTING };
/// A lane holds a batch and the next one: a span and its text, for which 2 MiB are charged. When decoding, one thread
/// is almost enough for one device.
const DECODING: Kind = Kind { accepts: &[DECODE], full_task: 0, readers: 1, ..SORTING };

fn kind(offload: Offload) -> Kind {
    match offload {
        Offload::Bwt | Offload::Hybrid => SORTING,
        Offload::Resident => Kind { rate: 2e9, start: 400, end: 200, ..SORTING },
        Offload::Suffixes | Offload::HybridLarge => SORTING_LARGE,
        Offload::CodeLarge => Kind { rate: 2e9, start: 400, end: 200, ..SORTING_LARGE },
        Offload::Decode => DECODING,
        // For such a block the budget is charged 8 bytes for each row, and its payload.
        Offload::DecodeLarge => {
            Kind { accepts: &[DECODE_LARGE], held: 17, rate: 0.5e9, start: 400, end: 200, ..DECODING }
        }
    }
}

/// What the lanes of a device share.
#[derive(Default)]
struct Shared {
    /// The room of lanes that decode large blocks.
    growth: OnceLock<Arc<Growth>>,
    /// The number of batches of lanes that code large blocks.
    batches: Arc<AtomicU32>,
}

/// What the command, tests and benches choose for themselves.
#[cfg(any(test, feature = "internals"))]
impl Lanes {
    /// The size of each lane.
    pub fn size(&self) -> LaneSize {
        LaneSize { max_blocks: self.blocks, max_length: self.max_length }
    }

    /// This many lanes of each device.
    pub fn lanes(mut self, lanes: usize) -> Self {
        self.lanes = lanes;
        self
    }

    /// Batches of at most this many blocks.
    pub fn blocks(mut self, blocks: usize) -> Self {
        self.blocks = blocks;
        self
    }

    /// Another division of the work.
    pub fn offload(mut self, offload: Offload) -> Self {
        self.offload = offload;
        self
    }

    /// At most as many lanes as an input of this many bytes keeps busy, and as fit into this much memory.
    pub fn limited(mut self, input: Option<u64>, memory: Option<u64>) -> Self {
        let batches = input.map_or(u64::MAX, |total| total.div_ceil(self.batch_bytes()));
        // A lane pins two to three times the text of a batch.
        let room = memory.map_or(u64::MAX, |memory| memory / (3 * (self.blocks * self.max_length) as u64));
        self.growth = memory;
        self.lanes = self.lanes.min(usize::try_from(batches.min(room)).unwrap_or(usize::MAX)).max(1);
        self
    }
}

/// The number of decoding lanes on a device: as many as hardware threads, within bounds.
fn decoding_lanes() -> usize {
    std::thread::available_parallelism().map_or(8, NonZero::get).clamp(8, 16)
}

impl Accelerators for Lanes {
    /// Adds lanes of GPUs, and the readers that feed them. Without a device, or a driver, the pool works on the cores.
    fn add_to(&self, builder: PoolBuilder) -> PoolBuilder {
        self.groups().into_iter().fold(builder.readers(self.readers()), PoolBuilder::group)
    }
}
