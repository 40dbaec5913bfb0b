//! Times random reads of 64 KiB with an index, next to rapidgzip and fbz with their indexes, in the same run.
//!
//! `cargo bench --bench seek -- FILE.bz2` (a file with many blocks). The three take turns, and each reads at the same
//! places; a table of medians is printed. `HYBZ_PYTHON` names a Python with the packages `rapidgzip` and `fbz`; missing
//! ones are left out. Only times are measured here; the tests compare the bytes.

use hybz::index::Index;
use hybz::seek::Reader;
use hybz::{ReadAt, Settings};
use std::fs::File;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

const READS: usize = 40;
const ROUNDS: usize = 5;
const LEN: usize = 64 << 10;

/// Prints the milliseconds of a read, after the index has been loaded: reader, file, offsets or index, places.
const PEERS: &str = "
import sys, time
name, path, offsets, places = sys.argv[1:]
if name == 'rapidgzip':
    import rapidgzip
    file = rapidgzip.IndexedBzip2File(path)
    file.set_block_offsets({int(a): int(b) for a, b in (line.split(',') for line in open(offsets))})
else:
    import fbz, os
    if not os.path.exists(path + '.fbz2i'):
        fbz.build_index(path, path + '.fbz2i')
    file = fbz.open_indexed(path, index=path + '.fbz2i')
file.seek(0); file.read(1)
took = []
for place in places.split(','):
    began = time.perf_counter()
    file.seek(int(place))
    assert len(file.read(65536)) == 65536
    took.append(time.perf_counter() - began)
print(sum(took) / len(took) * 1000)
";

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let Some(path) = std::env::args().skip(1).find(|argument| !argument.starts_with('-')) else {
        return println!("cargo bench --bench seek -- FILE.bz2");
    };
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let (bzi, offsets) = (temporary.path().join("index.bzi"), temporary.path().join("offsets"));
    let built = Index::build(File::open(&path).expect("the file"), &Settings::new()).expect("a good file");
    built.write(File::create(&bzi).expect("a file")).expect("room");
    built.write_offsets(File::create(&offsets).expect("a file")).expect("room");
    let open = || {
        let file = File::open(&path).expect("the file");
        let index = Index::open(Arc::new(File::open(&bzi).expect("the index")), &file).expect("it fits");
        Reader::with_index(file, index, &Settings::new())
    };
    let mut opening = Vec::new();
    for _ in 0..20 {
        let began = Instant::now();
        let reader = open();
        opening.push(began.elapsed().as_secs_f64() * 1e6);
        drop(reader);
    }
    println!("{} blocks, {} bytes of text, index of {} bytes", built.blocks(), built.text_len(), bzi_len(&bzi));
    println!("opening with the index: {:.0} us", median(opening));

    let mut seed = 88172645463325252u64;
    let mut place = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % (built.text_len() - LEN as u64)
    };
    let (mut ours, mut theirs) = (Vec::new(), [("rapidgzip", Vec::new()), ("fbz", Vec::new())]);
    let python = std::env::var("HYBZ_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    for _ in 0..ROUNDS {
        let places: Vec<u64> = (0..READS).map(|_| place()).collect();
        ours.push(ours_once(&open(), &places));
        let list = places.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        for (name, times) in &mut theirs {
            let arguments = [name, &*path, offsets.to_str().expect("UTF-8"), &list];
            let output = Command::new(&python).args(["-c", PEERS]).args(arguments).output();
            let said = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().parse::<f64>());
            if let Ok(Ok(milliseconds)) = said {
                times.push(milliseconds);
            }
        }
    }
    let ours = median(ours);
    println!("hybz       {ours:8.2} ms a read");
    for (name, times) in theirs {
        match times.is_empty() {
            true => println!("{name:<10} not there"),
            false => println!("{name:<10} {:8.2} ms a read, {:.2} of it", median(times.clone()), ours / median(times)),
        }
    }
}

fn bzi_len(path: &std::path::Path) -> u64 {
    File::open(path).map_or(0, |file| ReadAt::len(&file))
}

/// Milliseconds of a read. Blocks wanted twice come from the cache, as in the peers.
fn ours_once(reader: &Reader<File>, places: &[u64]) -> f64 {
    let mut buf = vec![0; LEN];
    reader.read_at(&mut buf[..1], 0).expect("a good file"); // starts the threads
    let began = Instant::now();
    for place in places {
        assert_eq!(reader.read_at(&mut buf, *place).expect("a good file"), LEN);
    }
    began.elapsed().as_secs_f64() * 1000.0 / places.len() as f64
}
