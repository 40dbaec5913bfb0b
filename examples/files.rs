//! Compresses and decompresses many files through one pool: blocks of all of them feed the same stations, so many small
//! files keep all cores as busy as one large file does.
//!
//! ```sh
//! cargo run --release --example files -- NAME...    # NAME to NAME.bz2, NAME.bz2 to NAME; never overwrites
//! cargo run --release --example files               # the same with some files of its own, in a temporary folder
//! ```

use hybz::flow::{self, Input, Inputs, Outputs, Source, Task};
use hybz::{Error, Formats, Level, Pool, StreamSummary, Verify};
use std::error::Error as StdError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// The data of a file from its opening to the end of its output.
struct Job {
    input: PathBuf,
    output: PathBuf,
}

/// Opens the files one after another. `flow::run` calls this on a separate thread, ahead of the writing.
struct Files(std::vec::IntoIter<PathBuf>);

impl Inputs for Files {
    type Meta = Job;

    fn next_input(&mut self) -> Option<Input<Job>> {
        loop {
            let input = self.0.next()?;
            let (task, output) = match input.extension() {
                Some(extension) if extension == "bz2" => {
                    (Task::Decompress { formats: Formats::All, trailing_garbage: true }, input.with_extension(""))
                }
                _ => {
                    let mut output = input.clone().into_os_string();
                    output.push(".bz2");
                    (Task::Compress(Level::BEST.into()), output.into())
                }
            };
            match File::open(&input) {
                Ok(file) => {
                    let source = Source::Stream(Box::new(file));
                    return Some(Input {
                        meta: Job { input, output },
                        task,
                        count_lines: false,
                        verify: Verify::Off,
                        source,
                    });
                }
                Err(e) => eprintln!("{}: {e}", input.display()),
            }
        }
    }
}

/// Takes the outputs, in the order of the inputs, on the thread that called `flow::run`.
#[derive(Default)]
struct Written {
    files: usize,
    failures: usize,
}

impl Outputs for Written {
    type Meta = Job;
    type Out = BufWriter<File>;

    fn begin(&mut self, job: &mut Job) -> Option<BufWriter<File>> {
        match File::create_new(&job.output) {
            Ok(file) => Some(BufWriter::new(file)),
            Err(e) => {
                eprintln!("{}: {e}", job.output.display());
                self.failures += 1;
                None // this input is skipped
            }
        }
    }

    fn end(&mut self, job: Job, mut out: BufWriter<File>, outcome: Result<StreamSummary, Error>) -> ControlFlow<()> {
        match outcome.and_then(|summary| out.flush().map(|()| summary).map_err(Error::Write)) {
            Ok(summary) => {
                println!("{}: {} to {} bytes", job.input.display(), summary.bytes_in, summary.bytes_out);
                self.files += 1;
            }
            Err(e) => {
                eprintln!("{}: {e}", job.input.display());
                // The output is incomplete.
                let _ = fs::remove_file(&job.output);
                self.failures += 1;
            }
        }
        ControlFlow::Continue(())
    }
}

fn run(pool: &Pool, files: Vec<PathBuf>) -> Written {
    let mut written = Written::default();
    flow::run(pool, Files(files.into_iter()), &mut written);
    written
}

fn main() -> Result<(), Box<dyn StdError>> {
    let pool = Pool::builder().build();
    let names: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if names.is_empty() {
        return own_files(&pool);
    }
    let written = run(&pool, names);
    if written.failures > 0 { Err(format!("{} files failed", written.failures).into()) } else { Ok(()) }
}

/// Compresses and decompresses files of our own, one of them damaged.
fn own_files(pool: &Pool) -> Result<(), Box<dyn StdError>> {
    let folder = tempfile::tempdir()?;
    let texts: Vec<String> = (1..=20).map(|i| format!("line {i} of a file\n").repeat(i * i * 100)).collect();
    let names: Vec<PathBuf> = (1..=20).map(|i| folder.path().join(format!("{i}.txt"))).collect();
    for (name, text) in names.iter().zip(&texts) {
        fs::write(name, text)?;
    }
    let compressed = run(pool, names.clone());
    assert_eq!((compressed.files, compressed.failures), (20, 0));

    for name in &names {
        fs::remove_file(name)?;
    }
    let coded: Vec<PathBuf> = names.iter().map(|name| name.with_extension("txt.bz2")).collect();
    fs::write(&coded[4], b"BZh9 and then nothing that bzip2 wrote")?;
    let decompressed = run(pool, coded);
    assert_eq!((decompressed.files, decompressed.failures), (19, 1));
    for (number, (name, text)) in names.iter().zip(&texts).enumerate() {
        assert_eq!(fs::read_to_string(name).ok().as_ref(), (number != 4).then_some(text));
    }
    for station in &pool.summary().stations {
        println!("{}: {} blocks", station.name, station.blocks);
    }
    io::stdout().flush()?;
    Ok(())
}
