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
    FirstColumn, PayloadBlock, Runs, TextCheck, TextLens, Vector, Vectors, compact, segment_mtf,
};
use crate::formats::hbz::codec::encode::HbzEncoder;
use crate::formats::hbz::header::SEGMENT_LOG;
use hybz_queue::{Core, Duty, Submitter, Task, TaskError};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The rows of a job: as many as one set of lanes walks at once. A stage ends when its last job does, so jobs are
/// short.
const JOB_ROWS: usize = 1 << 19;

/// A block in the stages.
struct Stages {
    block: Arc<PayloadBlock>,
    submitter: Submitter,
    vectors: Arc<Vectors>,
    /// `None` once the duty for the block has been fulfilled.
    duty: Mutex<Option<Duty<Result<Text, Flaw>>>>,
}

/// The answers of a stage's jobs.
type Answers<A> = [Mutex<Option<A>>];

/// All answers that have not been taken, in order.
fn all<A>(answers: &Answers<A>) -> impl Iterator<Item = A> {
    answers.iter().filter_map(|answer| lock(answer).take())
}

/// A stage: the answers so far, what to do after each of them, and what to do after the last one.
struct Stage<A, E, L> {
    answers: Vec<Mutex<Option<A>>>,
    each: E,
    last: L,
}

/// Submits the first stage; `duty` gets the text.
pub(super) fn start(block: PayloadBlock, submitter: Submitter, vectors: Arc<Vectors>, duty: Duty<Result<Text, Flaw>>) {
    let stages = Arc::new(Stages { block: Arc::new(block), submitter, vectors, duty: Mutex::new(Some(duty)) });
    let block = &stages.block;
    // Stage 1: the runs of some segments.
    let job = |segments: Range<usize>| {
        let block = Arc::clone(block);
        Job(move |core: &mut Core| {
            core.release::<HbzEncoder>();
            let SegmentMtf(mtf) = core.state_with(|_| SegmentMtf(segment_mtf()));
            segments.clone().map(|number| block.runs(number, mtf)).collect::<Result<Vec<_>, _>>()
        })
    };
    let jobs = ranges(block.segments.len(), JOB_ROWS >> SEGMENT_LOG).map(job).collect();
    stages.submit(jobs, |_| (), |stages, runs| stages.fill(all(runs).flatten().collect()));
}

impl Stages {
    /// Submits the jobs of a stage. After damage, or if a job fails, `last` is not called.
    fn submit<T: Task<Output = Result<A, Flaw>>, A: Send + 'static>(
        self: &Arc<Self>,
        jobs: Vec<T>,
        each: impl Fn(&Answers<A>) + Send + Sync + 'static,
        last: impl FnOnce(&Arc<Self>, &Answers<A>) + Send + Sync + 'static,
    ) {
        let answers = jobs.iter().map(|_| Mutex::new(None)).collect();
        let stage = Arc::new(Stage { answers, each, last });
        for (number, job) in jobs.into_iter().enumerate() {
            let (own, stage) = (Arc::clone(self), Arc::clone(&stage));
            self.submitter.task(job).submit_then(move |_, answer, _| {
                match answer {
                    Ok(Ok(answer)) => {
                        *lock(&stage.answers[number]) = Some(answer);
                        (stage.each)(&stage.answers);
                    }
                    Ok(Err(flaw)) => own.end(Ok(Err(flaw))),
                    Err(error) => own.end(Err(error)),
                }
                own.leave(stage);
            });
        }
        self.leave(stage);
    }

    /// Ends the stage if nobody else works on it: all jobs are done, and all have been submitted.
    fn leave<A, E>(self: &Arc<Self>, stage: Arc<Stage<A, E, impl FnOnce(&Arc<Self>, &Answers<A>)>>) {
        if let Some(Stage { answers, last, .. }) = Arc::into_inner(stage)
            && lock(&self.duty).is_some()
        {
            last(self, &answers);
        }
    }

    /// Answers for the block, unless that has been done.
    fn end(&self, text: Result<Result<Text, Flaw>, TaskError>) {
        let duty = lock(&self.duty).take();
        if let Some(duty) = duty {
            duty.fulfil(text);
        }
    }

    /// Stage 2: segments into the vector.
    fn fill(self: &Arc<Self>, runs: Vec<Runs>) {
        let (starts, first_column) = self.block.segment_starts(&runs);
        let vector = Arc::new(self.vectors.take(self.block.header.rows));
        let parts: Vec<_> = runs.into_iter().zip(starts).map(Arc::new).collect();
        let job = |segments: Range<usize>| {
            let (first, parts) = (segments.start, parts[segments].to_vec());
            let (block, vector) = (Arc::clone(&self.block), Arc::clone(&vector));
            Job(move |_: &mut Core| {
                for (number, part) in (first..).zip(&parts) {
                    block.fill(number, &part.0, &part.1, &vector);
                }
                Ok(())
            })
        };
        let jobs = ranges(parts.len(), JOB_ROWS >> SEGMENT_LOG).map(job).collect();
        drop(parts);
        self.submit(jobs, |_| (), move |stages, _| stages.walk(&vector, &Arc::new(first_column)));
    }

    fn walk(self: &Arc<Self>, vector: &Arc<Vector>, first_column: &Arc<FirstColumn>) {
        let ranges: Vec<_> =
            ranges(self.block.entries.len(), (JOB_ROWS >> self.block.stream.entry_log).max(1)).collect();
        let lens = Arc::new(TextLens::new(ranges.len()));
        let job = |(number, entries): (usize, Range<usize>)| {
            let (block, vector, lens) = (Arc::clone(&self.block), Arc::clone(vector), Arc::clone(&lens));
            let first_column = Arc::clone(first_column);
            // The text, still with perturbation bytes, and its CRC not compared yet; for a compact block, its codes.
            Job(move |_: &mut Core| block.walk(entries.clone(), &vector, &first_column, (&lens, number)))
        };
        let jobs = ranges.into_iter().enumerate().map(job).collect();
        let joined = Arc::new(Mutex::new(Joined::default()));
        let (block, whole) = (Arc::clone(&self.block), Arc::clone(&joined));
        // While one station joins texts, the others need not wait for it: what they leave is joined later.
        let each = move |texts: &Answers<_>| {
            if let Ok(mut joined) = joined.try_lock() {
                joined.append(&block, texts);
            }
        };
        self.submit(jobs, each, move |stages, texts| {
            stages.end(Ok(lock(&whole).finish(&stages.block, texts)));
        });
    }
}

/// The texts that come first in the block, checked.
#[derive(Default)]
struct Joined {
    parts: Vec<SharedBytes>,
    check: TextCheck,
}

impl Joined {
    /// Appends the texts that come next.
    fn append(&mut self, block: &PayloadBlock, texts: &Answers<Vec<u8>>) {
        while !block.header.is_compact()
            && let Some(mut text) = texts.get(self.parts.len()).and_then(|text| lock(text).take())
        {
            self.check.add(block, &mut text);
            self.parts.push(text.into());
        }
    }

    fn finish(&mut self, block: &PayloadBlock, texts: &Answers<Vec<u8>>) -> Result<Text, Flaw> {
        if block.header.is_compact() {
            return compact(block, all(texts).collect());
        }
        self.append(block, texts);
        self.check.finish(block)?;
        Ok(Text::Parts(std::mem::take(&mut self.parts)))
    }
}

fn lock<A>(mutex: &Mutex<A>) -> MutexGuard<'_, A> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Divides `0..count` into parts of `step`.
fn ranges(count: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(step).map(move |from| from..count.min(from + step))
}

/// The result of a job; only text counts as output.
trait Made: Send + 'static {
    fn bytes(&self) -> u64 {
        0
    }
}

impl Made for Vec<Runs> {}
impl Made for () {}

impl Made for Vec<u8> {
    fn bytes(&self) -> u64 {
        self.len() as u64
    }
}

/// A job of a stage.
struct Job<F>(F);

impl<A: Made, F: Fn(&mut Core) -> Result<A, Flaw> + Send + 'static> Task for Job<F> {
    type Output = Result<A, Flaw>;

    fn run(&self, core: &mut Core) -> Self::Output {
        self.0(core)
    }

    fn bytes_out(made: &Self::Output) -> u64 {
        made.as_ref().map_or(0, A::bytes)
    }
}

/// A core's state for decoding segments.
struct SegmentMtf(MtfDecoder);
