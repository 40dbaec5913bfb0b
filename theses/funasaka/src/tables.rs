//! Tables 4.3 to 4.5, 4.8 and 4.9 of Shunji Funasaka's thesis (2018): LZW.
//!
//! His figures are for a GTX 980 and for images of a standard that is not free: images.rs makes others. Compression on
//! a GPU is theses/kernels/lzw.cu. For libtiff, texts are pictures of 1,024 columns. `bench lzw` of cuda/bench measures
//! decoding in device memory.

use crate::all::STRIP;
use crate::{GREY, images};
use hybz::Pool;
use hybz_tiff_lzw::{DeviceStrips, StripDecoder, StripEncoder, decode_strips, encode_strips};
use std::thread;
use std::time::Instant;
use theses_common::disk::{cold, synced};
use theses_common::peers::{COLUMNS, PICTURE, Place, ROWS, tiff};

/// The number of runs; the best run counts.
const RUNS: usize = 3;
/// The length of his strips for compression: a row of 4,096 pixels, with a thread each.
const ROW: usize = 4096;

/// Calls `f` for the named images and sets, each cut to the size of his grey images.
pub(crate) fn each(names: &[&str], f: impl Fn(&str, &[u8])) {
    images::each(names, |set, text| f(set, &text[..text.len().min(GREY)]));
}

/// The best of several runs: its seconds and its result.
pub(crate) fn best<T>(mut run: impl FnMut() -> T) -> (f64, T) {
    let once = |run: &mut dyn FnMut() -> T| {
        let start = Instant::now();
        let made = run();
        (start.elapsed().as_secs_f64(), made)
    };
    let all = (0..RUNS).map(|_| once(&mut run));
    all.min_by(|a, b| a.0.total_cmp(&b.0)).expect("more than one run")
}

/// MB/s, or a word if the command is missing.
pub(crate) fn rate(len: usize, seconds: Option<f64>) -> String {
    seconds.map_or("not here".to_owned(), |seconds| format!("{:.0}", len as f64 / 1e6 / seconds))
}

pub(crate) fn total(coded: &[Vec<u8>]) -> usize {
    coded.iter().map(Vec::len).sum()
}

/// The strips of a text, encoded on one core.
pub(crate) fn lzw(text: &[u8], strip: usize) -> Vec<Vec<u8>> {
    let mut encoder = StripEncoder::new();
    let encode = |text: &[u8]| {
        let mut coded = Vec::new();
        encoder.encode(text, &mut coded);
        coded
    };
    text.chunks(strip).map(encode).collect()
}

/// Table 4.3: compression by LZW on cores.
pub fn lzw_compression(names: &[&str]) {
    println!("# Funasaka 2018, GTX 980: Crafts 29.3 ms (1.23 : 1), Flowers 22.2 (1.44), Graph 11.0 (10.8), 2.9 to 3.2");
    println!("# times one core. tiffcp and compress are whole processes.");
    each(names, |set, text| {
        println!("set,bytes,strip,strips,coded,ratio,core_MB/s,all_cores_MB/s,tiffcp_MB/s,compress_MB/s");
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
                "{set},{len},{strip},{},{size},{:.3},{},{},{},{}",
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

/// Table 4.4: an image in the memory of a GPU is to be on a disk. The columns are what cores and the disk take; the
/// GPU's compression and the ways from it are `kernels lzw`, printed after it.
pub fn lzw_saving(names: &[&str]) {
    println!("# Funasaka 2018, Crafts: compressed on the GPU 29.3 ms, sent 2.3, written 3.9, together 35.2; sent 3.8,");
    println!("# compressed on a core 92.8, written 3.8, together 100.4; by libtiff 118.6.");
    each(names, |set, text| {
        println!("set,bytes,coded,core_ms,all_cores_ms,libtiff_ms,write_coded_ms,write_plain_ms");
        let pool = Pool::builder().build();
        let (core, coded) = best(|| lzw(text, ROW));
        let (cores, _) = best(|| {
            let strips = text.chunks(ROW).map(Vec::from).collect::<Vec<_>>();
            encode_strips(&pool, strips).collect::<Result<Vec<_>, _>>().expect("cores that work")
        });
        let place = Place::make();
        place.write("plain.tif", &tiff(text));
        let rows = (ROW / COLUMNS).to_string();
        let libtiff = place.run(&["tiffcp", "-c", "lzw", "-r", &rows, "plain.tif", "lzw.tif"], "plain.tif", "out");
        let (coded, disk) = (coded.concat(), std::env::temp_dir().join(format!("theses-{}", std::process::id())));
        let writes = [&coded[..], text].map(|bytes| best(|| synced(&disk, bytes)).0);
        let _ = std::fs::remove_file(&disk);
        let ms = |seconds: f64| format!("{:.2}", seconds * 1e3);
        let libtiff = libtiff.map_or("not here".to_owned(), ms);
        println!(
            "{set},{},{},{},{},{libtiff},{}",
            text.len(),
            coded.len(),
            ms(core),
            ms(cores),
            writes.map(ms).join(",")
        );
    });
    each(names, |_, text| theses_common::peers::kernels("lzw", text));
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

/// Table 4.9: from a file on a disk, cold, to memory: plain (A), decoded on cores (B), and coded, for a device (C).
pub fn lzw_loading(names: &[&str]) {
    println!("# Funasaka 2018, Flowers, from an SSD to a GTX 980: plain (A) 9.95 ms, decoded by a core (B) 63.2, by");
    println!(
        "# libtiff 74.5, decoded on the GPU (C) 5.43. The way to the device's memory, and decoding there: `bench lzw'."
    );
    each(names, |set, text| {
        println!("set,bytes,coded,read_plain_ms,read_coded_ms,decode_on_cores_ms,predictor_on_a_core_ms");
        let coded = lzw(text, STRIP);
        let sizes: Vec<usize> = coded.iter().map(Vec::len).collect();
        let coded = coded.concat();
        let name = std::env::temp_dir().join(format!("theses-{}", std::process::id()));
        let [plain, packed] = [text, &coded].map(|bytes| cold(&name, bytes));
        let _ = std::fs::remove_file(&name);
        let (decode, found) = best(|| {
            on_cores(&coded, &sizes, text.len(), |coded, text| {
                StripDecoder::new().decode(coded, text).expect("a strip that was encoded just now");
            })
        });
        assert!(found == text, "what is decoded is the text");
        let (predictor, _) = best(|| {
            let mut sums = found.clone();
            sums.chunks_mut(ROW).for_each(|row| {
                row.iter_mut().fold(0u8, |sum, byte| {
                    *byte = byte.wrapping_add(sum);
                    *byte
                });
            });
            sums
        });
        let ms = [plain, packed, decode, predictor].map(|seconds| format!("{:.2}", seconds * 1e3)).join(",");
        println!("{set},{},{},{ms}", text.len(), coded.len());
    });
}
