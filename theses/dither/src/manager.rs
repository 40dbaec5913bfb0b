//! The manager: puts a picture's units on the queue when the answers that they need have come, and checks and joins the
//! answers.
//!
//! Dependencies stay outside the queue. The manager submits a unit when the answers of all units that it needs have
//! come, so every unit on the queue can be done at once, in any order, by any number of stations; a station waits for
//! the queue and nothing else. The manager, on the caller's thread, waits for one channel, into which the stations'
//! threads send the answers. It never waits for a unit that is not on the queue: a unit needs only units with smaller
//! numbers, so as long as any is left, one is in flight.
//!
//! **Checking.** A slab depends on all pixels before it, and a dithered picture shows no errors of its own: wrong bits
//! look like right ones. But an answer has the errors of every 32nd row, so each strip of it can be repeated on its
//! own, and if all strips are right, so is the slab. [`Verify::All`] does this on all cores at once, however long the
//! chain of dependencies was. [`Verify::Sample`] repeats one strip of each answer that a GPU may have given, chosen at
//! random: a GPU that computes wrong results is noticed at its first slab, and a single wrong strip among n with a
//! probability of 1 in n. We know of no cheaper check: sums of bits and errors agree only within the rounding of each
//! pixel, which hides small errors. A core redoes a wrong slab, which is then checked in full, and GPUs get no more
//! slabs; later answers of GPUs to earlier requests are checked in full. Their earlier answers stay, because their
//! samples were right. (That a core repeats its own slab cannot be ruled out from outside hybz, nor can a station be
//! retired from here: it just gets no more tasks.)

use crate::picture::{Bitmap, Picture};
use crate::plan::Unit;
use crate::slab::{Done, Task};
use crate::work::{Ask, CORE, Check};
use hybz::schedule::{Class, Pool, Submitter, TaskError};
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// The part of the answers that is repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// Nothing: there is no GPU.
    Nothing,
    /// One strip of each answer that a GPU may have given.
    #[default]
    Sample,
    /// Everything.
    All,
}

/// The number of strips of a slab that one core repeats; others take the rest.
const CHECKED_AT_ONCE: usize = 8;

/// A picture that could not be dithered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A slab that no station could do, not even a fresh core.
    Failed(String),
    /// A slab that a core has done wrong, too.
    Wrong,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Failed(reason) => write!(f, "a part of the picture could not be dithered: {reason}"),
            Error::Wrong => f.write_str("a part of the picture was dithered wrong, and again wrong by a core"),
        }
    }
}

impl std::error::Error for Error {}

impl From<TaskError> for Error {
    fn from(error: TaskError) -> Self {
        Error::Failed(error.0)
    }
}

/// The result for a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The picture, dithered.
    pub bitmap: Bitmap,
    /// The number of slabs.
    pub slabs: usize,
    /// The number of strips that were repeated.
    pub checked: usize,
    /// The number of slabs that were wrong and were done again.
    pub wrong: usize,
}

/// Dithers a picture on a pool, cut into these units.
///
/// # Errors
/// If no station can do a slab, or none can do it right.
///
/// # Panics
/// If a unit needs a later one: [`plan::units`](crate::plan::units) makes no such unit.
pub fn dither(pool: &Pool, picture: &Arc<Picture>, units: Vec<Unit>, verify: Verify) -> Result<Outcome, Error> {
    let client = pool.client();
    let mut manager = Manager::new(client.submitter().clone(), picture, units, verify);
    manager.run()?;
    Ok(manager.outcome)
}

/// A message to the manager.
enum Message {
    Answered(usize, Result<Done, TaskError>),
    Checked(usize, Result<bool, TaskError>),
}

/// Sends exactly one message: if a station drops the job, the message says so.
struct Courier<T> {
    sender: Sender<Message>,
    unit: usize,
    make: fn(usize, Result<T, TaskError>) -> Message,
    sent: bool,
}

impl<T> Courier<T> {
    fn send(&mut self, answer: Result<T, TaskError>) {
        self.sent = true;
        // The manager may have given up.
        let _ = self.sender.send((self.make)(self.unit, answer));
    }
}

impl<T> Drop for Courier<T> {
    fn drop(&mut self) {
        if !self.sent {
            self.send(Err(TaskError("a station dropped the job".to_owned())));
        }
    }
}

/// The state of a unit.
#[derive(Default)]
struct Progress {
    /// The number of units for which it still waits.
    waits_for: usize,
    /// The units that wait for it.
    followers: Vec<usize>,
    task: Option<Arc<Task>>,
    /// An answer that is being checked, how many checks are still to come, and whether all were right so far.
    done: Option<Arc<Done>>,
    checks: usize,
    right: bool,
    /// The class with which it was submitted last.
    asked: Option<Class>,
    /// Whether the unit's answer was wrong before.
    again: bool,
}

struct Manager<'a> {
    submitter: Submitter,
    picture: &'a Arc<Picture>,
    units: Vec<Unit>,
    progress: Vec<Progress>,
    verify: Verify,
    /// A GPU has answered wrongly: GPUs get no more slabs.
    distrust: bool,
    /// The last three errors of each row.
    fronts: Vec<[i8; 3]>,
    /// The errors of the row above a unit, by the number of its first row.
    lines: HashMap<usize, Vec<i8>>,
    /// For choosing strips.
    random: RandomState,
    sender: Sender<Message>,
    receiver: Receiver<Message>,
    outcome: Outcome,
}

impl<'a> Manager<'a> {
    fn new(submitter: Submitter, picture: &'a Arc<Picture>, units: Vec<Unit>, verify: Verify) -> Self {
        let mut progress: Vec<Progress> = units.iter().map(|_| Progress::default()).collect();
        for (number, unit) in units.iter().enumerate() {
            for &need in &unit.needs {
                assert!(need < number, "unit {number} needs unit {need}");
                progress[need].followers.push(number);
                progress[number].waits_for += 1;
            }
        }
        let starts = units.iter().map(|unit| unit.slab.rows.start).filter(|&start| start > 0);
        let lines = starts.map(|start| (start, vec![0; picture.width()])).collect();
        let (sender, receiver) = channel();
        let bitmap = Bitmap::white(picture.width(), picture.height());
        let outcome = Outcome { bitmap, slabs: units.len(), checked: 0, wrong: 0 };
        let (fronts, random, distrust) = (vec![[0; 3]; picture.height()], RandomState::new(), false);
        Manager {
            submitter,
            picture,
            units,
            progress,
            verify,
            distrust,
            fronts,
            lines,
            random,
            sender,
            receiver,
            outcome,
        }
    }

    /// Does all units.
    fn run(&mut self) -> Result<(), Error> {
        let first: Vec<usize> = (0..self.units.len()).filter(|&unit| self.units[unit].needs.is_empty()).collect();
        for unit in first {
            self.begin(unit);
        }
        let mut left = self.units.len();
        while left > 0 {
            // The manager itself has a sender, so the channel never ends.
            let message = self.receiver.recv().map_err(|_| Error::Failed("no more answers".to_owned()))?;
            left -= usize::from(match message {
                Message::Answered(unit, done) => self.answered(unit, done?)?,
                Message::Checked(unit, right) => self.checked(unit, right?)?,
            });
        }
        Ok(())
    }

    /// Submits a unit, because everything that it needs has come.
    fn begin(&mut self, unit: usize) {
        let slab = self.units[unit].slab.clone();
        let above = match self.lines.get(&slab.rows.start) {
            None => Vec::new(),
            Some(line) => {
                let error = |x: i64| usize::try_from(x).ok().and_then(|x| line.get(x)).copied().unwrap_or(0);
                (slab.from - 1..=slab.to).map(error).collect()
            }
        };
        let left = self.fronts[slab.rows.clone()].to_vec();
        self.progress[unit].task = Some(Arc::new(Task { picture: Arc::clone(self.picture), slab, above, left }));
        let class = if self.distrust { CORE } else { self.units[unit].class };
        self.submit(unit, class);
    }

    fn submit(&mut self, unit: usize, class: Class) {
        self.progress[unit].asked = Some(class);
        let Some(task) = self.progress[unit].task.clone() else { return };
        let mut courier = Courier { sender: self.sender.clone(), unit, make: Message::Answered, sent: false };
        let bytes = task.slab.area();
        self.submitter.task(Ask(task)).class(class, bytes).submit_then(move |_, answer, _| courier.send(answer));
    }

    /// Takes an answer. Returns whether the unit is done.
    fn answered(&mut self, unit: usize, done: Done) -> Result<bool, Error> {
        let progress = &mut self.progress[unit];
        let Some(task) = progress.task.clone() else { return Ok(false) };
        if !task.has_form(&done) {
            return self.wrong(unit).map(|()| false);
        }
        let strips = task.slab.strips();
        let strips: Vec<usize> = match self.verify {
            _ if progress.again => (0..strips).collect(),
            Verify::All => (0..strips).collect(),
            // The unit was submitted before the GPU was found wrong.
            Verify::Sample if progress.asked != Some(CORE) && self.distrust => (0..strips).collect(),
            Verify::Sample if progress.asked != Some(CORE) => {
                vec![(self.random.hash_one(unit) % strips.max(1) as u64) as usize]
            }
            _ => {
                self.join(unit, &done);
                return Ok(true);
            }
        };
        self.outcome.checked += strips.len();
        let done = Arc::new(done);
        progress.done = Some(Arc::clone(&done));
        (progress.checks, progress.right) = (strips.len().div_ceil(CHECKED_AT_ONCE), true);
        for strips in strips.chunks(CHECKED_AT_ONCE) {
            let mut courier = Courier { sender: self.sender.clone(), unit, make: Message::Checked, sent: false };
            let check = Check { task: Arc::clone(&task), done: Arc::clone(&done), strips: strips.to_vec() };
            self.submitter.task(check).verification().submit_then(move |_, right, _| courier.send(right));
        }
        Ok(false)
    }

    /// Takes the result of a check. Returns whether the unit is done.
    fn checked(&mut self, unit: usize, right: bool) -> Result<bool, Error> {
        let progress = &mut self.progress[unit];
        progress.right &= right;
        progress.checks -= 1;
        if progress.checks > 0 {
            return Ok(false);
        }
        let right = progress.right;
        match progress.done.take() {
            Some(done) if right => {
                self.join(unit, &done);
                Ok(true)
            }
            _ => self.wrong(unit).map(|()| false),
        }
    }

    /// Handles a wrong answer: a core does the unit again.
    fn wrong(&mut self, unit: usize) -> Result<(), Error> {
        self.outcome.wrong += 1;
        if std::mem::replace(&mut self.progress[unit].again, true) {
            return Err(Error::Wrong);
        }
        self.distrust |= self.progress[unit].asked != Some(CORE);
        self.submit(unit, CORE);
        Ok(())
    }

    /// Puts a unit's answer in its place, and begins the units that waited for it.
    fn join(&mut self, unit: usize, done: &Done) {
        let slab = &self.units[unit].slab;
        let width = self.picture.width();
        let window = slab.window(width);
        self.outcome.bitmap.blacken(slab.rows.clone(), window.start, window.len() / 8, &done.bits);
        self.fronts[slab.rows.clone()].copy_from_slice(&done.right);
        if !window.is_empty() {
            for (strip, line) in done.lines.chunks_exact(window.len()).enumerate() {
                let end = slab.rows.end.min(slab.rows.start + (strip + 1) * crate::slab::STRIP);
                if let Some(kept) = self.lines.get_mut(&end) {
                    let columns = slab.columns(end - 1, width);
                    kept[columns.clone()]
                        .copy_from_slice(&line[columns.start - window.start..columns.end - window.start]);
                }
            }
        }
        self.progress[unit].task = None;
        for follower in std::mem::take(&mut self.progress[unit].followers) {
            self.progress[follower].waits_for -= 1;
            if self.progress[follower].waits_for == 0 {
                self.begin(follower);
            }
        }
    }
}
