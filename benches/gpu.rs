//! Compresses from memory to memory on CPU cores, on GPUs, and on both, and prints the work of each station.
//!
//! ```text
//! cargo bench --features cuda --bench gpu -- FILE [MEGABYTES] [MODE...]
//! ```
//!
//! FILE is read once and repeated to MEGABYTES (default: its own length). The modes are `cpu`, `gpu` (only GPUs start
//! blocks, the cores finish them), `all` (the default is these three), and `null`: stations that do nothing, to measure
//! the throughput of the pipeline itself. Each mode has its own pool; its time includes starting the GPUs. `gpu` and
//! `all` offload as the command does by default; `bwt-gpu`, `bwt-all`, `hybrid-gpu` and so on name another pipeline.
//! All outputs must be the same.
//!
//! HYBZ_LANES and HYBZ_BLOCKS set the lanes and the blocks of a batch, HYBZ_THREADS the cores, HYBZ_READERS the threads
//! that read and split, HYBZ_WINDOW the memory in MB, HYBZ_OUT a file for the output. `benches/run.sh gpu-library` runs
//! this bench.

use hybz::flow::{Input, Inputs, Outputs, Source, Task, run};
use hybz::internals::block::CodedBlock;
use hybz::internals::crc::Crc;
use hybz::internals::gpu::Offload;
use hybz::internals::tasks::{ENCODE, EncodeBlock};
use hybz::schedule::{Accepts, Job, Station, StationError};
use hybz::{Error, Lanes, Level, Pool, ReadAt, StreamSummary, Summary, Verify};
use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A text that is repeated to `len` bytes.
struct Repeated {
    text: Vec<u8>,
    len: u64,
}

impl ReadAt for Repeated {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let at = (offset % self.text.len() as u64) as usize;
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let n = buf.len().min(self.text.len() - at).min(left);
        buf[..n].copy_from_slice(&self.text[at..at + n]);
        Ok(n)
    }
    fn len(&self) -> u64 {
        self.len
    }
}

/// One input.
struct One(Option<Arc<Repeated>>);

impl Inputs for One {
    type Meta = ();
    fn next_input(&mut self) -> Option<Input<()>> {
        let source = Source::File(self.0.take()?, 0);
        Some(Input {
            meta: (),
            task: Task::Compress(Level::BEST.into()),
            count_lines: false,
            verify: Verify::Off,
            source,
        })
    }
}

/// Counts the output and takes its CRC; writes it to a file if one is named.
struct Sink {
    crc: Crc,
    len: u64,
    file: Option<File>,
}

impl Write for Sink {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.crc.update(buf);
        self.len += buf.len() as u64;
        if let Some(file) = &mut self.file {
            file.write_all(buf)?;
        }
        Ok(buf.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Collect {
    began: Instant,
    first: Option<Duration>,
    result: Option<(u32, u64)>,
}

impl Outputs for Collect {
    type Meta = ();
    type Out = Sink;
    fn begin(&mut self, (): &mut ()) -> Option<Sink> {
        let file = env::var_os("HYBZ_OUT").map(|path| File::create(path).expect("HYBZ_OUT can be written"));
        Some(Sink { crc: Crc::new(), len: 0, file })
    }
    fn block(&mut self, (): &mut (), _: &hybz::BlockInfo) {
        self.first.get_or_insert_with(|| self.began.elapsed());
    }
    fn end(&mut self, (): (), out: Sink, outcome: Result<StreamSummary, Error>) -> ControlFlow<()> {
        outcome.expect("compression succeeds");
        self.result = Some((out.crc.finish(), out.len));
        ControlFlow::Continue(())
    }
}

/// A station that does nothing: its blocks are zeros, a fifth as long as the text.
struct Null;

impl Station for Null {
    fn name(&self) -> String {
        "null".to_owned()
    }
    fn work(&mut self, batch: &mut [Job]) -> Result<(), StationError> {
        for job in batch {
            let Some(job) = job.of::<EncodeBlock>() else { continue };
            let text_len = job.task().text.len();
            let bytes = vec![0; text_len as usize / 5];
            let bit_len = bytes.len() as u64 * 8;
            job.complete(CodedBlock { bytes, bit_len, crc: 0, text_len, block_len: 0 });
        }
        Ok(())
    }
}

fn number(name: &str) -> Option<usize> {
    env::var(name).ok()?.parse().ok()
}

fn main() {
    let args: Vec<String> = env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let Some(path) = args.first() else {
        println!("usage: gpu FILE [MEGABYTES] [null|cpu|gpu|all...]");
        return;
    };
    let text = std::fs::read(path).expect("FILE can be read");
    let total = args.get(1).and_then(|mb| mb.parse().ok()).map_or(text.len() as u64, |mb: u64| mb * 1_000_000);
    let modes: Vec<&str> =
        if args.len() > 2 { args[2..].iter().map(String::as_str).collect() } else { vec!["cpu", "gpu", "all"] };
    let input = Arc::new(Repeated { text, len: total });
    match hybz::internals::gpu::devices() {
        Ok(devices) => println!("devices: {devices:?}"),
        Err(why) => println!("no device: {why}"),
    }
    let mut lanes = Lanes::default().at_once(true);
    lanes = number("HYBZ_LANES").map_or(lanes.clone(), |count| lanes.lanes(count));
    lanes = number("HYBZ_BLOCKS").map_or(lanes.clone(), |count| lanes.blocks(count));
    let shaped = |mode: &str| {
        let offload = match mode.split_once('-').map_or("", |(shape, _)| shape) {
            "bwt" => Offload::Bwt,
            "hybrid" => Offload::Hybrid,
            "resident" => Offload::Resident,
            _ => Offload::default(),
        };
        lanes.clone().offload(offload)
    };
    let mut expected = None;
    for mode in modes {
        let began = Instant::now();
        let pool = pool(mode, shaped);
        let mut outputs = Collect { began, first: None, result: None };
        run(&pool, One(Some(Arc::clone(&input))), &mut outputs);
        let seconds = began.elapsed().as_secs_f64();
        let (crc, len) = outputs.result.expect("there was an output");
        let first = outputs.first.unwrap_or_default().as_secs_f64();
        let speed = total as f64 / seconds / 1e6;
        println!(
            "{mode}: {total} -> {len} bytes (CRC {crc:08x}) in {seconds:.3} s: {speed:.1} MB/s; \
             first block after {first:.3} s"
        );
        print_stations(&pool.summary());
        if mode != "null" {
            assert_eq!(*expected.get_or_insert((crc, len)), (crc, len), "{mode}: the output differs");
        }
    }
}

/// The pool of a mode; `lanes` makes the lanes for it.
fn pool(mode: &str, lanes: impl Fn(&str) -> Lanes) -> Pool {
    let mut builder = Pool::builder();
    if let Some(window) = number("HYBZ_WINDOW") {
        builder = builder.memory(window as u64 * 1_000_000);
    }
    if let Some(threads) = number("HYBZ_THREADS").and_then(NonZeroUsize::new) {
        builder = builder.threads(threads);
    }
    builder = match mode {
        "cpu" => builder,
        "all" | "bwt-all" | "hybrid-all" | "resident-all" => builder.accelerators(&lanes(mode)),
        "gpu" | "bwt-gpu" | "hybrid-gpu" | "resident-gpu" => {
            builder.cores_accept(Accepts::AllBut(&[ENCODE])).accelerators(&lanes(mode))
        }
        "null" => {
            let mut builder = builder.without_cpu();
            for _ in 0..4 {
                builder = builder.station(Accepts::Everything, || Ok(Box::new(Null)));
            }
            builder.memory(1200 << 20)
        }
        other => panic!("no mode {other}"),
    };
    if let Some(readers) = number("HYBZ_READERS") {
        builder = builder.readers(readers);
    }
    builder.build()
}

fn print_stations(summary: &Summary) {
    for station in &summary.stations {
        println!(
            "    {:14} began {:5} finished {:5} fallbacks {:3}, {:7.1} MB, busy {:.3} s, waited {:.3} s{}",
            station.name,
            station.blocks,
            station.finished,
            station.fallbacks,
            station.bytes_in as f64 / 1e6,
            station.busy.as_secs_f64(),
            station.waited.as_secs_f64(),
            station.retired.as_ref().map_or(String::new(), |why| format!("; retired: {why}")),
        );
        if let Some(details) = &station.details {
            println!("        {details}");
        }
    }
}
