//! The times of figures 3.7 to 3.12 of the thesis, by size of the picture and by mode:
//!
//! ```sh
//! cargo bench -p dither --bench figures                        # all sizes
//! cargo bench -p dither --bench figures -- 1024 2048           # these squares
//! DITHER_ROUNDS=9 DITHER_THREADS=16 cargo bench -p dither --features cuda --bench figures
//! ```
//!
//! Each cell is the median of some rounds (with DITHER_BEST=1 the shortest time, for a machine that others use too).
//! Rounds alternate between the modes, and go from a picture in memory to a bitmap in memory. Every bitmap is compared
//! with the plain loop's. Without a GPU its rows are "not measured". The figures of the thesis are curves without
//! numbers; the numbers in its text are printed below the table.

use dither::manager::{self, Verify};
use dither::picture::{Bitmap, Picture};
use dither::plan::{Mode, Sizes, units};
use dither::slab::Task;
use dither::{device, many, plain, scene, work};
use hybz::schedule::Pool;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

/// Makes a bitmap of a picture, or of copies of it, which it may keep.
type Way = Box<dyn Fn(&Arc<Picture>, Vec<Picture>) -> Bitmap>;

/// A row of the table.
struct Row {
    name: String,
    /// The figure with this row.
    figure: &'static str,
    run: Way,
    /// The number of copies of the picture that are dithered; the time is divided by this number.
    copies: usize,
    /// The row needs a GPU, but there is none.
    missing: bool,
}

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn through(pool: &Pool, mode: Mode, verify: Verify) -> Way {
    let pool = pool.clone();
    Box::new(move |picture, _| {
        let (width, height) = (picture.width(), picture.height());
        let units = units(mode, width, height, Sizes::fitting(mode, width, height, pool.cores()));
        manager::dither(&pool, picture, units, verify).expect("cores can do it").bitmap
    })
}

/// The number of pictures that are independent jobs.
const MANY: usize = 8;

fn as_many(pool: &Pool) -> Way {
    let pool = pool.clone();
    Box::new(move |_, copies| {
        let mut first = None;
        let pictures = copies.into_iter().map(Ok::<_, manager::Error>);
        let wrong = many::dither_all(&pool, pictures, Verify::Nothing, |bitmap| {
            first.get_or_insert(bitmap);
            Ok(())
        });
        assert_eq!(wrong, Ok(0));
        first.expect("there are some")
    })
}

fn bitmap_of(task: &Task, fast: bool) -> Bitmap {
    let done = if fast { task.run() } else { task.run_by_rows() };
    let mut bitmap = Bitmap::white(task.picture.width(), task.picture.height());
    let window = task.slab.window(task.picture.width());
    bitmap.blacken(task.slab.rows.clone(), window.start, window.len() / 8, &done.bits);
    bitmap
}

fn rows() -> Vec<Row> {
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = NonZeroUsize::new(number("DITHER_THREADS", threads)).unwrap_or(NonZeroUsize::MIN);
    let cores = work::cores().threads(threads).build();
    let (missing, groups) = match device::groups() {
        Ok(groups) => (false, groups),
        Err(reason) => {
            println!("no GPU: {reason}\n");
            (true, Vec::new())
        }
    };
    let pool = groups.into_iter().fold(work::pool().threads(threads), |builder, group| builder.group(group)).build();
    let row = |name: &str, figure, run| Row { name: name.to_owned(), figure, run, copies: 0, missing: false };
    let gpu = |name: &str, figure, mode| Row {
        name: name.to_owned(),
        figure,
        run: through(&pool, mode, Verify::Sample),
        copies: 0,
        missing,
    };
    vec![
        row("plain loop, one core", "3.7", Box::new(|picture, _| plain::dither(picture))),
        row(
            "slab row by row, one core",
            "",
            Box::new(|picture, _| bitmap_of(&Task::whole(Arc::clone(picture)), false)),
        ),
        row("16 lanes, one core", "3.7", Box::new(|picture, _| bitmap_of(&Task::whole(Arc::clone(picture)), true))),
        row(&format!("tiles, {threads} cores"), "3.8", through(&cores, Mode::Cores, Verify::Nothing)),
        row(&format!("the same, verified, {threads} cores"), "", through(&cores, Mode::Cores, Verify::All)),
        Row { copies: MANY, ..row(&format!("{MANY} pictures, {threads} cores, each"), "", as_many(&cores)) },
        gpu("GPU alone", "3.9", Mode::Device),
        gpu("handover", "3.10", Mode::Handover),
        gpu("hybrid", "3.11, 3.12", Mode::Hybrid),
    ]
}

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![512, 1024, 2048, 4096, 8192] } else { sizes };
    let rounds = number("DITHER_ROUNDS", 5).max(1);
    let rows = rows();
    let mut table = vec![String::new(); rows.len()];
    for &size in &sizes {
        let picture = Arc::new(scene::scene(size, size).expect("memory for a picture"));
        let expected = plain::dither(&picture);
        let mut times = vec![Vec::new(); rows.len()];
        for _ in 0..rounds {
            for (row, times) in rows.iter().zip(&mut times).filter(|(row, _)| !row.missing) {
                let copies = vec![(*picture).clone(); row.copies];
                let began = Instant::now();
                let bitmap = (row.run)(&picture, copies);
                let seconds = began.elapsed().as_secs_f64();
                assert!(bitmap == expected, "{}: other pixels", row.name);
                times.push(seconds / row.copies.max(1) as f64);
            }
        }
        for (cells, mut times) in table.iter_mut().zip(times) {
            times.sort_by(f64::total_cmp);
            let which = if number("DITHER_BEST", 0) == 1 { 0 } else { times.len() / 2 };
            let cell = times.get(which).map(|seconds| {
                let rate = (size * size) as f64 / seconds / 1e6;
                format!("{:.2} ms ({rate:.0} Mpx/s)", seconds * 1e3)
            });
            let _ = write!(cells, " {} |", cell.unwrap_or_else(|| "not measured".to_owned()));
        }
    }
    print!("| mode | figure |");
    sizes.iter().for_each(|size| print!(" {size} x {size} |"));
    println!("\n|---|---|{}", "---|".repeat(sizes.len()));
    for (row, cells) in rows.iter().zip(&table) {
        println!("| {} | {} |{cells}", row.name, row.figure);
    }
    println!();
    println!("The thesis and its paper (HiPC 2011), in words: 8192 x 8192 on a laptop: about 4 s on one core,");
    println!(
        "400 ms by its CPU and its GeForce 8600M together; 6042 x 3298: 576 ms by the 8600M alone. GPUs against one"
    );
    println!("core: 10 times for large GPUs, 3 to 4 times for small ones; OpenMP on the cores: 2 to 4 times.");
}
