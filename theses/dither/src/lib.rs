//! Floyd-Steinberg dithering on hybz's queue: the second use of its pool, after compression, with jobs that depend on
//! each other. It uses [`hybz::schedule`] and nothing else of hybz.
//!
//! The subject is chapter 3 of A. Deshpande's thesis (IIIT Hyderabad, 2014), which shares one picture between a CPU and
//! a GPU. `README.md` has the figures, and says whether his conclusion still holds.
//!
//! | module | |
//! |---|---|
//! | [`plain`] | the definition: rounding, clamping, borders; the loop that everything else is compared with |
//! | [`slab`] | the content of a job: a leaning part of a picture, and the errors at its borders |
//! | `lanes` | sixteen rows in one AVX2 register |
//! | [`plan`] | the modes: how a picture is cut, which station does which part, and the dependencies |
//! | [`work`] | dithering as a kind of work: questions, answers, the station of a core |
//! | [`manager`] | submits units that are ready, checks and joins answers |
//! | [`many`] | many pictures as independent jobs |
//! | [`device`] | GPUs |
//! | [`pnm`] | PGM and PPM in |
//! | [`picture`] | grey pictures; bitmaps, and PBM out |
//! | [`scene`] | a picture to test with |
//!
//! ```
//! use dither::picture::Picture;
//! use dither::plan::{Mode, Sizes, units};
//! use dither::{manager, plain, work};
//! use std::sync::Arc;
//!
//! let picture = Arc::new(Picture::new(300, 200, vec![100; 300 * 200]).ok_or("not as many pixels")?);
//! let pool = work::pool().build();
//! let units = units(Mode::Cores, 300, 200, Sizes::fitting(Mode::Cores, 300, 200, pool.cores()));
//! let outcome = manager::dither(&pool, &picture, units, manager::Verify::All)?;
//! assert_eq!(outcome.bitmap, plain::dither(&picture));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod device;
mod lanes;
mod line;
pub mod manager;
pub mod many;
pub mod picture;
pub mod plain;
pub mod plan;
pub mod pnm;
pub mod scene;
pub mod slab;
pub mod work;

pub use lanes::supported as has_lanes;
