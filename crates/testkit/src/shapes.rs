//! The shapes: named inputs, each with its reason, shared by unit tests, integration tests and benches.
//!
//! [`SHAPES`] can be made in any length (exactly `len` bytes); [`EDGES`] are small inputs whose length is the point.
//! Everything is deterministic: the same name and length give the same bytes on every machine.

use std::io::Read;
use std::path::PathBuf;

/// A named kind of test text, of any length.
#[derive(Clone, Copy)]
pub struct Shape {
    pub name: &'static str,
    pub why: &'static str,
    /// Makes exactly this many bytes.
    pub make: fn(usize) -> Vec<u8>,
}

/// A named small input.
#[derive(Clone, Copy)]
pub struct Edge {
    pub name: &'static str,
    pub why: &'static str,
    pub make: fn() -> Vec<u8>,
}

/// Inputs that can be made in any length.
pub const SHAPES: &[Shape] = &[
    Shape { name: "zeros", why: "every full block of zeros is periodic: the origin is bzip2's own", make: zeros },
    Shape { name: "runs_of_3", why: "the longest runs that run-length coding leaves alone", make: |n| runs(n, &[3]) },
    Shape { name: "runs_of_4", why: "run-length coding makes 5 bytes of each 4: blocks grow", make: |n| runs(n, &[4]) },
    Shape { name: "runs_of_255", why: "tokens that are exactly full", make: |n| runs(n, &[255]) },
    Shape { name: "runs_of_256", why: "a full token and one byte more", make: |n| runs(n, &[256]) },
    Shape { name: "runs_1_to_260", why: "every run length around both limits, 4 and 255", make: runs_1_to_260 },
    Shape { name: "short_runs", why: "runs of 1 to 8 at random: the run scan stops often", make: short_runs },
    Shape { name: "counting", why: "all 256 bytes in order: periodic if the length allows", make: counting },
    Shape { name: "sorted", why: "each byte once in one long run: few, long zero runs", make: sorted },
    Shape { name: "random", why: "nothing to gain: every step at its most expensive", make: random },
    Shape { name: "random_64", why: "64 letters: ranks beyond one vector register", make: |n| letters(n, 64) },
    Shape { name: "five_letters", why: "few symbols, short codes", make: |n| letters(n, 5) },
    Shape { name: "two_letters", why: "the smallest alphabet that is not a run", make: |n| letters(n, 2) },
    Shape { name: "words", why: "text: words drawn by Zipf's law", make: words },
    Shape { name: "records", why: "table-like data: long common prefixes, large groups", make: records },
    Shape { name: "sparse", why: "zeros with a stray byte: a disk image's quiet part", make: sparse },
    Shape { name: "image", why: "long zero stretches between data: a disk image", make: image },
    Shape { name: "fibonacci", why: "the Fibonacci word: a suffix sorter's worst repetitions", make: fibonacci },
    Shape { name: "thue_morse", why: "overlap-free: many long, never periodic repeats", make: thue_morse },
    Shape { name: "de_bruijn", why: "each window once: no repeats, yet two letters", make: de_bruijn },
    Shape { name: "a_n_b", why: "one letter and a different last one: rotations tie to the very end", make: a_n_b },
    Shape { name: "ab_n_c", why: "(ab)^n c: as a_n_b, but no run for run-length coding to remove", make: ab_n_c },
    Shape { name: "doubled", why: "random halves that are equal: periodic (even lengths)", make: doubled },
    Shape { name: "doubled_but_one", why: "as doubled, but the last byte breaks the period", make: doubled_but_one },
    Shape { name: "period_5", why: "a short period that is not a run", make: |n| periodic(n, b"abcab") },
    Shape { name: "period_999", why: "a longer period", make: |n| periodic(n, &letters(999, 26)) },
    Shape { name: "near_copies", why: "one page again and again, one byte changed: long ties", make: near_copies },
    Shape { name: "fib_frequencies", why: "Fibonacci-like frequencies: codes beyond 17 bits", make: fib_frequencies },
];

/// Small inputs whose length is the point.
pub const EDGES: &[Edge] = &[
    Edge { name: "empty", why: "no block at all", make: Vec::new },
    Edge { name: "one_byte", why: "the smallest block", make: || vec![b'x'] },
    Edge { name: "one_zero", why: "the smallest block, of the smallest byte", make: || vec![0] },
    Edge { name: "two_equal", why: "the smallest periodic block", make: || vec![7, 7] },
    Edge { name: "run_of_3", why: "not yet a token", make: || vec![b'a'; 3] },
    Edge { name: "run_of_4", why: "the shortest token: count 0", make: || vec![b'a'; 4] },
    Edge { name: "run_of_5", why: "count 1", make: || vec![b'a'; 5] },
    Edge { name: "run_of_254", why: "one less than a full token", make: || vec![b'a'; 254] },
    Edge { name: "run_of_255", why: "a full token", make: || vec![b'a'; 255] },
    Edge { name: "run_of_256", why: "a full token and one byte", make: || vec![b'a'; 256] },
    Edge { name: "run_of_258", why: "a full token and a run of 3", make: || vec![b'a'; 258] },
    Edge { name: "run_of_259", why: "a full token and the shortest one", make: || vec![b'a'; 259] },
    Edge { name: "run_of_510", why: "two full tokens: periodic", make: || vec![b'a'; 510] },
    Edge { name: "all_256", why: "each byte once: the largest alphabet", make: || (0..=255).collect() },
    Edge { name: "all_256_down", why: "the same backwards", make: || (0..=255).rev().collect() },
    Edge { name: "count_equals_byte", why: "the count byte equals the run's byte", make: || vec![3; 7] },
    Edge { name: "count_starts_run", why: "the count byte equals the bytes that follow", make: count_starts_run },
];

/// The shape named `name`. Panics if there is none, which is a typing error in a test.
pub fn shape(name: &str) -> Shape {
    *SHAPES.iter().find(|s| s.name == name).unwrap_or_else(|| panic!("no shape is named {name}"))
}

/// A small generator of pseudo-random numbers (splitmix64), written here so that the bytes never change.
pub struct Rng(pub u64);

impl Rng {
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit` (the slight bias does not matter here).
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next_u64()) * limit as u128) >> 64) as usize
    }
}

pub fn zeros(len: usize) -> Vec<u8> {
    vec![0; len]
}

/// Runs of the given lengths in turn, of changing bytes.
pub fn runs(len: usize, lengths: &[usize]) -> Vec<u8> {
    let (mut rng, mut last, mut lengths) = (Rng(17), 256, lengths.iter().cycle());
    filled(len, |out| {
        let byte = rng.below(64);
        last = if byte == last { 64 } else { byte }; // so that two runs never join
        out.extend(std::iter::repeat_n(last as u8 + 32, *lengths.next().expect("a length")));
    })
}

/// Calls `add` until there are `len` bytes, and drops the excess.
fn filled(len: usize, mut add: impl FnMut(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(len + 512);
    while out.len() < len {
        add(&mut out);
    }
    out.truncate(len);
    out
}

fn runs_1_to_260(len: usize) -> Vec<u8> {
    runs(len, &(1..=260).collect::<Vec<_>>())
}

fn short_runs(len: usize) -> Vec<u8> {
    let mut rng = Rng(18);
    let lengths: Vec<usize> = (0..10_007).map(|_| 1 + rng.below(8)).collect();
    runs(len, &lengths)
}

fn counting(len: usize) -> Vec<u8> {
    (0..len).map(|i| i as u8).collect()
}

fn sorted(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i as u64 * 256 / len as u64) as u8).collect()
}

pub fn random(len: usize) -> Vec<u8> {
    letters(len, 256)
}

/// Letters at random from an alphabet of the given size.
pub fn letters(len: usize, alphabet: usize) -> Vec<u8> {
    let mut rng = Rng(alphabet as u64);
    let first = if alphabet > 128 { 0 } else { b'A' - b'A' % 32 };
    (0..len).map(|_| first.wrapping_add(rng.below(alphabet) as u8)).collect()
}

pub fn words(len: usize) -> Vec<u8> {
    let mut rng = Rng(19);
    let vocabulary: Vec<Vec<u8>> = (0..4000)
        .map(|_| {
            (0..2 + rng.below(8)).map(|_| b"etaoinshrdlucmfwypvbgkjqxz"[rng.below(26).min(rng.below(26))]).collect()
        })
        .collect();
    filled(len, |out| {
        // 4000^u for a uniform u is Zipf's law.
        let u = rng.next_u64() as f64 / u64::MAX as f64;
        out.extend_from_slice(&vocabulary[(4000f64.powf(u) as usize).saturating_sub(1)]);
        out.extend_from_slice(if rng.below(12) == 0 { b".\n" } else { b" " });
    })
}

fn records(len: usize) -> Vec<u8> {
    let mut rng = Rng(20);
    let mut id = 0;
    filled(len, |out| {
        id += 1 + rng.below(3);
        out.extend_from_slice(format!("{id:08}  0  0  0.{:04}  0  0 {} 0\n", rng.below(20), rng.below(4)).as_bytes());
    })
}

fn sparse(len: usize) -> Vec<u8> {
    let mut rng = Rng(21);
    let mut out = vec![0; len];
    for _ in 0..len / 1000 {
        out[rng.below(len)] = rng.below(256) as u8;
    }
    out
}

fn image(len: usize) -> Vec<u8> {
    let mut rng = Rng(22);
    let data = words(len);
    filled(len, |out| {
        out.extend(std::iter::repeat_n(0, 4096 * rng.below(20)));
        let start = rng.below(len);
        let end = (start + 4096 * (1 + rng.below(6))).min(len);
        out.extend_from_slice(&data[start..end]);
    })
}

fn fibonacci(len: usize) -> Vec<u8> {
    let (mut a, mut b) = (b"b".to_vec(), b"a".to_vec());
    while b.len() < len {
        let longer = [b.as_slice(), a.as_slice()].concat();
        a = std::mem::replace(&mut b, longer);
    }
    b.truncate(len);
    b
}

fn thue_morse(len: usize) -> Vec<u8> {
    (0..len).map(|i| b'a' + (i.count_ones() & 1) as u8).collect()
}

/// The lexicographically least binary de Bruijn sequence of the smallest sufficient order, from its start: the
/// Lyndon words whose length divides the order, in order (Fredricksen, Kessler and Maiorana 1978).
fn de_bruijn(len: usize) -> Vec<u8> {
    let order = (1..).find(|&order| 1usize << order >= len).unwrap();
    let mut word = vec![0u8];
    filled(len, |out| {
        if order % word.len() == 0 {
            out.extend(word.iter().map(|&bit| b'0' + bit));
        }
        // The next Lyndon word: repeat this one to the full order, drop the trailing 1 bits, raise the last 0.
        let period = word.len();
        word = (0..order).map(|i| word[i % period]).collect();
        while word.last() == Some(&1) {
            word.pop();
        }
        match word.last_mut() {
            Some(last) => *last = 1,
            None => word.push(0), // all done: begin again
        }
    })
}

fn a_n_b(len: usize) -> Vec<u8> {
    with_last(vec![b'a'; len], |_| b'b')
}

fn ab_n_c(len: usize) -> Vec<u8> {
    with_last(periodic(len, b"ab"), |_| b'c')
}

/// Changes the last byte.
fn with_last(mut bytes: Vec<u8>, change: fn(u8) -> u8) -> Vec<u8> {
    bytes.iter_mut().next_back().into_iter().for_each(|last| *last = change(*last));
    bytes
}

/// The word again and again.
pub fn periodic(len: usize, word: &[u8]) -> Vec<u8> {
    word.iter().copied().cycle().take(len).collect()
}

fn doubled(len: usize) -> Vec<u8> {
    periodic(len, &random(len.div_ceil(2)))
}

fn doubled_but_one(len: usize) -> Vec<u8> {
    with_last(doubled(len), |last| last.wrapping_add(1))
}

fn near_copies(len: usize) -> Vec<u8> {
    let mut rng = Rng(23);
    let mut page = words(10_000);
    filled(len, |out| {
        out.extend_from_slice(&page);
        let at = rng.below(page.len());
        page[at] = b'#';
    })
}

/// Letter i about as often as the i-th Fibonacci number, shuffled.
fn fib_frequencies(len: usize) -> Vec<u8> {
    let mut rng = Rng(24);
    let (mut count, mut next, mut letter) = (1, 1, b'a');
    let mut out = filled(len, |out| {
        out.extend(std::iter::repeat_n(letter, count));
        (count, next) = (next, count + next);
        letter += 1;
    });
    for i in (1..out.len()).rev() {
        out.swap(i, rng.below(i + 1));
    }
    out
}

fn count_starts_run() -> Vec<u8> {
    let mut out = vec![9; 4 + 65];
    out.extend([65; 6]);
    out
}

/// The files of `../shared/data`, decompressed, at most `max_len` bytes of each: (name, bytes). Empty if there is no
/// such folder; a test then counts as skipped (`skip.rs`).
pub fn real_files(max_len: u64) -> Vec<(String, Vec<u8>)> {
    let dir = data_dir();
    let Ok(entries) = std::fs::read_dir(&dir) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "bz2"));
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let mut bytes = Vec::new();
            let file = std::fs::File::open(path).unwrap();
            bzip2::read::MultiBzDecoder::new(file).take(max_len).read_to_end(&mut bytes).unwrap();
            (path.file_stem().unwrap().to_string_lossy().into_owned(), bytes)
        })
        .collect()
}

/// The folder of the real files, which may be missing.
pub fn data_dir() -> PathBuf {
    crate::shared("data")
}
