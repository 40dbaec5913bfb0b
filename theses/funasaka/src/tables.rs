//! Tables 4.3 to 4.5, 4.8 and 4.9 of Funasaka's thesis (2018): LZW; and 5.3 to 5.6: his format ALL, compared with LZ4.
//!
//! His figures are for a GTX 980 (chapter 4) and a GTX 1080 (chapter 5), and for images and files that are no longer
//! available: they are printed as ranges. The thesis itself was not at hand, so the contents of tables 4.3 to 4.5 are
//! not known one by one: one table here covers their subject, compression. For libtiff, texts are pictures of 1,024
//! columns. `cuda/bench` (`bench lzw`, `bench all`) measures decoding in device memory.

use crate::all::{self, Counts, KINDS, STRIP};
use hybz::Pool;
use hybz::lzw::{DeviceStrips, StripDecoder, StripEncoder, decode_strips, encode_strips};
use std::thread;
use std::time::Instant;
use theses_common::datasets::each_or_made as each;
use theses_common::peers::{COLUMNS, PICTURE, Place, ROWS, tiff};

/// The number of runs; the best run counts.
const RUNS: usize = 3;
/// The length of his strips for compression: a row of 4,096 pixels, with a thread each.
const ROW: usize = 4096;
/// nvCOMP 6.0 on an H200 on 2026-11-21, in a different run: `../shared/SEEDS.md`, section 9.
const NVCOMP: [&str; 3] = [
    "# nvCOMP 6.0, H200, 2026-11-21, another run, chunks of 64 KiB, decoding in GB/s (ratio): LZ4 linux 76 (2.72),",
    "# dickens 64 (1.52), nci 110 (4.95); Snappy 137 (2.80), 103 (1.48), 173 (5.13); GDeflate 67 (3.33), 55 (1.99),",
    "# 84 (6.21); Zstd 65 (4.35), 45 (2.33), 93 (9.87); ANS 301 (1.59), 323 (1.68), 313 (3.01).",
];

/// The best of several runs: its seconds and its result.
fn best<T>(mut run: impl FnMut() -> T) -> (f64, T) {
    let once = |run: &mut dyn FnMut() -> T| {
        let start = Instant::now();
        let made = run();
        (start.elapsed().as_secs_f64(), made)
    };
    let all = (0..RUNS).map(|_| once(&mut run));
    all.min_by(|a, b| a.0.total_cmp(&b.0)).expect("more than one run")
}

/// MB/s, or a word if the command is missing.
fn rate(len: usize, seconds: Option<f64>) -> String {
    seconds.map_or("not here".to_owned(), |seconds| format!("{:.0}", len as f64 / 1e6 / seconds))
}

fn total(coded: &[Vec<u8>]) -> usize {
    coded.iter().map(Vec::len).sum()
}

/// The strips of a text, encoded on one core.
fn lzw(text: &[u8], strip: usize) -> Vec<Vec<u8>> {
    let mut encoder = StripEncoder::new();
    let encode = |text: &[u8]| {
        let mut coded = Vec::new();
        encoder.encode(text, &mut coded);
        coded
    };
    text.chunks(strip).map(encode).collect()
}

/// Tables 4.3 to 4.5: compression by LZW.
pub fn lzw_compression(names: &[&str]) {
    println!("# Funasaka 2018, GTX 980: 11.0 to 29.3 ms for 12.6 MB (430 to 1,100 MB/s), a thread for each row;");
    println!(
        "# 2.9 to 3.2 times one core; 64 images at once 21.6 ms each. Here compression is for cores: a device needs"
    );
    println!("# 50,000 strips at once to do 4 to 10 GB/s (model). tiffcp and compress are whole processes.");
    each(names, |set, text| {
        println!("set,bytes,strip,strips,coded,ratio,core_MB/s,all_cores_MB/s,tiffcp_MB/s,compress_MB/s,GPU");
        let pool = Pool::builder().build();
        let place = Place::make();
        place.write("plain.tif", &tiff(text));
        place.write("text", text);
        let picture = text.len() / COLUMNS * COLUMNS;
        let compress = place.run(&["compress", "-c"], "text", "text.Z");
        for strip in [ROW, STRIP] {
            let rows = (strip / COLUMNS).to_string();
            let tiffcp = place.run(&["tiffcp", "-c", "lzw", "-r", &rows, "plain.tif", "lzw.tif"], "text", "out");
            let (core, coded) = best(|| lzw(text, strip));
            let (cores, again) = best(|| {
                let strips = text.chunks(strip).map(Vec::from).collect::<Vec<_>>();
                encode_strips(&pool, strips).collect::<Result<Vec<_>, _>>().expect("cores that work")
            });
            assert!(again == coded, "all cores write what one does");
            let (len, size) = (text.len(), total(&coded));
            println!(
                "{set},{len},{strip},{},{size},{:.3},{},{},{},{},not made",
                coded.len(),
                size as f64 / len as f64,
                rate(len, Some(core)),
                rate(len, Some(cores)),
                rate(picture, tiffcp),
                rate(len, compress)
            );
        }
    });
}

/// The seconds in which a device decodes strips, from host memory to host memory. `Err` gives the reason if it cannot.
fn on_device(strips: &[(&[u8], usize)], text: &[u8]) -> Result<f64, String> {
    let coded = strips.iter().map(|(coded, _)| coded.len()).sum();
    let open = DeviceStrips::open("0", strips.len(), coded, text.len());
    let mut device = open.map_err(|_| "no device".to_owned())?;
    let (seconds, found) = best(|| device.decode(strips));
    let found = found.map_err(|error| error.to_string())?;
    let strip = |(found, text): (Result<Vec<u8>, _>, &[u8])| found.is_ok_and(|found| found == text);
    assert!(found.into_iter().zip(text.chunks(STRIP)).all(strip), "a device decodes as cores do");
    Ok(seconds)
}

/// Table 4.8: decompression of LZW.
pub fn lzw_decompression(names: &[&str]) {
    println!(
        "# Funasaka 2018, GTX 980, strips of 64 KiB: 1.15 to 3.58 ms for 12.6 MB (3.5 to 11 GB/s), 13.8 to 43.6 times"
    );
    println!("# one core. tiffcp, compress and gzip are whole processes; the GPU's column is from host memory to host");
    println!(
        "# memory, where two transfers take most of it: `bench lzw` of cuda/bench says what it does in its memory."
    );
    each(names, |set, text| {
        println!("set,bytes,strips,ratio,core_MB/s,all_cores_MB/s,tiffcp_MB/s,compress_MB/s,gzip_MB/s,GPU_MB/s");
        let (coded, len) = (lzw(text, STRIP), text.len());
        let strips: Vec<(&[u8], usize)> =
            coded.iter().zip(text.chunks(STRIP)).map(|(coded, text)| (&coded[..], text.len())).collect();
        let pool = Pool::builder().build();
        let mut found = vec![0; len];
        let (core, ()) = best(|| {
            let mut decoder = StripDecoder::new();
            for ((coded, _), text) in strips.iter().zip(found.chunks_mut(STRIP)) {
                decoder.decode(coded, text).expect("a strip that was encoded just now");
            }
        });
        assert!(found == text, "what is decoded is the text");
        let (cores, texts) = best(|| {
            let strips: Vec<(Vec<u8>, usize)> = strips.iter().map(|(coded, len)| (coded.to_vec(), *len)).collect();
            decode_strips(&pool, strips).collect::<Result<Vec<_>, _>>().expect("cores that work")
        });
        assert!(texts.concat() == text, "what is decoded is the text");
        let place = Place::make();
        place.write("plain.tif", &tiff(text));
        place.write("text", text);
        let rows = ROWS.to_string();
        let there = place.run(&["tiffcp", "-c", "lzw", "-r", &rows, "plain.tif", "lzw.tif"], "text", "out");
        let tiffcp = there.and_then(|_| place.run(&["tiffcp", "-c", "none", "lzw.tif", "out.tif"], "text", "out"));
        let picture = &text[..len / COLUMNS * COLUMNS];
        let right = |out: &[u8]| out.len() > PICTURE && out[PICTURE..].starts_with(picture);
        assert!(tiffcp.is_none() || right(&place.read("out.tif")), "libtiff decodes the picture");
        let there = place.run(&["compress", "-c"], "text", "text.Z");
        let decode = |command: &[&str]| {
            let seconds = there.and_then(|_| place.run(command, "text.Z", "out"));
            assert!(seconds.is_none() || place.read("out") == text, "{command:?} decodes the text");
            seconds
        };
        let (compress, gzip) = (decode(&["compress", "-dc"]), decode(&["gzip", "-dc"]));
        let device = on_device(&strips, text).map_or_else(|why| why, |seconds| rate(len, Some(seconds)));
        println!(
            "{set},{len},{},{:.3},{},{},{},{},{},{device}",
            strips.len(),
            total(&coded) as f64 / len as f64,
            rate(len, Some(core)),
            rate(len, Some(cores)),
            rate(picture.len(), tiffcp),
            rate(len, compress),
            rate(len, gzip)
        );
    });
}

/// Tables 4.9 and 5.6: from a file to memory, plain (A), decoded by cores (B), and coded, for a device to decode (C).
fn loading(set: &str, text: &[u8], coded: &[Vec<u8>], decode: impl Fn(&[u8]) -> Vec<u8>) {
    println!("set,bytes,coded,read_plain_ms,read_and_decode_on_cores_ms,read_coded_ms,upload_and_decode_on_GPU_ms");
    let place = Place::make();
    place.write("plain", text);
    place.write("coded", &coded.concat());
    let (plain, read) = best(|| place.read("plain"));
    assert!(read == text);
    let (cores, read) = best(|| decode(&place.read("coded")));
    assert!(read == text);
    let (packed, read) = best(|| place.read("coded"));
    let ms = [plain, cores, packed].map(|seconds| format!("{:.2}", seconds * 1e3)).join(",");
    println!("{set},{},{},{ms},cuda/bench", text.len(), read.len());
}

/// Runs `decode` on all cores, on pieces of `coded` with these sizes that make pieces of a text of `len` bytes.
fn on_cores(coded: &[u8], sizes: &[usize], len: usize, decode: impl Fn(&[u8], &mut [u8]) + Sync) -> Vec<u8> {
    let mut text = vec![0; len];
    let (mut strips, mut rest) = (Vec::new(), coded);
    for (size, text) in sizes.iter().zip(text.chunks_mut(STRIP)) {
        let (strip, after) = rest.split_at(*size);
        strips.push((strip, text));
        rest = after;
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let share = strips.len().div_ceil(cores).max(1);
    thread::scope(|scope| {
        for some in strips.chunks_mut(share) {
            scope.spawn(|| some.iter_mut().for_each(|(coded, text)| decode(coded, text)));
        }
    });
    text
}

/// Table 4.9: loading LZW-compressed data.
pub fn lzw_loading(names: &[&str]) {
    println!(
        "# Funasaka 2018, from an SSD to a GTX 980: plain (A) 9.95 ms, by libtiff (B) 74.5, decoded there (C) 5.4."
    );
    println!("# Here files are in memory, and the last step of C is `bench lzw`, \"with the upload\".");
    each(names, |set, text| {
        let coded = lzw(text, STRIP);
        let sizes: Vec<usize> = coded.iter().map(Vec::len).collect();
        loading(set, text, &coded, |all| {
            on_cores(all, &sizes, text.len(), |coded, text| {
                StripDecoder::new().decode(coded, text).expect("a strip that was encoded just now");
            })
        });
    });
}

/// The strips of a text in ALL, encoded on all cores.
fn all_strips(text: &[u8]) -> (Vec<Vec<u8>>, Counts) {
    let strips: Vec<&[u8]> = text.chunks(STRIP).collect();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let share = strips.len().div_ceil(cores).max(1);
    let (mut coded, mut counts) = (Vec::new(), Counts::default());
    thread::scope(|scope| {
        let encode = |some: &[&[u8]]| {
            let mut counts = Counts::default();
            let coded: Vec<Vec<u8>> = some.iter().map(|text| all::encode(text, &mut counts)).collect();
            (coded, counts)
        };
        let threads: Vec<_> = strips.chunks(share).map(|some| scope.spawn(move || encode(some))).collect();
        for thread in threads {
            let (some, of_some) = thread.join().expect("an encoder that does not panic");
            coded.extend(some);
            counts.add_all(&of_some);
        }
    });
    (coded, counts)
}

fn decode_all(coded: &[u8], text: &mut [u8]) {
    all::decode(coded, text).expect("a strip that was encoded just now");
}

/// Table 5.3: sizes.
pub fn all_sizes(names: &[&str]) {
    println!(
        "# Funasaka 2018, ALL: wiki .534, matrix .428, linux .446, rctail96 .396, w3c2 .292, Crafts .644, Flowers .434."
    );
    println!(
        "# Here without magic strings, and with two bits for each word's size. LZ4 in blocks of 64 KiB: lz4 -12 -B4."
    );
    println!("{}", NVCOMP.join("\n"));
    each(names, |set, text| {
        println!("set,bytes,ALL,LZ4,LZW,gzip,ALL/LZ4");
        let (coded, _) = all_strips(text);
        let place = Place::make();
        place.write("text", text);
        let size = |command: &[&str]| place.run(command, "text", "out").map(|_| place.read("out").len());
        let (lz4, gzip) = (size(&["lz4", "-12", "-B4", "-c"]), size(&["gzip", "-6", "-c"]));
        let (all, len) = (total(&coded), text.len() as f64);
        let sizes = [Some(all), lz4, Some(total(&lzw(text, STRIP))), gzip];
        let ratios = sizes.map(|size| size.map_or("not here".to_owned(), |size| format!("{:.3}", size as f64 / len)));
        let more = lz4.map_or("?".to_owned(), |lz4| format!("{:.3}", all as f64 / lz4 as f64));
        println!("{set},{},{},{more}", text.len(), ratios.join(","));
    });
}

/// Table 5.4: decoding.
pub fn all_decompression(names: &[&str]) {
    println!(
        "# Funasaka 2018, GTX 1080, ALL: wiki 36 GB/s, linux 49, w3c2 55; 84 to 231 times one core; 1.2 to 12.5 times"
    );
    println!(
        "# Gompresso, 3.5 to 23.5 times CULZSS, 1.3 to 10.3 times LZW. The GPU: `bench all` of cuda/bench, with cases"
    );
    println!("# written by all-cases. lz4 is a whole process.");
    println!("{}", NVCOMP.join("\n"));
    each(names, |set, text| {
        println!("set,bytes,ALL_core_MB/s,ALL_all_cores_MB/s,LZW_core_MB/s,lz4_MB/s,GPU");
        let ((coded, _), len) = (all_strips(text), text.len());
        let (sizes, together): (Vec<usize>, _) = (coded.iter().map(Vec::len).collect(), coded.concat());
        let mut found = vec![0; len];
        let (core, ()) = best(|| {
            coded.iter().zip(found.chunks_mut(STRIP)).for_each(|(coded, text)| decode_all(coded, text));
        });
        assert!(found == text, "what is decoded is the text");
        let (cores, found) = best(|| on_cores(&together, &sizes, len, decode_all));
        assert!(found == text, "what is decoded is the text");
        let strips = lzw(text, STRIP);
        let mut found = vec![0; len];
        let (by_lzw, ()) = best(|| {
            let mut decoder = StripDecoder::new();
            for (coded, text) in strips.iter().zip(found.chunks_mut(STRIP)) {
                decoder.decode(coded, text).expect("a strip that was encoded just now");
            }
        });
        let place = Place::make();
        place.write("text", text);
        let there = place.run(&["lz4", "-12", "-B4", "-c"], "text", "text.lz4");
        let lz4 = there.and_then(|_| place.run(&["lz4", "-dc"], "text.lz4", "out"));
        assert!(lz4.is_none() || place.read("out") == text, "lz4 decodes the text");
        let rates = [Some(core), Some(cores), Some(by_lzw), lz4].map(|seconds| rate(len, seconds)).join(",");
        println!("{set},{len},{rates},cuda/bench");
    });
}

/// Table 5.5: the kinds of words.
pub fn all_words(names: &[&str]) {
    println!("# Funasaka 2018: SI makes 60 to 94 % of the text, runs less than 3 %.");
    each(names, |set, text| {
        println!("set,kind,words,share_of_words,bytes,share_of_text");
        let (_, counts) = all_strips(text);
        let words = counts.words.iter().sum::<u64>().max(1) as f64;
        for (kind, (&number, &bytes)) in KINDS.iter().zip(counts.words.iter().zip(&counts.bytes)) {
            let shares = (100.0 * number as f64 / words, 100.0 * bytes as f64 / text.len().max(1) as f64);
            println!("{set},{kind},{number},{:.1}%,{bytes},{:.1}%", shares.0, shares.1);
        }
    });
}

/// Table 5.6: loading ALL-compressed data.
pub fn all_loading(names: &[&str]) {
    println!("# Funasaka 2018, from an SSD to a GTX 1080, wiki: plain 691.8 ms, by ALL decoded there 397.5.");
    println!("# Here files are in memory, and the last step is `bench all`, \"with the upload\".");
    each(names, |set, text| {
        let (coded, _) = all_strips(text);
        let sizes: Vec<usize> = coded.iter().map(Vec::len).collect();
        loading(set, text, &coded, |all| on_cores(all, &sizes, text.len(), decode_all));
    });
}

/// Writes strips of ALL for `bench all` of `cuda/bench/`: for each, the bytes of its code and of its text, and both.
pub fn cases(path: &str, names: &[&str]) {
    let file = std::cell::RefCell::new(Vec::new());
    each(names, |_, text| {
        let mut file = file.borrow_mut();
        for (coded, text) in all_strips(text).0.iter().zip(text.chunks(STRIP)) {
            file.extend((coded.len() as u32).to_le_bytes());
            file.extend((text.len() as u32).to_le_bytes());
            file.extend_from_slice(coded);
            file.extend_from_slice(text);
        }
    });
    std::fs::write(path, file.into_inner()).unwrap_or_else(|error| theses_common::fail(&format!("{path}: {error}")));
}
