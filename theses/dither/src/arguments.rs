//! The command's arguments.

use dither::plan::{Mode, Sizes};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The text that `--help` prints.
pub const HELP: &str = "\
Floyd-Steinberg dithering: PGM or PPM in, PBM out.

usage: dither [OPTIONS] [FILE]         one picture to standard output (no FILE, or -: from standard input)
       dither [OPTIONS] FILE FILE...   many pictures, each to FILE with the ending .pbm
       dither --scene WIDTHxHEIGHT     a test picture to standard output, as PGM

  -o, --output FILE   write the one picture there
  -f, --force         many pictures: replace files
  -m, --mode MODE     of one picture: plain, whole, cores (default), handover, hybrid, device
  -t, --threads N     cores
  -g, --gpu           a GPU must be there (many pictures: without this, none is used)
      --verify        repeat everything; without this, samples of what a GPU made
  -v, --report        say who did what
      --band ROWS     rows of a band of tiles
      --tile STEPS    steps of a tile
      --ends STEPS    handover: steps of the cores at each end
      --strip TILES   hybrid: columns of tiles of the cores
  -h, --help          this

Exit status: 0, 1 for arguments and files, 2 for input that is damaged or no picture, 3 for what should not happen.
";

/// The work of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Print the help.
    Help,
    /// Make a test picture.
    Scene {
        /// Its columns.
        width: usize,
        /// Its rows.
        height: usize,
    },
    /// Dither the files.
    Dither,
}

/// The arguments as typed.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    pub task: Task,
    /// Empty: standard input.
    pub files: Vec<PathBuf>,
    pub output: Option<PathBuf>,
    pub force: bool,
    pub plain: bool,
    /// `None`: no mode was named.
    pub mode: Option<Mode>,
    pub threads: Option<NonZeroUsize>,
    pub gpu: bool,
    pub verify: bool,
    pub report: bool,
    band: Option<usize>,
    tile: Option<usize>,
    ends: Option<usize>,
    strip: Option<usize>,
}

impl Arguments {
    /// Parses the arguments, or returns the error's message.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Arguments, String> {
        let mut parsed = Arguments {
            task: Task::Dither,
            files: Vec::new(),
            output: None,
            force: false,
            plain: false,
            mode: None,
            threads: None,
            gpu: false,
            verify: false,
            report: false,
            band: None,
            tile: None,
            ends: None,
            strip: None,
        };
        let mut arguments = arguments.into_iter();
        let mut only_files = false;
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy().into_owned();
            if only_files || text == "-" || !text.starts_with('-') {
                parsed.files.push(argument.into());
                continue;
            }
            let mut value = || arguments.next().ok_or_else(|| format!("{text} wants a value"));
            match text.as_str() {
                "--" => only_files = true,
                "-h" | "--help" => parsed.task = Task::Help,
                "--scene" => parsed.task = scene(&value()?.to_string_lossy())?,
                "-o" | "--output" => parsed.output = Some(value()?.into()),
                "-f" | "--force" => parsed.force = true,
                "-m" | "--mode" => parsed.set_mode(&value()?.to_string_lossy())?,
                "-t" | "--threads" => parsed.threads = Some(number(&text, &value()?)?),
                "-g" | "--gpu" => parsed.gpu = true,
                "--verify" => parsed.verify = true,
                "-v" | "--report" => parsed.report = true,
                "--band" => parsed.band = Some(number(&text, &value()?)?.get()),
                "--tile" => parsed.tile = Some(number(&text, &value()?)?.get()),
                "--ends" => parsed.ends = Some(number(&text, &value()?)?.get()),
                "--strip" => parsed.strip = Some(number(&text, &value()?)?.get()),
                _ => return Err(format!("no such option: {text} (--help lists them)")),
            }
        }
        parsed.check()
    }

    fn set_mode(&mut self, name: &str) -> Result<(), String> {
        self.plain = name == "plain";
        self.mode = Mode::ALL.iter().find(|(other, _)| *other == name).map(|(_, mode)| *mode);
        if self.plain || self.mode.is_some() { Ok(()) } else { Err(format!("no such mode: {name}")) }
    }

    fn check(mut self) -> Result<Arguments, String> {
        let many = self.files.len() > 1;
        if many && (self.mode.is_some() || self.plain || self.output.is_some()) {
            return Err("--mode and --output are for one picture".to_owned());
        }
        if many && self.files.iter().any(|file| file.as_os_str() == "-") {
            return Err("standard input can only be alone".to_owned());
        }
        if self.gpu && self.mode.is_none() && !many {
            self.mode = Some(Mode::Whole);
        }
        if self.plain && (self.gpu || self.verify) {
            return Err("the plain loop has no GPU, and nothing to compare with".to_owned());
        }
        self.files.retain(|file| file.as_os_str() != "-");
        Ok(self)
    }

    /// These sizes, with the given ones in place.
    pub fn sizes(&self, sizes: Sizes) -> Sizes {
        Sizes {
            band: self.band.unwrap_or(sizes.band),
            tile: self.tile.unwrap_or(sizes.tile),
            ends: self.ends.unwrap_or(sizes.ends),
            strip: self.strip.unwrap_or(sizes.strip),
        }
    }
}

fn number(name: &str, value: &OsString) -> Result<NonZeroUsize, String> {
    let text = value.to_string_lossy();
    text.parse().map_err(|_| format!("{name} {text}: not a number from 1"))
}

fn scene(value: &str) -> Result<Task, String> {
    let sizes = value.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    let (width, height) = sizes.ok_or_else(|| format!("--scene {value}: not WIDTHxHEIGHT"))?;
    Ok(Task::Scene { width, height })
}
