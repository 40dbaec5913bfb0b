//! Slabs, row by row and in lanes, make the pixels of the plain loop, however the picture is cut.

mod common;

use common::{bitmap_of, in_slabs, picture};
use dither::plain;
use dither::slab::Task;
use proptest::prelude::*;
use std::sync::Arc;

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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whole_pictures(
        (width, height) in prop_oneof![
            (0usize..300, 0usize..120), (0usize..3, 0usize..3000), (0usize..5000, 0usize..3)
        ],
        kind in 0u32..1000,
    ) {
        check_whole(width, height, kind);
    }

    #[test]
    fn slabs(
        (width, height) in prop_oneof![
            (0usize..300, 0usize..150), (0usize..4, 0usize..400), (0usize..2000, 0usize..4),
            (500usize..700, 40usize..90)
        ],
        kind in 0u32..1000,
        band in 1usize..6,
        cuts in prop::collection::vec(0i64..80, 0..6),
        which in any::<u64>(),
    ) {
        let picture = picture(width, height, kind);
        let cuts: Vec<i64> = cuts.into_iter().map(|cut| 16 * cut).collect();
        let mut number = 0;
        let bitmap = in_slabs(&picture, 32 * band, &cuts, |task| {
            number += 1;
            let done = if which >> (number % 64) & 1 == 1 { task.run() } else { task.run_by_rows() };
            assert!((0..task.slab.strips()).all(|strip| task.is_right_in(strip, &done)));
            done
        });
        prop_assert!(bitmap == plain::dither(&picture), "{width} x {height}, kind {kind}, bands of {band}, {cuts:?}");
    }

    /// A wrong bit or error is found by repeating its strip, wherever it is.
    #[test]
    fn what_is_wrong_is_found(
        (width, height) in (1usize..200, 1usize..150), kind in 0u32..1000,
        at in any::<prop::sample::Index>(), what in 0..3,
    ) {
        let task = Task::whole(picture(width, height, kind));
        let mut done = task.run();
        match what {
            0 => { let at = at.index(done.bits.len()); done.bits[at] ^= 4 }
            1 => { let at = at.index(done.lines.len()); done.lines[at] ^= 4 }
            _ => { let at = at.index(done.right.len()); done.right[at][1] ^= 4 }
        }
        prop_assert!(!(0..task.slab.strips()).all(|strip| task.is_right_in(strip, &done)));
    }
}
