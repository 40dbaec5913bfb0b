//! Helpers that the tests share.
#![allow(dead_code)] // each uses its own part

use dither::picture::{Bitmap, Picture};
use dither::slab::{Done, Slab, Task};
use std::sync::{Arc, Once, mpsc};
use std::time::Duration;

/// A picture of some kind: noise, flat greys, ramps.
pub fn picture(width: usize, height: usize, kind: u32) -> Arc<Picture> {
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

/// The bits of an answer in a bitmap of the whole picture.
pub fn bitmap_of(task: &Task, done: &Done) -> Bitmap {
    let mut bitmap = Bitmap::white(task.picture.width(), task.picture.height());
    let window = task.slab.window(task.picture.width());
    bitmap.blacken(task.slab.rows.clone(), window.start, window.len() / 8, &done.bits);
    bitmap
}

/// Cuts a picture into bands, and each band at some steps, and has `run` do the slabs in a possible order. Returns the
/// result.
pub fn in_slabs(picture: &Arc<Picture>, band: usize, cuts: &[i64], mut run: impl FnMut(&Arc<Task>) -> Done) -> Bitmap {
    let (width, height) = (picture.width(), picture.height());
    let mut fronts = vec![[0; 3]; height];
    let mut above = vec![0i8; width];
    let mut bitmap = Bitmap::white(width, height);
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
            let task = Arc::new(Task {
                picture: Arc::clone(picture),
                above: (slab.from - 1..=slab.to).map(error).collect(),
                left: fronts[rows.clone()].to_vec(),
                slab,
            });
            let done = run(&task);
            assert!(task.has_form(&done));
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
    bitmap
}

/// Runs `body` on a thread and fails if it takes longer than any machine needs.
pub fn watched(what: String, body: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        body();
        let _ = done.send(());
    });
    match wait.recv_timeout(Duration::from_secs(120)) {
        Ok(()) => {}
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: locked up"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let panic = thread.join().expect_err("it did not reach its end");
            let text = panic.downcast_ref::<String>().cloned();
            panic!(
                "{what}: {}",
                text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_default()
            );
        }
    }
}

/// Panics of stations are expected: keep them out of the tests' output.
pub fn quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if std::thread::current().name() != Some("hybz station") {
                usual(info);
            }
        }));
    });
}
