//! The content of a job: a slab of a picture, the errors that come in at its borders, and those that go out.
//!
//! A pixel needs its left neighbour and three of the row above, one of them on the right, so no rectangle of more than
//! one row can be done before the pixels right of it. A **slab** leans: it has some rows, and each of them lies two
//! columns farther left than the one above. With a *step* `t = x + 2 (y - first row)` a slab is all pixels of its rows
//! with `from <= t < to`, and each pixel needs errors of earlier steps only:
//!
//! ```text
//!                     left  above right  above  above left
//! steps earlier         1        1         2        3
//! ```
//!
//! That is the knight's move of the thesis. Only the last three errors of each row therefore cross a slanted border,
//! and only a line of errors crosses a horizontal one. One shape serves for the whole picture, for a tile of a core,
//! for the middle of a handover and for a GPU's part of a hybrid.
//!
//! ```text
//!            from             to
//!  first row  ..xxxxxxxxxxxxxx.......      <- above: errors of the row before, columns from-1 to `to`
//!             xxxxxxxxxxxxxx.........
//!          <- left: 3 of each row      -> right: 3 of each row
//!             xxxxxxxxxx.............
//!  last row   xxxxxxxx...............      -> lines: after each 32 rows, and after the last
//! ```
//!
//! Errors outside the picture are 0, also in borders.

use crate::lanes;
use crate::line::Line;
use crate::picture::Picture;
use crate::plain;
use std::ops::Range;
use std::sync::Arc;

/// The errors of every row of this number in a slab, and of its last, are part of the answer.
pub const STRIP: usize = 32;

/// Slabs begin and end at steps that are multiples of this.
pub const ALIGN: i64 = 16;

/// A part of a picture whose pixels depend on no pixels after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slab {
    /// Its rows.
    pub rows: Range<usize>,
    /// Its first step: the first column of its first row. It can lie outside the picture.
    pub from: i64,
    /// The step after its last.
    pub to: i64,
}

impl Slab {
    /// All of a picture.
    pub fn whole(width: usize, height: usize) -> Slab {
        Slab { rows: 0..height, from: 0, to: Slab::steps(width, height) }
    }

    /// How many steps a slab of this size needs so that all of its pixels are done.
    pub fn steps(width: usize, height: usize) -> i64 {
        let steps = width as i64 + 2 * (height as i64 - 1).max(0);
        (steps + ALIGN - 1) / ALIGN * ALIGN
    }

    /// The first column of a row, inside the picture or not.
    pub fn start(&self, y: usize) -> i64 {
        self.from - 2 * (y - self.rows.start) as i64
    }

    /// The columns of a row that lie in a picture.
    pub fn columns(&self, y: usize, width: usize) -> Range<usize> {
        let start = self.start(y);
        let clamp = |x: i64| x.clamp(0, width as i64) as usize;
        clamp(start)..clamp(start + self.to - self.from)
    }

    /// The columns of all of its rows, with multiples of 16 at both ends: the columns of [`Done::bits`].
    pub fn window(&self, width: usize) -> Range<usize> {
        let lowest = self.from - 2 * (self.rows.len() as i64 - 1).max(0);
        let all = width.next_multiple_of(16);
        let start = (lowest.max(0) as usize / 16 * 16).min(all);
        let end = all.min(self.to.max(0) as usize);
        start..end.max(start)
    }

    /// How many lines of errors the answer has.
    pub fn strips(&self) -> usize {
        self.rows.len().div_ceil(STRIP)
    }

    /// How many pixels it has, those outside the picture included.
    pub fn area(&self) -> u64 {
        (self.to - self.from).max(0) as u64 * self.rows.len() as u64
    }
}

/// A slab to dither: everything that its pixels depend on.
#[derive(Clone, Debug)]
pub struct Task {
    /// The picture.
    pub picture: Arc<Picture>,
    /// The slab.
    pub slab: Slab,
    /// The errors of the row above, in the columns from `from - 1` to `to`, both included. Empty: zeros.
    pub above: Vec<i8>,
    /// For each row, the three errors before its first column, from right to left. Empty: zeros.
    pub left: Vec<[i8; 3]>,
}

/// The result for a slab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// For each row, the bits of the columns of [`Slab::window`]; those that do not belong to the slab are 0.
    pub bits: Vec<u8>,
    /// After each [`STRIP`] rows, and after the last, the errors of the row in the columns of [`Slab::window`]; those
    /// that do not belong to the slab are 0.
    pub lines: Vec<i8>,
    /// For each row, the last three errors, from right to left.
    pub right: Vec<[i8; 3]>,
}

impl Done {
    /// An answer that is still empty.
    pub fn empty(slab: &Slab, width: usize) -> Done {
        let columns = slab.window(width).len();
        Done {
            bits: vec![0; columns / 8 * slab.rows.len()],
            lines: vec![0; columns * slab.strips()],
            right: vec![[0; 3]; slab.rows.len()],
        }
    }
}

impl Task {
    /// The whole picture as one slab.
    pub fn whole(picture: Arc<Picture>) -> Task {
        let slab = Slab::whole(picture.width(), picture.height());
        Task { picture, slab, above: Vec::new(), left: Vec::new() }
    }

    /// Does it in the fastest way of this core.
    pub fn run(&self) -> Done {
        self.run_with(lanes::supported())
    }

    /// Does it row by row: for machines without AVX2, and in place of a GPU in tests.
    pub fn run_by_rows(&self) -> Done {
        self.run_with(false)
    }

    fn run_with(&self, fast: bool) -> Done {
        let mut running = Running::new(self);
        let Range { start, end } = self.slab.rows;
        let mut y = start;
        while y < end {
            running.enter(y);
            if fast && end - y >= lanes::LANES {
                running.strip(y);
                y += lanes::LANES;
            } else {
                running.row(y);
                y += 1;
            }
            if (y - start).is_multiple_of(STRIP) || y == end {
                running.keep_line(y - 1);
            }
        }
        running.done
    }

    /// The errors before the first column of a row.
    pub fn left_of(&self, y: usize) -> [i8; 3] {
        self.left.get(y - self.slab.rows.start).copied().unwrap_or_default()
    }

    /// Whether an answer has the right form.
    pub fn has_form(&self, done: &Done) -> bool {
        let columns = self.slab.window(self.picture.width()).len();
        done.bits.len() == columns / 8 * self.slab.rows.len()
            && done.lines.len() == columns * self.slab.strips()
            && done.right.len() == self.slab.rows.len()
    }

    /// The strip `number` as a task of its own, which is right if the answer for the strip before it is right.
    pub fn strip(&self, number: usize, done: &Done) -> Task {
        let Slab { rows, from, to } = &self.slab;
        let first = rows.start + number * STRIP;
        let lean = 2 * (number * STRIP) as i64;
        let slab = Slab { rows: first..rows.end.min(first + STRIP), from: from - lean, to: to - lean };
        let left = slab.rows.clone().map(|y| self.left_of(y)).collect();
        let above = match number.checked_sub(1) {
            None => self.above.clone(),
            Some(before) => {
                let window = self.slab.window(self.picture.width());
                let line = &done.lines[before * window.len()..][..window.len()];
                let [near, middle, far] = self.left_of(first - 1);
                let own = self.slab.columns(first - 1, self.picture.width());
                let inside = |x: i64| own.contains(&usize::try_from(x).unwrap_or(usize::MAX));
                let error = |x: i64| if inside(x) { line[x as usize - window.start] } else { 0 };
                // The first three are left of this slab's columns in that row.
                [far, middle, near].into_iter().chain((slab.from + 2..=slab.to).map(error)).collect()
            }
        };
        Task { picture: Arc::clone(&self.picture), slab, above, left }
    }

    /// Whether the answer is right in a strip, if it is right in those before it.
    pub fn is_right_in(&self, number: usize, done: &Done) -> bool {
        if !self.has_form(done) {
            return false;
        }
        let width = self.picture.width();
        let strip = self.strip(number, done);
        let again = strip.run();
        let (window, own) = (self.slab.window(width), strip.slab.window(width));
        let first = number * STRIP;
        let bits = |row: usize| {
            let theirs = &done.bits[(first + row) * window.len() / 8..][..window.len() / 8];
            let ours = &again.bits[row * own.len() / 8..][..own.len() / 8];
            holds(theirs, ours, (own.start - window.start) / 8)
        };
        let rows = strip.slab.rows.len();
        let line = &done.lines[number * window.len()..][..window.len()];
        (0..rows).all(bits)
            && holds(line, &again.lines, own.start - window.start)
            && done.right[first..first + rows] == again.right
    }
}

/// Whether `all` is `part` at `at`, and zeros elsewhere.
fn holds<T: PartialEq + Default>(all: &[T], part: &[T], at: usize) -> bool {
    let zeros = |slice: &[T]| slice.iter().all(|value| *value == T::default());
    all.len() >= at + part.len()
        && zeros(&all[..at])
        && all[at..at + part.len()] == *part
        && zeros(&all[at + part.len()..])
}

/// A task that is being done.
struct Running<'a> {
    task: &'a Task,
    window: Range<usize>,
    /// The errors of the last row that is done, and to the right of its end, those of rows above it.
    line: Line,
    done: Done,
}

impl<'a> Running<'a> {
    fn new(task: &'a Task) -> Self {
        let width = task.picture.width();
        let window = task.slab.window(width);
        let mut line = Line::new(window.clone());
        for (x, &error) in (task.slab.from - 1..).zip(&task.above) {
            line.set(x, error);
        }
        Running { task, window, line, done: Done::empty(&task.slab, width) }
    }

    /// Puts the errors left of the slab into the line of the row above `y`.
    fn enter(&mut self, y: usize) {
        if y > self.task.slab.rows.start {
            let start = self.task.slab.start(y - 1);
            for (x, error) in (1..).map(|k| start - k).zip(self.task.left_of(y - 1)) {
                self.line.set(x, error);
            }
        }
    }

    /// Does a row.
    fn row(&mut self, y: usize) {
        let Running { task, window, line, done } = self;
        let columns = task.slab.columns(y, task.picture.width());
        let start = task.slab.start(y);
        let row = y - task.slab.rows.start;
        // Before the picture there are zeros; after its end, nothing is done.
        let mut left = if start >= 0 { i32::from(task.left_of(y)[0]) } else { 0 };
        let bits = &mut done.bits[row * window.len() / 8..][..window.len() / 8];
        let mut above_left = i32::from(line.get(columns.start as i64 - 1));
        let mut above = i32::from(line.get(columns.start as i64));
        for x in columns {
            let above_right = i32::from(line.get(x as i64 + 1));
            let g = task.picture.row(y)[x];
            let (error, white) = plain::pixel(g, 7 * left + 5 * above + 3 * above_right + above_left);
            line.set(x as i64, error as i8);
            if !white {
                let x = x - window.start;
                bits[x / 8] |= 0x80 >> (x % 8);
            }
            (left, above_left, above) = (error, above, above_right);
        }
        // If fewer than three of the slab's columns are in the picture, the remaining errors are those that came in.
        let end = start + task.slab.to - task.slab.from;
        let inside = |x: i64| (0..task.picture.width() as i64).contains(&x);
        done.right[row] = [1, 2, 3].map(|k| if inside(end - k) { line.get(end - k) } else { 0 });
    }

    /// Does as many rows as there are lanes.
    fn strip(&mut self, y: usize) {
        let Running { task, window, line, done } = self;
        let row = y - task.slab.rows.start;
        let strip = lanes::Strip {
            rows: std::array::from_fn(|lane| task.picture.row(y + lane)),
            x: task.slab.start(y),
            steps: task.slab.to - task.slab.from,
            left: std::array::from_fn(|lane| task.left_of(y + lane)),
            window: window.clone(),
        };
        let bits = &mut done.bits[row * window.len() / 8..][..lanes::LANES * window.len() / 8];
        let right = strip.run(line, bits);
        done.right[row..row + lanes::LANES].copy_from_slice(&right);
    }

    /// Keeps the errors of the row that was done last.
    fn keep_line(&mut self, y: usize) {
        let Running { task, window, line, done } = self;
        let strip = (y - task.slab.rows.start) / STRIP;
        let kept = &mut done.lines[strip * window.len()..][..window.len()];
        for x in task.slab.columns(y, task.picture.width()) {
            kept[x - window.start] = line.get(x as i64);
        }
    }
}
