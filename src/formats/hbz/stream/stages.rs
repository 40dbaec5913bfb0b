//! All stations decode one long block of a `.hbz` stream: the three stages of `hbz::codec::decode`, each cut into jobs
//! of the one queue.
//!
//! The job that completes a stage submits the next one, and the job that completes the last one answers for the block.
//! No thread therefore waits for a stage, several blocks can be in flight at the same time, and the receiver of the
//! text has a single ticket.

use crate::block::{SharedBytes, Text};
use crate::codec::mtf::decode::MtfDecoder;
use crate::flaw::Flaw;
use crate::formats::hbz::codec::decode::{
    FirstColumn, PayloadBlock, Runs, SegmentStart, TextCheck, TextLens, Vector, Vectors, compact, segment_mtf,
};
use crate::formats::hbz::codec::encode::HbzEncoder;
use crate::formats::hbz::header::SEGMENT_LOG;
use hybz_queue::{Core, Duty, Submitter, Task, TaskError};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The rows of a job: as many as one set of lanes walks at once. A stage ends when its last job does, so jobs are
/// short.
const JOB_ROWS: usize = 1 << 19;

/// The state of a block in the stages.
struct Stages {
    block: Arc<PayloadBlock>,
    submitter: Submitter,
    vectors: Arc<Vectors>,
    progress: Mutex<Progress>,
}

/// The results of the current stage's jobs.
struct Progress {
    /// Jobs of the stage that are not done.
    left: usize,
    runs: Vec<Option<Vec<Runs>>>,
    texts: Vec<Option<Vec<u8>>>,
    /// Texts before this one are in `parts`.
    next_text: usize,
    parts: Vec<SharedBytes>,
    check: TextCheck,
    /// `None` once the duty for the block has been fulfilled.
    duty: Option<Duty<Result<Text, Flaw>>>,
}

/// The reason why a block cannot be decoded.
enum Stop {
    Damaged(Flaw),
    Failed(TaskError),
}

impl From<Flaw> for Stop {
    fn from(damage: Flaw) -> Self {
        Stop::Damaged(damage)
    }
}

impl From<TaskError> for Stop {
    fn from(error: TaskError) -> Self {
        Stop::Failed(error)
    }
}

/// Submits the first stage; `duty` gets the text.
pub(super) fn start(block: PayloadBlock, submitter: Submitter, vectors: Arc<Vectors>, duty: Duty<Result<Text, Flaw>>) {
    let ranges: Vec<_> = ranges(block.segments(), JOB_ROWS >> SEGMENT_LOG).collect();
    let progress = Progress {
        left: ranges.len(),
        runs: ranges.iter().map(|_| None).collect(),
        texts: Vec::new(),
        next_text: 0,
        parts: Vec::new(),
        check: TextCheck::default(),
        duty: Some(duty),
    };
    let stages = Arc::new(Stages { block: Arc::new(block), submitter, vectors, progress: Mutex::new(progress) });
    for (number, segments) in ranges.into_iter().enumerate() {
        let (task, own) = (DecodeRuns { block: Arc::clone(&stages.block), segments }, Arc::clone(&stages));
        stages.submitter.task(task).submit_then(move |_, runs, _| {
            own.after(runs.map_err(Stop::from).and_then(|runs| Ok(runs?)), |stages, runs| {
                stages.take_runs(number, runs)
            });
        });
    }
}

impl Stages {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles the end of a job: `take`s its result, unless the block has failed or fails with it.
    fn after<A>(self: &Arc<Self>, answer: Result<A, Stop>, take: impl FnOnce(&Arc<Self>, A) -> Result<(), Stop>) {
        let Err(stop) = answer.and_then(|answer| take(self, answer)) else { return };
        if let Some(duty) = self.progress().duty.take() {
            duty.fulfil(match stop {
                Stop::Damaged(damage) => Ok(Err(damage)),
                Stop::Failed(error) => Err(error),
            });
        }
    }

    fn take_runs(self: &Arc<Self>, number: usize, runs: Vec<Runs>) -> Result<(), Stop> {
        let mut progress = self.progress();
        progress.runs[number] = Some(runs);
        progress.left -= 1;
        // After damage no further stage begins.
        if progress.left > 0 || progress.duty.is_none() {
            return Ok(());
        }
        let runs: Vec<Runs> = std::mem::take(&mut progress.runs).into_iter().flatten().flatten().collect();
        drop(progress);
        self.fill(runs);
        Ok(())
    }

    fn fill(self: &Arc<Self>, runs: Vec<Runs>) {
        let (starts, first_column) = self.block.segment_starts(&runs);
        let (vector, first_column) = (Arc::new(self.vectors.take(self.block.rows())), Arc::new(first_column));
        let parts: Vec<_> = runs.into_iter().zip(starts).map(Arc::new).collect();
        let ranges: Vec<_> = ranges(parts.len(), JOB_ROWS >> SEGMENT_LOG).collect();
        self.progress().left = ranges.len();
        for segments in ranges {
            let (first, parts) = (segments.start, parts[segments].to_vec());
            let task = FillVector { block: Arc::clone(&self.block), parts, first, vector: Arc::clone(&vector) };
            let (own, vector, first_column) = (Arc::clone(self), Arc::clone(&vector), Arc::clone(&first_column));
            self.submitter.task(task).submit_then(move |_, filled, _| {
                own.after(filled.map_err(Stop::from), |stages, ()| {
                    let left = {
                        let mut progress = stages.progress();
                        progress.left -= 1;
                        progress.left
                    };
                    if left == 0 {
                        stages.walk(vector, first_column);
                    }
                    Ok(())
                });
            });
        }
    }

    fn walk(self: &Arc<Self>, vector: Arc<Vector>, first_column: Arc<FirstColumn>) {
        let ranges: Vec<_> = ranges(self.block.entries(), self.block.entries_in(JOB_ROWS)).collect();
        let lens = Arc::new(TextLens::new(ranges.len()));
        {
            let mut progress = self.progress();
            progress.left = ranges.len();
            progress.texts = ranges.iter().map(|_| None).collect();
        }
        for (number, entries) in ranges.into_iter().enumerate() {
            let (block, vector, first_column) =
                (Arc::clone(&self.block), Arc::clone(&vector), Arc::clone(&first_column));
            let (own, lens) = (Arc::clone(self), Arc::clone(&lens));
            let task = WalkEntries { block, entries, vector, first_column, number, lens };
            self.submitter.task(task).submit_then(move |_, text, _| {
                own.after(text.map_err(Stop::from).and_then(|text| Ok(text?)), |stages, text| {
                    stages.take_text(number, text)
                });
            });
        }
    }

    /// Appends the texts that come next in the block, while other stations walk later parts.
    fn take_text(self: &Arc<Self>, number: usize, text: Vec<u8>) -> Result<(), Stop> {
        let mut progress = self.progress();
        let Progress { left, texts, next_text, parts, check, duty, .. } = &mut *progress;
        texts[number] = Some(text);
        *left -= 1;
        if self.block.is_compact() {
            if *left == 0
                && let Some(duty) = duty.take()
            {
                let codes = std::mem::take(texts).into_iter().flatten().collect();
                duty.fulfil(Ok(compact(&self.block, codes)));
            }
            return Ok(());
        }
        while let Some(mut text) = texts.get_mut(*next_text).and_then(Option::take) {
            *next_text += 1;
            check.add(&self.block, &mut text);
            parts.push(text.into());
        }
        if *left == 0
            && let Some(duty) = duty.take()
        {
            let parts = std::mem::take(parts);
            duty.fulfil(Ok(check.finish(&self.block).map(|()| Text::Parts(parts))));
        }
        Ok(())
    }
}

/// Divides `0..count` into parts of `step`.
fn ranges(count: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(step).map(move |from| from..count.min(from + step))
}

/// Stage 1 of decoding a long block: the runs of some segments.
#[derive(Clone, Debug)]
pub struct DecodeRuns {
    /// The block.
    pub block: Arc<PayloadBlock>,
    /// Which segments.
    pub segments: Range<usize>,
}

/// A core's state for decoding segments.
struct SegmentMtf(MtfDecoder);

impl Task for DecodeRuns {
    type Output = Result<Vec<Runs>, Flaw>;

    fn run(&self, core: &mut Core) -> Self::Output {
        core.release::<HbzEncoder>();
        let SegmentMtf(mtf) = core.state_with(|_| SegmentMtf(segment_mtf()));
        self.segments.clone().map(|number| self.block.runs(number, mtf)).collect()
    }
}

/// Stage 2: some segments into the vector.
#[derive(Clone, Debug)]
pub struct FillVector {
    /// The block.
    pub block: Arc<PayloadBlock>,
    /// The runs and starts of some consecutive segments.
    pub parts: Vec<Arc<(Runs, SegmentStart)>>,
    /// The number of the first of them.
    pub first: usize,
    /// The vector, a word for each row.
    pub vector: Arc<Vector>,
}

impl Task for FillVector {
    type Output = ();

    fn run(&self, _: &mut Core) {
        for (number, part) in (self.first..).zip(&self.parts) {
            self.block.fill(number, &part.0, &part.1, &self.vector);
        }
    }
}

/// Stage 3: the text from some entry points on.
#[derive(Clone, Debug)]
pub struct WalkEntries {
    /// The block.
    pub block: Arc<PayloadBlock>,
    /// Which entry points.
    pub entries: Range<usize>,
    /// The vector, complete.
    pub vector: Arc<Vector>,
    /// The first row of each byte.
    pub first_column: Arc<FirstColumn>,
    /// The number of this walk in its block.
    pub number: usize,
    /// The lengths of the texts that the walks give.
    pub lens: Arc<TextLens>,
}

impl Task for WalkEntries {
    /// The text, still perturbed and its CRC not yet compared; for a compact block, its codes.
    type Output = Result<Vec<u8>, Flaw>;

    fn run(&self, _: &mut Core) -> Self::Output {
        self.block.walk(self.entries.clone(), &self.vector, &self.first_column, self.lens.of(self.number))
    }

    fn bytes_out(text: &Self::Output) -> u64 {
        text.as_ref().map_or(0, |text| text.len() as u64)
    }
}
