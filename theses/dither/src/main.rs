//! The command: `dither --help`.

mod arguments;

use arguments::{Arguments, Task};
use dither::manager::{self, Verify};
use dither::picture::{Bitmap, Picture};
use dither::plan::{self, Mode, Sizes};
use dither::pnm::{self, ReadError};
use dither::{device, many, plain, scene, work};
use hybz::schedule::Pool;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// The command's exit code and message.
#[derive(Debug)]
struct Failure {
    code: u8,
    text: String,
}

/// A wrong argument, or a file that cannot be read or written.
const ENVIRONMENT: u8 = 1;
/// An input that is not a picture, or a damaged picture.
const DAMAGED: u8 = 2;
/// An error that should not happen.
const INTERNAL: u8 = 3;

impl Failure {
    fn new(code: u8, text: impl Display) -> Failure {
        Failure { code, text: text.to_string() }
    }
}

impl From<manager::Error> for Failure {
    fn from(error: manager::Error) -> Self {
        Failure::new(INTERNAL, error)
    }
}

fn main() -> ExitCode {
    let outcome = Arguments::parse(std::env::args_os().skip(1)).map_err(|text| Failure::new(ENVIRONMENT, text));
    match outcome.and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { code, text }) => {
            eprintln!("dither: {text}");
            ExitCode::from(code)
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.task {
        Task::Help => print_all(|out| out.write_all(arguments::HELP.as_bytes())),
        Task::Scene { width, height } => {
            let picture = scene::scene(width, height).ok_or_else(|| Failure::new(ENVIRONMENT, "too many pixels"))?;
            print_all(|out| {
                write!(out, "P5\n{width} {height}\n255\n")?;
                out.write_all(picture.pixels())
            })
        }
        Task::Dither if arguments.files.len() > 1 => dither_many(&arguments),
        Task::Dither => dither_one(&arguments),
    }
}

fn print_all(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| Failure::new(ENVIRONMENT, error))
}

/// The pool, and whether it has GPUs. Prints a message if GPUs were asked for and there are none.
fn pool(arguments: &Arguments) -> Result<(Pool, bool), Failure> {
    let wanted = arguments.gpu || matches!(arguments.mode, Some(Mode::Handover | Mode::Hybrid | Mode::Device));
    let groups = if wanted { device::groups() } else { Ok(Vec::new()) };
    let groups = match groups {
        Ok(groups) => groups,
        Err(reason) if arguments.gpu => return Err(Failure::new(ENVIRONMENT, format!("no GPU: {reason}"))),
        Err(reason) => {
            eprintln!("dither: no GPU: {reason}; cores do its part");
            Vec::new()
        }
    };
    let there = !groups.is_empty();
    let builder = match there {
        true => work::pool(),
        false => work::cores(),
    };
    let builder = match arguments.threads {
        Some(threads) => builder.threads(threads),
        None => builder,
    };
    Ok((groups.into_iter().fold(builder, |builder, group| builder.group(group)).build(), there))
}

fn verify(arguments: &Arguments, gpus: bool) -> Verify {
    match (arguments.verify, gpus) {
        (true, _) => Verify::All,
        (false, true) => Verify::Sample,
        (false, false) => Verify::Nothing,
    }
}

fn dither_one(arguments: &Arguments) -> Result<(), Failure> {
    let picture = Arc::new(match arguments.files.first() {
        Some(path) => read(path)?,
        None => read_from("standard input", io::stdin().lock())?,
    });
    let (width, height) = (picture.width(), picture.height());
    let bitmap = if arguments.plain {
        plain::dither(&picture)
    } else {
        let (pool, gpus) = pool(arguments)?;
        let mode = arguments.mode.unwrap_or(Mode::Cores);
        let fitting = Sizes::fitting(mode, width, height, pool.cores());
        let units = plan::units(mode, width, height, arguments.sizes(fitting));
        let outcome = manager::dither(&pool, &picture, units, verify(arguments, gpus))?;
        if arguments.report {
            let (slabs, checked, wrong) = (outcome.slabs, outcome.checked, outcome.wrong);
            eprintln!("{width} x {height}, {mode}: {slabs} slabs, {checked} strips repeated, {wrong} slabs wrong");
            report(&pool);
        }
        outcome.bitmap
    };
    match &arguments.output {
        Some(path) => save(path, &bitmap, true),
        None => print_all(|out| bitmap.write_pbm(out)),
    }
}

fn dither_many(arguments: &Arguments) -> Result<(), Failure> {
    let (pool, gpus) = pool(arguments)?;
    let mut outputs = arguments.files.iter().map(|path| path.with_extension("pbm"));
    let pictures = arguments.files.iter().map(|path| read(path));
    let wrong = many::dither_all(&pool, pictures, verify(arguments, gpus), |bitmap| {
        let output: PathBuf = outputs.next().unwrap_or_default();
        save(&output, &bitmap, arguments.force)
    })?;
    if arguments.report {
        eprintln!("{} pictures, {wrong} wrong and done again", arguments.files.len());
        report(&pool);
    }
    Ok(())
}

fn report(pool: &Pool) {
    for station in pool.summary().stations {
        let (name, blocks, fallbacks) = (&station.name, station.blocks, station.fallbacks);
        eprint!("  {name}: {blocks} slabs, {:.1} ms, {fallbacks} left to cores", station.busy.as_secs_f64() * 1e3);
        eprintln!("{}", station.retired.map_or_else(String::new, |why| format!(", retired: {why}")));
    }
}

fn read(path: &Path) -> Result<Picture, Failure> {
    let file = File::open(path).map_err(|error| Failure::new(ENVIRONMENT, format!("{}: {error}", path.display())))?;
    read_from(&path.display().to_string(), BufReader::with_capacity(1 << 20, file))
}

fn read_from(name: &str, input: impl io::BufRead) -> Result<Picture, Failure> {
    pnm::read(input).map_err(|error| {
        let code = if matches!(error, ReadError::Io(_)) { ENVIRONMENT } else { DAMAGED };
        Failure::new(code, format!("{name}: {error}"))
    })
}

/// Writes a file; an existing one only if it may be replaced. An incomplete file is removed.
fn save(path: &Path, bitmap: &Bitmap, replace: bool) -> Result<(), Failure> {
    let failure = |error: io::Error| Failure::new(ENVIRONMENT, format!("{}: {error}", path.display()));
    let mut options = File::options();
    options.write(true);
    let file = match replace {
        true => options.create(true).truncate(true).open(path),
        false => options.create_new(true).open(path),
    };
    let mut out = BufWriter::new(file.map_err(failure)?);
    bitmap.write_pbm(&mut out).and_then(|()| out.flush()).map_err(|error| {
        if path.is_file() {
            let _ = fs::remove_file(path); // the first error is the one to report
        }
        failure(error)
    })
}
