//! A test picture, made by a program: a sky, a sun in mist, hills and water. Integers only, so that it is the same
//! everywhere.

use crate::picture::Picture;

/// The scene in any size.
///
/// `None` if there is no memory for its pixels.
pub fn scene(width: usize, height: usize) -> Option<Picture> {
    let mut pixels = Vec::new();
    pixels.try_reserve_exact(width.checked_mul(height)?).ok()?;
    // In a frame of 1000 x 1000, cut at the top and at the bottom.
    let scale = |v: usize| (v as i64 * 1000) / (width.max(1) as i64);
    let lift = (1000 - scale(height)) / 2;
    for y in 0..height {
        for x in 0..width {
            pixels.push(grey(scale(x), scale(y) + lift).clamp(0, 255) as u8);
        }
    }
    Picture::new(width, height, pixels)
}

fn grey(x: i64, y: i64) -> i64 {
    let horizon = 640;
    if y >= horizon {
        // Water: the sky upside down, darker, with ripples that widen towards us.
        let depth = y - horizon;
        let ripple = wave(depth * 9000 / (depth + 90) + wave(2 * x) / 6) / 25;
        let glitter =
            if (x - 690).abs() < 30 + depth / 2 { wave(depth * 9000 / (depth + 90) + wave(7 * x) / 5) / 9 } else { 0 };
        return sky(x, 2 * horizon - y + ripple * 3) * 3 / 5 + glitter.max(0) + 10;
    }
    let far = 560 + wave(x * 2) / 24 + wave(x * 5 + 300) / 60;
    let near = 610 + wave(x + 900) / 12 + wave(x * 7) / 90;
    match y {
        _ if y > near => 40 + (y - near) / 2 + wave(x * 31 + y * 17) / 200,
        _ if y > far => 105 + (y - far) / 2,
        _ => sky(x, y),
    }
}

fn sky(x: i64, y: i64) -> i64 {
    let squared = (x - 690).pow(2) + (y - 400).pow(2);
    let sun = if squared < 70 * 70 { 90 } else { 0 };
    let halo = 1_600_000 / (squared / 4 + 12_000);
    90 + y / 6 + sun + halo / 2
}

/// A smooth wave of period 1000, from -1000 to 1000: parabolas.
fn wave(phase: i64) -> i64 {
    let at = phase.rem_euclid(1000);
    let half = if at < 500 { at } else { at - 500 };
    let bow = half * (500 - half) * 1000 / 62_500;
    if at < 500 { bow } else { -bow }
}
