//! All ways make the pixels of the plain loop.

use dither::picture::{Bitmap, Picture};
use dither::plain;
use dither::slab::{Done, Slab, Task};
use proptest::prelude::*;
use std::sync::Arc;

/// A picture of some kind: noise, flat greys, ramps.
fn picture(width: usize, height: usize, kind: u32) -> Arc<Picture> {
    let mut state = u64::from(kind) * 77 + 1;
    let mut noise = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let pixel = |at: usize| match kind % 5 {
        0 => noise(),
        1 => 128,
        2 => (at % width.max(1) * 255 / width.max(1)) as u8,
        3 => noise() / 16 + 120,
        _ => [0, 255][usize::from(noise() > 250)],
    };
    Arc::new(Picture::new(width, height, (0..width * height).map(pixel).collect()).expect("as many"))
}

fn bitmap_of(task: &Task, done: &Done) -> Bitmap {
    let mut bitmap = Bitmap::white(task.picture.width(), task.picture.height());
    let window = task.slab.window(task.picture.width());
    bitmap.blacken(task.slab.rows.clone(), window.start, window.len() / 8, &done.bits);
    bitmap
}

fn check_whole(width: usize, height: usize, kind: u32) {
    let picture = picture(width, height, kind);
    let expected = plain::dither(&picture);
    let task = Task::whole(Arc::clone(&picture));
    let by_rows = task.run_by_rows();
    assert!(bitmap_of(&task, &by_rows) == expected, "{width} x {height}, {kind}: by rows");
    let fast = task.run();
    assert!(bitmap_of(&task, &fast) == expected, "{width} x {height}, {kind}: in lanes");
    assert!(fast == by_rows, "{width} x {height}, {kind}: errors");
    for strip in 0..task.slab.strips() {
        assert!(task.is_right_in(strip, &fast), "{width} x {height}, {kind}: strip {strip}");
    }
}

#[test]
fn whole_pictures_of_all_small_sizes() {
    for width in (0..40).chain([63, 64, 65, 200]) {
        for height in [0, 1, 2, 15, 16, 17, 31, 32, 33, 48, 100] {
            check_whole(width, height, (width + height) as u32);
        }
    }
}

/// Cuts a picture into bands and each band at some steps; does the slabs in an order that they can be done in.
fn check_cut(width: usize, height: usize, kind: u32, band: usize, cuts: &[i64], fast: impl Fn(usize) -> bool) {
    let picture = picture(width, height, kind);
    let mut fronts = vec![[0; 3]; height];
    let mut above = vec![0i8; width];
    let mut bitmap = Bitmap::white(width, height);
    let mut number = 0;
    for first in (0..height).step_by(band) {
        let rows = first..height.min(first + band);
        let end = Slab::steps(width, rows.len());
        let mut borders: Vec<i64> = cuts.iter().copied().filter(|cut| (1..end).contains(cut)).collect();
        borders.extend([0, end]);
        borders.sort();
        borders.dedup();
        let mut below = vec![0i8; width];
        for pair in borders.windows(2) {
            let slab = Slab { rows: rows.clone(), from: pair[0], to: pair[1] };
            let error = |x: i64| usize::try_from(x).ok().and_then(|x| above.get(x)).copied().unwrap_or(0);
            let task = Task {
                picture: Arc::clone(&picture),
                above: (slab.from - 1..=slab.to).map(error).collect(),
                left: fronts[rows.clone()].to_vec(),
                slab,
            };
            let done = if fast(number) { task.run() } else { task.run_by_rows() };
            number += 1;
            assert!(task.has_form(&done));
            for strip in 0..task.slab.strips() {
                assert!(task.is_right_in(strip, &done), "strip {strip}");
            }
            let window = task.slab.window(width);
            bitmap.blacken(rows.clone(), window.start, window.len() / 8, &done.bits);
            fronts[rows.clone()].copy_from_slice(&done.right);
            let line = &done.lines[done.lines.len() - window.len()..];
            for x in task.slab.columns(rows.end - 1, width) {
                below[x] = line[x - window.start];
            }
        }
        above = below;
    }
    assert!(bitmap == plain::dither(&picture), "{width} x {height}, kind {kind}, bands of {band}, {cuts:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whole_pictures(width in 0usize..300, height in 0usize..120, kind in 0u32..1000) {
        check_whole(width, height, kind);
    }

    #[test]
    fn slabs(
        (width, height) in prop_oneof![
            (0usize..300, 0usize..150), (0usize..4, 0usize..400), (0usize..2000, 0usize..4), (500usize..700, 40usize..90)
        ],
        kind in 0u32..1000,
        band in 1usize..6,
        cuts in prop::collection::vec(0i64..80, 0..6),
        which in any::<u64>(),
    ) {
        let cuts: Vec<i64> = cuts.into_iter().map(|cut| 16 * cut).collect();
        check_cut(width, height, kind, 32 * band, &cuts, |number| which >> (number % 64) & 1 == 1);
    }
}
