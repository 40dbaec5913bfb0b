//! The times of figures 3.7 to 3.12 of the thesis, by size of the picture and by mode:
//!
//! ```sh
//! cargo bench -p dither --bench figures                        # figures 3.7, 3.8, 3.10 and 3.12, all sizes
//! cargo bench -p dither --bench figures -- 1024 6042x3298      # these
//! cargo bench -p dither --bench figures -- 3.9 1024x768        # figure 3.9: handover, by the step of the switch
//! cargo bench -p dither --bench figures -- 3.11 1024x768       # figure 3.11: hybrid, by the width that cores do
//! DITHER_MEMORY=mapped                                         # or pageable, or pinned: src/device/cuda.rs
//! DITHER_ROUNDS=9 DITHER_THREADS=16 cargo bench -p dither --features cuda --bench figures
//! ```
//!
//! Each cell is the median of some rounds (with DITHER_BEST=1 the shortest time, for a machine that others use too).
//! Rounds alternate between the modes, and go from a picture in memory to a bitmap in memory. Every bitmap is compared
//! with the plain loop's. Without a GPU its rows are "not measured". After a slash: kernels alone. The figures of the
//! thesis are curves without numbers; the numbers in its text are printed below the table.

use dither::manager::{self, Verify};
use dither::picture::{Bitmap, Picture};
use dither::plan::{Mode, Sizes, units};
use dither::slab::{Slab, Task};
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
    resized(pool, mode, verify, |_, _, _| ())
}

/// With sizes of parts that differ from what would be chosen; `change` gets them, and width and height.
fn resized(pool: &Pool, mode: Mode, verify: Verify, change: impl Fn(&mut Sizes, usize, usize) + 'static) -> Way {
    let pool = pool.clone();
    Box::new(move |picture, _| {
        let (width, height) = (picture.width(), picture.height());
        let mut sizes = Sizes::fitting(mode, width, height, pool.cores());
        change(&mut sizes, width, height);
        let units = units(mode, width, height, sizes);
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

/// Pools without and with GPUs, the number of threads, and whether there is no GPU.
fn pools() -> (Pool, Pool, NonZeroUsize, bool) {
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
    (cores, pool, threads, missing)
}

/// The rows of a sweep: a share of the whole in percent each.
fn sweep(figure: &'static str) -> Vec<Row> {
    let (_, pool, _, missing) = pools();
    let row = |percent: usize| {
        let (mode, what) = if figure == "3.9" { (Mode::Handover, "steps") } else { (Mode::Hybrid, "columns") };
        let change = move |sizes: &mut Sizes, width, height| match mode {
            Mode::Handover => sizes.ends = Slab::steps(width, height) as usize * percent / 100,
            // His unit is a pixel; ours is a tile, so that there are enough of them.
            _ => {
                sizes.tile = (width / 40).clamp(2 * sizes.band, 4096).next_multiple_of(16);
                sizes.strip = width * percent / 100 / sizes.tile;
            }
        };
        let name =
            format!("{percent} % of the {what} on cores{}", if mode == Mode::Handover { ", each end" } else { "" });
        Row { name, figure, run: resized(&pool, mode, Verify::Sample, change), copies: 0, missing }
    };
    let percents: &[usize] =
        if figure == "3.9" { &[0, 1, 2, 5, 10, 15, 20, 30, 40] } else { &[0, 5, 10, 20, 30, 50, 70, 90] };
    percents.iter().copied().map(row).collect()
}

fn rows() -> Vec<Row> {
    let (cores, pool, threads, missing) = pools();
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

/// `1024` or `1024x768`.
fn size(argument: &str) -> Option<(usize, usize)> {
    let (width, height) = argument.split_once('x').unwrap_or((argument, argument));
    Some((width.parse().ok()?, height.parse().ok()?))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let figure = ["3.9", "3.11"].into_iter().find(|figure| arguments.iter().any(|argument| argument == figure));
    let sizes: Vec<(usize, usize)> = arguments.iter().filter_map(|argument| size(argument)).collect();
    let all = [(1024, 768), (1024, 1024), (2048, 2048), (4096, 4096), (6042, 3298), (8192, 8192)];
    let sizes = if sizes.is_empty() { all.to_vec() } else { sizes };
    let rounds = number("DITHER_ROUNDS", 5).max(1);
    let rows = figure.map_or_else(rows, sweep);
    let mut table = vec![String::new(); rows.len()];
    for &(width, height) in &sizes {
        let picture = Arc::new(scene::scene(width, height).expect("memory for a picture"));
        let expected = plain::dither(&picture);
        let mut times = vec![Vec::new(); rows.len()];
        for _ in 0..rounds {
            for (row, times) in rows.iter().zip(&mut times).filter(|(row, _)| !row.missing) {
                let copies = vec![(*picture).clone(); row.copies];
                let kernels = device::device_micros();
                let began = Instant::now();
                let bitmap = (row.run)(&picture, copies);
                let seconds = began.elapsed().as_secs_f64();
                assert!(bitmap == expected, "{}: other pixels", row.name);
                let kernels = (device::device_micros() - kernels) as f64 / 1e3;
                times.push((seconds / row.copies.max(1) as f64, kernels));
            }
        }
        for (cells, mut times) in table.iter_mut().zip(times) {
            times.sort_by(|a, b| a.0.total_cmp(&b.0));
            let which = if number("DITHER_BEST", 0) == 1 { 0 } else { times.len() / 2 };
            let cell = times.get(which).map(|(seconds, kernels)| {
                let rate = (width * height) as f64 / seconds / 1e6;
                let kernels = if *kernels > 0.0 { format!(" / {kernels:.2}") } else { String::new() };
                format!("{:.2}{kernels} ms ({rate:.0} Mpx/s)", seconds * 1e3)
            });
            let _ = write!(cells, " {} |", cell.unwrap_or_else(|| "not measured".to_owned()));
        }
    }
    print!("| mode | figure |");
    sizes.iter().for_each(|(width, height)| print!(" {width} x {height} |"));
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
