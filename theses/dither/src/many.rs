//! Many pictures as independent jobs: each is one slab, done by a core, or by a GPU, which takes several together.

use crate::manager::{Error, Verify};
use crate::picture::{Bitmap, Picture};
use crate::slab::{Done, Task};
use crate::work::{Ask, CORE, Check, EITHER};
use hybz::schedule::{Client, Permit, Pool, TaskError, Ticket};
use std::cell::Cell;
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// A picture in flight.
struct Pending {
    ticket: Ticket<Done>,
    task: Arc<Task>,
    /// The permit for the bytes of the picture and of its results.
    permit: Permit,
}

/// Dithers pictures and hands the bitmaps to `sink` in their order. The pool's memory budget bounds the number in
/// memory. Returns the number of slabs that were wrong and were done again.
///
/// # Errors
/// The first of `pictures`' or of `sink`'s errors, or one of ours.
pub fn dither_all<E: From<Error>>(
    pool: &Pool,
    pictures: impl IntoIterator<Item = Result<Picture, E>>,
    verify: Verify,
    mut sink: impl FnMut(Bitmap) -> Result<(), E>,
) -> Result<usize, E> {
    let client = pool.client();
    let judge = Judge { client: &client, verify, random: RandomState::new(), wrong: Cell::new(0) };
    let mut pending: VecDeque<Pending> = VecDeque::new();
    let mut finish = |Pending { ticket, task, permit }: Pending, answer: Option<Result<Done, TaskError>>| {
        let done = answer.unwrap_or_else(|| ticket.wait()).map_err(Error::from)?;
        let done = judge.right(&task, done)?;
        let (width, height) = (task.picture.width(), task.picture.height());
        let mut bitmap = Bitmap::white(width, height);
        bitmap.blacken(0..height, 0, task.slab.window(width).len() / 8, &done.bits);
        drop(permit);
        sink(bitmap)
    };
    for picture in pictures {
        let task = Arc::new(Task::whole(Arc::new(picture?)));
        let bytes = bytes_of(&task);
        let permit = loop {
            match client.try_permit(bytes) {
                Some(permit) => break permit,
                None => match pending.pop_front() {
                    Some(oldest) => finish(oldest, None)?,
                    None => break client.permit(bytes), // others hold the budget; we hold no part of it
                },
            }
        };
        let class = if judge.wrong.get() == 0 { EITHER } else { CORE };
        let ticket = client.task(Ask(Arc::clone(&task))).class(class, task.slab.area()).submit();
        pending.push_back(Pending { ticket, task, permit });
        while let Some(answer) = pending.front().and_then(|oldest| oldest.ticket.poll())
            && let Some(oldest) = pending.pop_front()
        {
            finish(oldest, Some(answer))?;
        }
    }
    while let Some(oldest) = pending.pop_front() {
        finish(oldest, None)?;
    }
    Ok(judge.wrong.get())
}

/// The picture, its bits in the answer and in the bitmap, and the errors of every 32nd row.
fn bytes_of(task: &Task) -> u64 {
    let pixels = task.picture.pixels().len() as u64;
    pixels + pixels / 4 + pixels / 32 + 4 * task.picture.height() as u64
}

/// Decides whether answers are right: see `manager`.
struct Judge<'a> {
    client: &'a Client,
    verify: Verify,
    random: RandomState,
    wrong: Cell<usize>,
}

impl Judge<'_> {
    /// The answer, or a core's answer if it is wrong.
    fn right(&self, task: &Arc<Task>, done: Done) -> Result<Arc<Done>, Error> {
        let strips = task.slab.strips();
        let some = match self.verify {
            Verify::Nothing => 0..0,
            Verify::All => 0..strips,
            // A GPU may have been asked before it was found wrong.
            Verify::Sample if self.wrong.get() > 0 => 0..strips,
            Verify::Sample => {
                let strip = (self.random.hash_one(Arc::as_ptr(task)) % strips.max(1) as u64) as usize;
                strip..strips.min(strip + 1)
            }
        };
        let done = Arc::new(done);
        if self.is_right(task, &done, some.collect())? {
            return Ok(done);
        }
        self.wrong.set(self.wrong.get() + 1);
        let again = Arc::new(self.client.task(Ask(Arc::clone(task))).class(CORE, task.slab.area()).submit().wait()?);
        match self.is_right(task, &again, (0..strips).collect())? {
            true => Ok(again),
            false => Err(Error::Wrong),
        }
    }

    fn is_right(&self, task: &Arc<Task>, done: &Arc<Done>, strips: Vec<usize>) -> Result<bool, Error> {
        if !task.has_form(done) {
            return Ok(false);
        }
        if strips.is_empty() {
            return Ok(true);
        }
        let check = Check { task: Arc::clone(task), done: Arc::clone(done), strips };
        Ok(self.client.task(check).verification().submit().wait()?)
    }
}
