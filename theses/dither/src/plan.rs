//! How a picture is cut into slabs, which station does each, and what each needs: the modes of chapter 3 of the thesis.
//!
//! ```text
//!  cores               handover                 hybrid
//!  c c c c c c c       c c c d d d d d d        c c d d d d d
//!  c c c c c c c       c d d d d d d d c        c c d d d d d
//!  c c c c c c c       d d d d d d c c c        c c d d d d d
//! ```
//!
//! - **Cores.** Bands of rows, each cut into tiles. A tile needs the one left of it, and in the band above those up to
//!   two columns per row farther to the right.
//! - **Handover.** The first and the last steps of the whole picture's wavefront, where few pixels can be done at once,
//!   on the cores; everything between is one slab for the GPU. The three parts are done one after another.
//! - **Hybrid.** The left columns of each band on the cores, the others on the GPU, at the same time. Errors cross in
//!   both directions: the GPU's first tile of a band needs the cores' last one, whose successor in the next band needs
//!   the GPU's first.

use crate::slab::{ALIGN, STRIP, Slab};
use crate::work::{CORE, DEVICE, EITHER};
use hybz::schedule::Class;
use std::fmt;

/// A slab and the units that must be done before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The slab.
    pub slab: Slab,
    /// The class: `CORE`, `DEVICE` or `EITHER`.
    pub class: Class,
    /// The numbers of the units that it needs. All of them are smaller than its own.
    pub needs: Vec<usize>,
}

/// How a picture is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One slab, for the station that does it soonest.
    Whole,
    /// Tiles for the cores.
    Cores,
    /// The middle of the wavefront for a GPU.
    Handover,
    /// The right columns for a GPU.
    Hybrid,
    /// Everything for a GPU.
    Device,
}

impl Mode {
    /// Their names in the order of the thesis.
    pub const ALL: [(&'static str, Mode); 5] = [
        ("whole", Mode::Whole),
        ("cores", Mode::Cores),
        ("handover", Mode::Handover),
        ("hybrid", Mode::Hybrid),
        ("device", Mode::Device),
    ];
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Mode::ALL.iter().find(|(_, mode)| mode == self).map_or("", |(name, _)| name);
        f.pad(name)
    }
}

/// The sizes of bands, tiles and parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The number of rows of a band: a multiple of 32.
    pub band: usize,
    /// The number of steps of a tile: a multiple of 16.
    pub tile: usize,
    /// For handover: how many steps at each end of the wavefront the cores do.
    pub ends: usize,
    /// For hybrid: how many columns, in tiles, the cores do.
    pub strip: usize,
}

impl Sizes {
    /// Sizes that suit a picture of this size on `cores` cores.
    ///
    /// A tile should take much longer than the 5 microseconds that it costs to be queued, and a band should have about
    /// twice as many tiles as there are cores, because a band follows the one above at a distance of two.
    pub fn fitting(mode: Mode, width: usize, height: usize, cores: usize) -> Sizes {
        let band = match mode {
            Mode::Hybrid => 4 * STRIP,
            _ => 2 * STRIP,
        };
        let tile = (width / (2 * cores.max(1))).clamp(2 * band, 4096).next_multiple_of(ALIGN as usize);
        // A tenth of all steps at each end: these are 3 % of a square's pixels. (The thesis measured its best times
        // with ends at which the GPU has enough to do, at its number of multiprocessors.)
        let ends = (Slab::steps(width, height) as usize / 10).next_multiple_of(ALIGN as usize);
        Sizes { band, tile, ends, strip: (width / tile / 8).max(1) }
    }

    /// These sizes, rounded to the required multiples; none of them is 0.
    fn rounded(self) -> Sizes {
        let up = |size: usize, of: usize| size.clamp(1, 1 << 40).next_multiple_of(of);
        Sizes {
            band: up(self.band, STRIP),
            tile: up(self.tile, ALIGN as usize),
            ends: up(self.ends, ALIGN as usize),
            strip: self.strip,
        }
    }
}

/// The units of a picture, in an order in which they can be done.
pub fn units(mode: Mode, width: usize, height: usize, sizes: Sizes) -> Vec<Unit> {
    if width == 0 || height == 0 {
        return Vec::new();
    }
    let sizes = sizes.rounded();
    let all = Slab::whole(width, height);
    let whole = |class| vec![Unit { slab: all.clone(), class, needs: Vec::new() }];
    match mode {
        Mode::Whole => whole(EITHER),
        Mode::Device => whole(DEVICE),
        Mode::Cores => Bands { width, height, sizes, first: 0, last: all.to }.units(0, None, |_| CORE),
        Mode::Hybrid => Bands { width, height, sizes, first: 0, last: all.to }
            .units(0, None, |column| if column < sizes.strip { CORE } else { DEVICE }),
        Mode::Handover => {
            let (begin, end) = (sizes.ends as i64, all.to - sizes.ends as i64);
            if begin >= end {
                return units(Mode::Cores, width, height, sizes);
            }
            let mut units = Bands { width, height, sizes, first: 0, last: begin }.units(0, None, |_| CORE);
            let middle = units.len();
            let slab = Slab { rows: 0..height, from: begin, to: end };
            units.push(Unit { slab, class: DEVICE, needs: (0..middle).collect() });
            let after = Bands { width, height, sizes, first: end, last: all.to };
            units.extend(after.units(middle + 1, Some(middle), |_| CORE));
            units
        }
    }
}

/// Bands of rows, in which the steps of the whole picture from `first` to before `last` are cut into tiles.
struct Bands {
    width: usize,
    height: usize,
    sizes: Sizes,
    first: i64,
    last: i64,
}

impl Bands {
    /// The tiles. Their numbers begin at `number`; all of them need the unit `before`. `class` gives the class of each
    /// column of tiles.
    fn units(&self, number: usize, before: Option<usize>, class: impl Fn(usize) -> Class) -> Vec<Unit> {
        let mut units: Vec<Unit> = Vec::new();
        // The numbers of the band above.
        let mut upper = 0..0;
        for first in (0..self.height).step_by(self.sizes.band) {
            let rows = first..self.height.min(first + self.sizes.band);
            let lean = 2 * first as i64;
            let begin = (self.first - lean).max(0);
            let end = (self.last - lean).min(Slab::steps(self.width, rows.len()));
            let own = units.len();
            for (column, from) in (begin..end).step_by(self.sizes.tile).enumerate() {
                let to = end.min(from + self.sizes.tile as i64);
                let mut needs: Vec<usize> = before.into_iter().collect();
                if column > 0 {
                    needs.push(number + units.len() - 1);
                }
                // The error above right of its last pixel is at column `to` of the last row of the band above, unless
                // that is after the end of the picture.
                let reached = |unit: &Unit| unit.slab.columns(rows.start - 1, self.width).end as i64;
                let wanted = (to + 1).min(self.width as i64);
                let above = upper.clone().find(|&unit| reached(&units[unit]) >= wanted).or(upper.clone().last());
                needs.extend(above.map(|unit| number + unit));
                units.push(Unit { slab: Slab { rows: rows.clone(), from, to }, class: class(column), needs });
            }
            upper = own..units.len();
        }
        units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pixel is in one unit, and the pixels that it needs are in that unit or in one that `needs` puts before it.
    fn check(mode: Mode, width: usize, height: usize, sizes: Sizes) {
        let units = units(mode, width, height, sizes);
        let mut owner = vec![usize::MAX; width * height];
        for (number, unit) in units.iter().enumerate() {
            for y in unit.slab.rows.clone() {
                for x in unit.slab.columns(y, width) {
                    assert_eq!(owner[y * width + x], usize::MAX, "{mode} {width} x {height}: two have {x}, {y}");
                    owner[y * width + x] = number;
                }
            }
        }
        assert!(!owner.contains(&usize::MAX), "{mode} {width} x {height}: nobody has some pixel");
        // All units that must be done before a unit, directly or through others.
        let mut before: Vec<Vec<bool>> = Vec::new();
        for (number, unit) in units.iter().enumerate() {
            let mut all = vec![false; units.len()];
            all[number] = true;
            for &need in &unit.needs {
                assert!(need < number);
                all.iter_mut().zip(&before[need]).for_each(|(all, before)| *all |= before);
            }
            before.push(all);
        }
        for y in 0..height {
            for x in 0..width {
                let neighbours = [(-1, 0), (-1, -1), (0, -1), (1, -1)];
                for (dx, dy) in neighbours {
                    let (nx, ny) = (x as i64 + dx, y as i64 + dy);
                    if (0..width as i64).contains(&nx) && ny >= 0 {
                        let theirs = owner[ny as usize * width + nx as usize];
                        let own = owner[y * width + x];
                        assert!(before[own][theirs], "{mode} {width} x {height}: {x}, {y} needs {nx}, {ny}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_pixel_once_and_after_what_it_needs() {
        for (_, mode) in Mode::ALL {
            for (width, height) in [(1, 1), (1, 200), (200, 1), (100, 100), (33, 150), (150, 33), (16, 64), (300, 70)] {
                for sizes in [
                    Sizes { band: 32, tile: 16, ends: 16, strip: 1 },
                    Sizes { band: 32, tile: 48, ends: 100, strip: 2 },
                    Sizes { band: 64, tile: 160, ends: 10, strip: 0 },
                    Sizes { band: 1, tile: 1, ends: 5000, strip: 9 },
                    Sizes::fitting(mode, width, height, 2),
                ] {
                    check(mode, width, height, sizes);
                }
            }
        }
    }

    #[test]
    fn sizes_that_nobody_would_want_are_rounded() {
        let sizes = Sizes { band: 0, tile: usize::MAX, ends: 0, strip: 0 };
        assert_eq!(units(Mode::Cores, 100, 64, sizes).len(), 2);
        assert!(units(Mode::Hybrid, 0, 64, sizes).is_empty());
    }

    /// Handover gives the GPU one slab, and the cores both ends.
    #[test]
    fn the_middle_is_one_slab() {
        let sizes = Sizes { band: 32, tile: 16, ends: 64, strip: 1 };
        let units = units(Mode::Handover, 200, 100, sizes);
        let device: Vec<_> = units.iter().filter(|unit| unit.class == DEVICE).collect();
        assert_eq!(device.len(), 1);
        assert_eq!(device[0].slab, Slab { rows: 0..100, from: 64, to: 400 - 64 });
        assert!(units[0].class == CORE && units[units.len() - 1].class == CORE);
    }
}
