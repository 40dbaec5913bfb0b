//! Batches of slabs in the kernel's format (`cuda/dither.cu` has the table of arrays), and the station that passes
//! batches to a kernel, which runs on a GPU, or emulated in a test.

use crate::slab::{Done, STRIP, Task};
use crate::work::{complete, slab};
use hybz::schedule::{Job, Station, StationError};
use std::sync::Arc;

/// Room at both ends of a line: `ROOM` of the kernel.
const ROOM: usize = 32;
/// The alignment of each array.
const ALIGN: usize = 16;

/// Some slabs for the kernel.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The structures `slab` of the kernel, one after the other.
    pub table: Vec<u8>,
    /// The number of structures.
    pub slabs: u32,
    /// The number of strips of all slabs.
    pub strips: u32,
    /// The kernel's `in`.
    pub input: Vec<u8>,
    /// The number of bytes of its `out`.
    pub output: usize,
    places: Vec<Places>,
}

/// The positions of a slab's answer in the output.
#[derive(Clone, Copy, Debug)]
struct Places {
    bits: usize,
    lines: usize,
    right: usize,
}

/// The maximum number of columns, rows and steps of a slab that the kernel can count.
const MOST: usize = 1 << 28;

impl Batch {
    /// Whether a slab can be in a batch at all.
    pub fn takes(task: &Task) -> bool {
        let slab = &task.slab;
        let steps = [slab.from, slab.to].iter().all(|step| step.unsigned_abs() < MOST as u64);
        steps && slab.from < slab.to && slab.rows.len() < MOST && !slab.rows.is_empty() && task.picture.width() < MOST
    }

    /// The maximum number of bytes that a slab takes in the input and the output together.
    pub fn bytes(task: &Task) -> usize {
        let (rows, columns) = (task.slab.rows.len(), task.slab.window(task.picture.width()).len());
        let lines = (task.slab.strips() + 1) * (columns + 2 * ROOM);
        (rows * columns).saturating_add(rows * columns / 8).saturating_add(lines).saturating_add(8 * rows + 6 * ALIGN)
    }

    /// Packs slabs, each of which it [`takes`](Self::takes).
    pub fn pack(tasks: &[Arc<Task>]) -> Batch {
        let mut batch = Batch::default();
        tasks.iter().for_each(|task| batch.add(task));
        batch
    }

    fn add(&mut self, task: &Task) {
        let width = task.picture.width();
        let (slab, window) = (&task.slab, task.slab.window(width));
        let (rows, columns) = (slab.rows.len(), window.len());
        let pixels = self.input.len();
        for y in slab.rows.clone() {
            let row = task.picture.row(y);
            let there = &row[window.start.min(width)..window.end.min(width)];
            self.input.extend_from_slice(there);
            self.input.resize(self.input.len() + columns - there.len(), 0);
        }
        let above = self.begin_array();
        self.input.resize(above + columns + 2 * ROOM, 0);
        for (x, &error) in (slab.from - 1..).zip(&task.above) {
            let at = x - window.start as i64 + ROOM as i64;
            if let Some(to) = usize::try_from(at).ok().and_then(|at| self.input[above..].get_mut(at)) {
                *to = error as u8;
            }
        }
        let left = self.begin_array();
        for y in slab.rows.clone() {
            let [near, middle, far] = task.left_of(y).map(|error| error as u8);
            self.input.extend([near, middle, far, 0]);
        }
        self.begin_array();
        let places = Places {
            bits: self.room(rows * columns / 8),
            lines: self.room(slab.strips() * (columns + 2 * ROOM)),
            right: self.room(4 * rows),
        };
        self.places.push(places);
        for offset in [pixels, above, left, places.bits, places.lines, places.right] {
            self.table.extend((offset as u64).to_le_bytes());
        }
        let from = (slab.from - window.start as i64) as u32;
        let width = width.saturating_sub(window.start) as u32;
        let steps = (slab.to - slab.from) as u32;
        for number in [rows as u32, columns as u32, self.strips, from, steps, width] {
            self.table.extend(number.to_le_bytes());
        }
        self.slabs += 1;
        self.strips += slab.strips() as u32;
    }

    /// Aligns the input for the next array. Returns its position.
    fn begin_array(&mut self) -> usize {
        self.input.resize(self.input.len().next_multiple_of(ALIGN), 0);
        self.input.len()
    }

    /// Reserves bytes of the output.
    fn room(&mut self, bytes: usize) -> usize {
        let begin = self.output;
        self.output = (begin + bytes).next_multiple_of(ALIGN);
        begin
    }

    /// The answers, from an output of as many bytes as it should have.
    pub fn unpack(&self, tasks: &[Arc<Task>], output: &[u8]) -> Vec<Done> {
        tasks.iter().zip(&self.places).map(|(task, places)| answer(task, places, output)).collect()
    }
}

fn answer(task: &Task, places: &Places, output: &[u8]) -> Done {
    let width = task.picture.width();
    let window = task.slab.window(width);
    let mut done = Done::empty(&task.slab, width);
    let bits = done.bits.len();
    done.bits.copy_from_slice(&output[places.bits..][..bits]);
    let stride = window.len() + 2 * ROOM;
    for strip in 0..task.slab.strips() {
        let y = task.slab.rows.end.min(task.slab.rows.start + (strip + 1) * STRIP) - 1;
        let line = &output[places.lines + strip * stride..][..stride];
        for x in task.slab.columns(y, width) {
            let x = x - window.start;
            done.lines[strip * window.len() + x] = line[ROOM + x] as i8;
        }
    }
    let right = output[places.right..].chunks_exact(4);
    for (to, from) in done.right.iter_mut().zip(right) {
        *to = [from[0] as i8, from[1] as i8, from[2] as i8];
    }
    done
}

/// Runs the kernel.
pub trait Kernel: Send {
    /// A name for reports.
    fn name(&self) -> String;

    /// The maximum number of bytes of a batch, input and output together.
    fn most_bytes(&self) -> usize;

    /// Runs a batch and returns the output.
    ///
    /// # Errors
    /// If the batch cannot be run, or does not end.
    fn run(&mut self, batch: &Batch) -> Result<Vec<u8>, KernelError>;
}

/// The reasons why a kernel's run failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelError {
    /// Too little memory for this batch: cores do it.
    Memory(String),
    /// The device is lost.
    Lost(String),
}

/// The station that a kernel makes.
#[derive(Debug)]
pub struct Lane<K>(pub K);

/// The number of slabs in a batch. A GPU has room for the strips of some large pictures, or of many small ones.
const MAX_BATCH: usize = 64;

impl<K: Kernel> Station for Lane<K> {
    fn name(&self) -> String {
        self.0.name()
    }

    fn max_batch(&self) -> usize {
        MAX_BATCH
    }

    fn max_bytes(&self) -> u64 {
        self.0.most_bytes() as u64 / 2
    }

    fn work(&mut self, batch: &mut [Job]) -> Result<(), StationError> {
        let (mut tasks, mut jobs, mut bytes) = (Vec::new(), Vec::new(), 0usize);
        for job in batch {
            let fits = slab(job).filter(|task| Batch::takes(task)).cloned();
            let fits = fits.filter(|task| bytes.saturating_add(Batch::bytes(task)) <= self.0.most_bytes());
            match fits {
                Some(task) => {
                    bytes += Batch::bytes(&task);
                    tasks.push(task);
                    jobs.push(job);
                }
                None => job.decline(),
            }
        }
        if tasks.is_empty() {
            return Ok(());
        }
        let packed = Batch::pack(&tasks);
        match self.0.run(&packed) {
            Ok(output) if output.len() == packed.output => {
                for (job, done) in jobs.into_iter().zip(packed.unpack(&tasks, &output)) {
                    complete(job, done);
                }
                Ok(())
            }
            Ok(_) => Err(StationError { reason: "an output of the wrong length".to_owned(), retire: true }),
            Err(KernelError::Memory(reason)) => Err(StationError { reason, retire: false }),
            Err(KernelError::Lost(reason)) => Err(StationError { reason, retire: true }),
        }
    }
}
