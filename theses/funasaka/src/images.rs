//! The images of table 5.2, RGB of 4,096 x 3,072 pixels, 37.7 MB each.
//!
//! Random and Black are as the thesis says. Crafts, Flowers and Graph are images of JIS X 9204-2004, which is not
//! free: made-up pictures of the same size stand in for them, smooth ones with noise like a photograph, and flat
//! figures. They are not fitted to his ratios.

use theses_common::datasets;

const COLUMNS: usize = 4096;
const ROWS: usize = 3072;

type Make = fn() -> Vec<u8>;

/// The names, and how each is made.
pub const IMAGES: [(&str, Make); 5] = [
    ("crafts-standin", || photograph(&[16, 64, 512], 2)),
    ("flowers-standin", || photograph(&[64, 256, 1024], 1)),
    ("graph-standin", figures),
    ("Random", random),
    ("Black", || vec![0; COLUMNS * ROWS * 3]),
];

/// Calls `f` for the named images and sets of `datasets.toml`; for all, if none is named. `HYBZ_MAX` cuts each.
pub fn each(names: &[&str], f: impl Fn(&str, &[u8])) {
    let is_image = |name: &&str| IMAGES.iter().any(|(known, _)| known == name);
    for (name, make) in IMAGES.iter().filter(|(name, _)| names.is_empty() || names.contains(name)) {
        let mut image = make();
        image.truncate(datasets::max_bytes());
        println!("# set {name}: {} bytes, made here", image.len());
        f(name, &image);
    }
    let sets: Vec<&str> = names.iter().copied().filter(|name| !is_image(name)).collect();
    if names.is_empty() || !sets.is_empty() {
        datasets::each(&sets, f);
    }
}

/// A number that looks random, for each number.
fn hash(number: u64) -> u32 {
    let mixed = (number ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ mixed >> 29).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) as u32
}

fn random() -> Vec<u8> {
    (0..(COLUMNS * ROWS * 3) as u64).map(|number| hash(number) as u8).collect()
}

/// A value that changes smoothly: those at random corners of cells, with straight lines between them.
fn smooth(cell: usize, x: usize, y: usize, colour: usize) -> u32 {
    let corner = |x: usize, y: usize| hash((cell << 40 | y << 24 | x << 8 | colour) as u64) % 256;
    let (left, top, size) = (x / cell, y / cell, cell as u32);
    let (right, down) = ((x % cell) as u32, (y % cell) as u32);
    let row = |y| corner(left, y) * (size - right) + corner(left + 1, y) * right;
    (row(top) * (size - down) + row(top + 1) * down) / (size * size)
}

/// Brightness that changes within cells of several sizes, colours that change within the last of them, and noise: of
/// eight bytes, about `noise` are brighter by one.
fn photograph(cells: &[usize], noise: u32) -> Vec<u8> {
    let mut image = Vec::with_capacity(COLUMNS * ROWS * 3);
    let last = cells.len() - 1;
    for y in 0..ROWS {
        for x in 0..COLUMNS {
            let bright = cells.iter().map(|&cell| smooth(cell, x, y, 3)).sum::<u32>() / cells.len() as u32;
            for colour in 0..3 {
                let clean = (bright * 7 + smooth(cells[last], x, y, colour)) / 8;
                image.push((clean + u32::from(hash(image.len() as u64) % 8 < noise)).min(255) as u8);
            }
        }
    }
    image
}

/// Rectangles of one colour each, on white.
fn figures() -> Vec<u8> {
    let mut image = vec![255; COLUMNS * ROWS * 3];
    for figure in 0..600 {
        let of = |what: u64, below: usize| hash(figure * 8 + what) as usize % below;
        let (left, top) = (of(0, COLUMNS), of(1, ROWS));
        let (wide, high) = if figure % 3 == 0 { (of(2, 900), of(3, 700)) } else { (of(2, 300), 2 + of(3, 4)) };
        let colour = [4, 5, 6].map(|part| of(part, 256) as u8);
        for y in top..ROWS.min(top + high) {
            for x in left..COLUMNS.min(left + wide) {
                image[(y * COLUMNS + x) * 3..][..3].copy_from_slice(&colour);
            }
        }
    }
    image
}
