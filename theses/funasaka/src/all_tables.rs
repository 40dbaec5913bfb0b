//! Tables 5.2 to 5.6 of Shunji Funasaka's thesis (2018): his format ALL, compared with LZ4.
//!
//! His devices are a GTX 1080 and one core of an i7-4790. `bench all` (cuda/bench) measures decoding in device memory.

use crate::all::{self, Counts, KINDS, Options, STRIP};
use crate::images::{IMAGES, each};
use crate::tables::{best, lzw, rate, total};
use hybz_tiff_lzw::StripDecoder;
use std::path::Path;
use theses_common::disk::cold;
use theses_common::peers::Place;
use theses_common::{datasets, fail};

/// nvCOMP 6.0 on an H200 on 2026-11-21, in a different run: `../shared/SEEDS.md`, section 9.
const NVCOMP: [&str; 3] = [
    "# nvCOMP 6.0, H200, 2026-11-21, another run, chunks of 64 KiB, decoding in GB/s (ratio): LZ4 linux 76 (2.72),",
    "# dickens 64 (1.52), nci 110 (4.95); Snappy 137 (2.80), 103 (1.48), 173 (5.13); GDeflate 67 (3.33), 55 (1.99),",
    "# 84 (6.21); Zstd 65 (4.35), 45 (2.33), 93 (9.87); ANS 301 (1.59), 323 (1.68), 313 (3.01).",
];

/// A line for each of his sets: its name and the set here, tables 5.2 to 5.6 (%, ms).
const HIS: &str = include_str!("thesis.csv");

/// His sets: the columns of `HIS`.
fn his() -> impl Iterator<Item = Vec<&'static str>> {
    HIS.lines().skip(1).map(|line| line.split(',').collect())
}

/// His name of a set, and his figures in these columns; dashes, if he has no such set.
fn beside(set: &str, columns: &[&str]) -> String {
    let set = his().find(|his| his[1] == set);
    let figure = |column: &&str| {
        let number = HIS.lines().next()?.split(',').position(|known| known == *column)?;
        set.as_ref().map(|set| set[number])
    };
    let figures = ["his_set"].iter().chain(columns).map(|column| figure(column).unwrap_or("-"));
    figures.collect::<Vec<_>>().join(",")
}

/// Table 5.2: the data sets.
pub fn sets(_: &[&str]) {
    println!("his_set,his_MB,set_here,bytes_here");
    for his in his() {
        let (name, ours, megabytes) = (his[0], his[1], his[2]);
        let made = IMAGES.iter().any(|(known, _)| *known == ours);
        let bytes = if made { Some(4096 * 3072 * 3) } else { datasets::place(ours).map(|path| bytes_of(&path)) };
        let (ours, none) = if ours.is_empty() { ("none", "cannot be had") } else { (ours, "not on this machine") };
        println!("{name},{megabytes},{ours},{}", bytes.map_or(none.to_owned(), |bytes| bytes.to_string()));
    }
}

fn bytes_of(path: &Path) -> u64 {
    path.metadata().map_or(0, |data| data.len())
}

fn decode(file: &[u8], all_cores: bool) -> Vec<u8> {
    all::decode(file, all_cores).expect("a file that was encoded just now")
}

/// Table 5.3: sizes.
pub fn sizes(names: &[&str]) {
    println!(
        "# Ratios: coded to plain. \"plain\" is ALL without magic strings and predictor. LZ4 is lz4 -12 -B4, blocks of"
    );
    println!("# 64 KiB, as ALL's strips. LZW is strips of 64 KiB of TIFF.");
    println!("{}", NVCOMP.join("\n"));
    println!("set,bytes,ALL,plain,LZ4,LZW,gzip,ALL/LZ4,strips,raw,predicted,magic,his_set,ALL,Gompresso,CULZSS,LZW");
    each(names, |set, text| {
        let ((coded, counts), (plain, _)) = (all::encode(text, Options::ALL), all::encode(text, Options::NONE));
        assert!(decode(&coded, true) == text && decode(&plain, true) == text, "what is decoded is the text");
        let place = Place::make();
        place.write("text", text);
        let size = |command: &[&str]| place.run(command, "text", "out").map(|_| place.read("out").len());
        let (lz4, gzip) = (size(&["lz4", "-12", "-B4", "-c"]), size(&["gzip", "-6", "-c"]));
        let len = text.len() as f64;
        let sizes = [Some(coded.len()), Some(plain.len()), lz4, Some(total(&lzw(text, STRIP))), gzip];
        let ratios = sizes.map(|size| size.map_or("not here".to_owned(), |size| format!("{:.5}", size as f64 / len)));
        let more = lz4.map_or("?".to_owned(), |lz4| format!("{:.3}", coded.len() as f64 / lz4 as f64));
        let Counts { strips, raw, predicted, magic, .. } = counts;
        let his = beside(set, &["ALL", "Gompresso", "CULZSS", "LZW"]);
        println!("{set},{},{},{more},{strips},{raw},{predicted},{magic},{his}", text.len(), ratios.join(","));
    });
}

/// Table 5.4: decoding.
pub fn decompression(names: &[&str]) {
    println!("# The GPU: `bench all SET.all STRIPS`, on files of `theses funasaka all`. lz4 is a whole process.");
    println!("# His GPU took 1.2 to 12.5 times less than Gompresso, 3.5 to 23.5 than CULZSS, 1.3 to 10.3 than LZW.");
    println!("{}", NVCOMP.join("\n"));
    println!("set,bytes,core_ms,core_MB/s,cores_MB/s,plain_core_MB/s,LZW_core_MB/s,lz4_MB/s,his_set,MB,core_ms,GPU_ms");
    each(names, |set, text| {
        let ((coded, _), (plain, _)) = (all::encode(text, Options::ALL), all::encode(text, Options::NONE));
        let len = text.len();
        let time = |coded: &[u8], all_cores| {
            let (seconds, found) = best(|| decode(coded, all_cores));
            assert!(found == text, "what is decoded is the text");
            seconds
        };
        let (core, cores, without) = (time(&coded, false), time(&coded, true), time(&plain, false));
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
        let times = [Some(core), Some(cores), Some(without), Some(by_lzw), lz4];
        let rates = times.map(|seconds| rate(len, seconds)).join(",");
        let his = beside(set, &["MB", "core_ms", "GPU_ms"]);
        println!("{set},{len},{:.1},{rates},{his}", core * 1e3);
    });
}

/// Table 5.5: the kinds of codes.
pub fn codes(names: &[&str]) {
    println!("# Shares of the text; raw strips have no codes.");
    println!("set,ratio,{},his_set,ratio,{}", KINDS.join(","), KINDS.join(","));
    each(names, |set, text| {
        let (coded, counts) = all::encode(text, Options::ALL);
        let len = text.len().max(1) as f64;
        let shares = counts.bytes.map(|bytes| format!("{:.3}%", 100.0 * bytes as f64 / len)).join(",");
        let his = beside(set, &["ALL", "SC", "SI", "LI", "SRL", "LRL"]);
        println!("{set},{:.5},{shares},{his}", coded.len() as f64 / len);
    });
}

/// Table 5.6: the part of loading that needs no device: reading from a disk, cold, and decoding on cores.
pub fn loading(names: &[&str]) {
    println!(
        "# `bench all SET.all STRIPS FOLDER` of cuda/bench has the three scenarios as a whole, into device memory."
    );
    println!("set,bytes,coded,read_plain_ms,read_coded_ms,decode_core_ms,decode_cores_ms,his_set,A_ms,B_ms,C_ms");
    each(names, |set, text| {
        let (coded, _) = all::encode(text, Options::ALL);
        let name = std::env::temp_dir().join(format!("theses-{}", std::process::id()));
        let reads = [text, &coded].map(|bytes| cold(&name, bytes));
        let _ = std::fs::remove_file(&name);
        let decodes = [false, true].map(|all_cores| best(|| decode(&coded, all_cores)).0);
        let ms = [reads, decodes].concat().iter().map(|seconds| format!("{:.2}", seconds * 1e3)).collect::<Vec<_>>();
        println!("{set},{},{},{},{}", text.len(), coded.len(), ms.join(","), beside(set, &["A_ms", "B_ms", "C_ms"]));
    });
}

/// Writes sets in ALL.
pub fn write(arguments: &[&str]) {
    let [folder, sets @ ..] = arguments else { fail("all FOLDER [SET..]") };
    each(sets, |set, text| {
        for (options, end) in [(Options::ALL, "all"), (Options::NONE, "plain.all")] {
            let path = Path::new(folder).join(format!("{set}.{end}"));
            let (file, counts) = all::encode(text, options);
            println!("{}: {} bytes, {counts:?}", path.display(), file.len());
            std::fs::write(&path, file).unwrap_or_else(|error| fail(&format!("{}: {error}", path.display())));
        }
    });
}

/// Decodes a file of ALL.
pub fn unpack(arguments: &[&str]) {
    let [path] = arguments else { fail("unall FILE.all") };
    let file = std::fs::read(path).unwrap_or_else(|error| fail(&format!("{path}: {error}")));
    let text = all::decode(&file, true).unwrap_or_else(|| fail(&format!("{path} is no file of ALL, or damaged")));
    std::io::Write::write_all(&mut std::io::stdout(), &text).unwrap_or_else(|error| fail(&error.to_string()));
}
