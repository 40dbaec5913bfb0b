//! What was typed: every flag, with its help text. The doc comment of a field is what users read about the flag: its
//! first paragraph in `--help`, all of it in the manual page.
//!
//! bzip2's rules hold: flags and files in any order, short flags in clusters (`-v4k`), and the last of contradicting
//! flags wins.

use super::choices::{GpuPipeline, LevelFlags, OutputFormat, ProgressFormat, Recovery, Shell, Verified};
use super::ranges::{Ranges, Split, ranges, split};
use super::values::{MAX_THREADS, interval, pattern, seconds, shard_size, size, text_length};
use clap::{ArgAction, Command, FromArgMatches, Parser, ValueHint, value_parser};
use glob::Pattern;
use std::ffi::OsString;

const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "\na bzip2-compatible block-sorting file compressor\n", "MIT OR Apache-2.0");

const MODES: [&str; 4] = ["decompress", "compress", "test", "list"];

/// Compresses files into .bz2, or decompresses them, on every core.
#[derive(Clone, Debug, Default, Parser)]
#[command(
    name = "hybz",
    version = VERSION,
    no_binary_name = true,
    args_override_self = true,
    disable_help_flag = true,
    disable_version_flag = true,
)]
#[group(skip)]
pub struct Flags {
    // Hidden, because the usage line names it.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath, hide = true)]
    pub files: Vec<OsString>,

    /// Decompress.
    ///
    /// NAME.bz2, NAME.bz and NAME.hbz become NAME; NAME.tbz2, NAME.tbz and NAME.tz2 become NAME.tar; any other NAME
    /// becomes NAME.out. What the file contains decides how it is read, not its name. The .Z files of compress are
    /// read, too, and those of lz4: NAME.Z and NAME.lz4 become NAME, and NAME.taz NAME.tar. Called as bzip2, bunzip2 or
    /// bzcat, hybz reads .bz2 only.
    #[arg(short, long, overrides_with_all = MODES)]
    pub decompress: bool,

    /// Compress.
    ///
    /// The default, unless the program is called by a name such as bunzip2. Files that already have the suffix of a
    /// compressed file are refused, even with -f, so that a nightly job does not compress its own results again.
    #[arg(short = 'z', long, overrides_with_all = MODES)]
    pub compress: bool,

    /// Check compressed files and write nothing.
    #[arg(short, long, overrides_with_all = MODES)]
    pub test: bool,

    /// List streams, blocks and sizes of compressed files (-lv: also check each block).
    ///
    /// A .hbz file has an index, which is read. A .bz2 file does not store the length of its text: FILE.bz2.bzi is
    /// read if it fits, and otherwise the file is decoded, as are .Z and .lz4. With -v, every block is decoded and its
    /// state shown; in a damaged .hbz file, each block is decoded by itself.
    #[arg(short, long, overrides_with_all = MODES)]
    pub list: bool,

    /// Get all good blocks out of damaged .bz2 files: as text, fill, bz2 or split (default: text).
    ///
    /// text writes NAME.recovered, the text of the good blocks. fill writes zeros where text is lost: exactly as
    /// many if FILE.bz2.bzi, or the index that --index names, is there; otherwise as if each lost block had the
    /// length of the one before. bz2 writes NAME.recovered.bz2, a valid file of the good blocks. split writes each
    /// of them into a file of its own, rec00001NAME.bz2 and so on. The damaged file is never changed. What is lost
    /// is reported, with --json to standard output. The exit code is 0 if nothing is lost, 2 if something is, and 1
    /// if nothing is found. Called as bzip2recover, hybz does what that program does.
    #[arg(long, value_name = "RESULT", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    pub recover: Option<Recovery>,

    /// Write to standard output and keep the input files.
    #[arg(short = 'c', long)]
    pub stdout: bool,

    /// Write to FILE (-: standard output) and keep the one input file unless --rm.
    #[arg(short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<OsString>,

    /// Write the index of a .bz2 file, FILE.bz2.bzi unless FILE is given; with --ranges or --recover, read it.
    ///
    /// With an index any part of the text can be read without decoding what is before it. It is made while compressing,
    /// or with -t, -d or -l while decompressing, and takes 40 bytes for each block. What is read may also be lines of
    /// BITS,BYTES, as indexed_bzip2 and rapidgzip have them.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, num_args = 0..=1, require_equals = true,
        default_missing_value = "")]
    pub index: Option<OsString>,

    /// With -d, give only these parts of the text: SIZE@OFFSET, separated by commas.
    ///
    /// SIZE and OFFSET are numbers of bytes, or of the unit that follows: k (1000), M, G, T, Ki (1024), Mi, Gi, Ti, or
    /// L (lines). SIZE may be inf. The parts are written one after the other, in this order. FILE.bz2.bzi, or the index
    /// that --index names, is used if there is one; without it, everything before the parts is decoded too. Nothing is
    /// written for a part after the end of the text.
    #[arg(long, value_name = "LIST", value_parser = ranges)]
    pub ranges: Option<Ranges>,

    /// Give a part of the text of FILE, a .bz2, without an index: I/N, or SIZE@OFFSET of its compressed bytes.
    ///
    /// Part I of N (1 to N) has the blocks that begin in the Ith of N equal parts of the compressed file, and only
    /// these and parts of their neighbours are decoded. N processes or machines thus share the reading, without a first
    /// pass, and their texts one after the other are the text of FILE. The other form is for schedulers: the blocks
    /// that begin in SIZE bytes (inf: all) from byte OFFSET on. Damage is an error of the part in which it lies. The
    /// text goes to standard output, or to -o.
    #[arg(long, value_name = "PART", value_parser = split)]
    pub split: Option<Split>,

    /// With --ranges or --split, give the lines that begin in a part; with --stream-size, end streams at line ends.
    ///
    /// A line that begins before its range is left out, and the last line is completed. Parts that cover the text give
    /// each line once. (Parts of --split leave out the first line that begins in them, and give the one that begins
    /// right after them. The first part has the first line.) A stream ends at the first line end after SIZE, so a line
    /// that is longer stays whole.
    #[arg(long)]
    pub lines: bool,

    /// Walk directories: all files in them and below.
    ///
    /// In each directory, files come first, then directories, in the order of their names. These are left out and
    /// counted: files that have the suffix of a compressed file (with -d and -t: that lack one), files that hybz writes
    /// for itself (.NAME.hybz-tmp, the report), symbolic links, FIFOs, sockets and devices, and
    /// directories on other file systems. What cannot be read is reported, and the walk goes on. At the end one line
    /// has the number of files; -q hides it.
    #[arg(short, long)]
    pub recursive: bool,

    /// With -r, also walk other file systems than that of the directory.
    #[arg(long)]
    pub cross_file_systems: bool,

    /// Also take the names in FILE (-: standard input), one a line.
    ///
    /// They come after those on the command line, and are read as they are needed. Empty lines are ignored. As with -r,
    /// files that have or lack a suffix, and those that hybz writes for itself, are left out and counted.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, allow_hyphen_values = true)]
    pub filelist: Option<OsString>,

    /// With --filelist, a zero byte ends each name, as find -print0 writes them.
    #[arg(long)]
    pub null: bool,

    /// With -r or --filelist, leave out what GLOB matches (can be given several times).
    ///
    /// GLOB is compared with each name, and with its path below the walked directory. *, ? and [...] do not
    /// match /, and ** matches whole directories. A directory that is matched is not walked.
    #[arg(long, value_name = "GLOB", action = ArgAction::Append, value_parser = pattern)]
    pub exclude: Vec<Pattern>,

    /// Write results below DIR, and keep the input files unless --rm.
    ///
    /// The result of a/b is DIR/a/b.bz2, and that of /a/b too. Directories that are missing are made, with owner and
    /// mode of those of the input files. Names with .. are refused, and no link in DIR is followed.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub output_dir: Option<OsString>,

    /// Leave out files whose results exist and are right.
    ///
    /// An interrupted call can thus be repeated. An existing result is decompressed and compared with the input file.
    /// If both agree, the input file is left out, or removed as after compressing it. A result that is not right is an
    /// error, or replaced with -f. With --verify=file, results are read from the disk.
    #[arg(long)]
    pub resume: bool,

    /// Go on with the next file after an error (the default).
    #[arg(long, overrides_with = "fail_fast")]
    pub keep_going: bool,

    /// Begin no further file after an error.
    #[arg(long, overrides_with = "keep_going")]
    pub fail_fast: bool,
    /// Decode what was coded, and compare it, before it is written: blocks, file or none (default: blocks).
    ///
    /// Each block is decoded by another core than the one that coded it; a GPU proves its blocks itself, and a core
    /// compares what it has proven with text and result. A wrong block is coded again, and a message names the core or
    /// GPU that coded it, which gets no more work. If the block is wrong again, there is no result, the input file
    /// stays, and the exit code is 3. This takes a quarter more time. With file, input file and result are also read
    /// again from the disk and compared, before the result gets its name. Without this flag, only blocks that a GPU
    /// made are verified, if the input file is to be removed; with none, not even those.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "blocks")]
    pub verify: Option<Verified>,

    /// Print a plan: shards of FILE, of SIZE or more, that machines can compress, each by itself.
    ///
    /// A shard ends where a block ends, so that the parts can be joined to what bzip2 would have written. The plan has
    /// a line for each: its number (from 0), where it begins, its length, how many blocks it has, their CRC, and a
    /// check of all lines so far. Lines appear while the file is read; the last one, #end, says that all are there.
    #[arg(long, value_name = "SIZE", value_parser = shard_size)]
    pub plan: Option<u64>,

    /// With --plan-file, compress shard N of FILE, into -o PART, or with -c to standard output.
    ///
    /// PART is an ordinary .bz2 file, of the plan's level. It gets its name only if its blocks are those of the plan,
    /// so a shard can be compressed twice, and again after a failure.
    #[arg(long, value_name = "N")]
    pub shard: Option<u64>,

    /// The plan that --shard looks in.
    #[arg(long, value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub plan_file: Option<OsString>,

    /// Join parts, in any order, to the .bz2 file of PLAN: bzip2's bytes, into -o FILE, or with -c to standard
    /// output.
    ///
    /// A part that is missing, doubled, cut or not of the plan is named, and nothing is written. Parts are known by
    /// their level and the CRC at their end: what lies before it is checked only with --verify, which decodes every
    /// part first. (The parts one after the other, as cat writes them, are a .bz2 of the same text, too.)
    #[arg(long, value_name = "PLAN", value_hint = ValueHint::FilePath)]
    pub join: Option<OsString>,

    /// Compress into many streams, each of SIZE of text, for programs that read them in parallel or alone.
    ///
    /// Each stream is what bzip2 makes of its text, and the file is a .bz2 like any other. It is a little longer,
    /// because blocks begin where streams begin. SIZE is a number of bytes, or of the unit that follows it: k (1000),
    /// M, G, T, Ki (1024), Mi, Gi or Ti.
    #[arg(long, value_name = "SIZE", value_parser = shard_size)]
    pub stream_size: Option<u64>,

    /// Use .SUF instead of .bz2 in the names of compressed files.
    ///
    /// With -d, .SUF is a suffix to remove in addition to the usual ones.
    #[arg(short = 'S', long, value_name = ".SUF", allow_hyphen_values = true)]
    pub suffix: Option<OsString>,

    /// Keep the input files.
    #[arg(short, long, overrides_with = "rm")]
    pub keep: bool,

    /// Remove input files once their results are safe (default without -c and -o).
    ///
    /// A result is safe when it is complete, on the disk and has its name. An input file that has changed in the
    /// meantime is kept.
    #[arg(long, overrides_with = "keep")]
    pub rm: bool,

    /// Overwrite files, follow links, read devices; with -dc, copy what is not bzip2.
    ///
    /// Without it, hybz refuses to overwrite a file and to remove a file that has other hard links. It also refuses
    /// symbolic links and what is not a regular file, unless it writes to standard output or only tests. An output file
    /// is replaced only when the new one is complete.
    #[arg(short, long)]
    pub force: bool,

    #[command(flatten)]
    pub level: LevelFlags,

    /// Use one thread and blocks of at most 200 kB.
    ///
    /// Compressing takes about 8 MB of memory, decompressing 14 MB. No GPU is used either. -p can ask for more threads.
    #[arg(short, long)]
    pub small: bool,

    /// Write FILE.hbz with blocks of 1M to 1G: smaller, but only hybz reads it.
    ///
    /// SIZE is a number of bytes, or of the unit that follows it: k (1000), M, G, Ki (1024), Mi or Gi. Compressing
    /// takes 17 MB of memory for each thread at 1M, 91 MB at 9M and 0.7 GB at 100M, and up to twice as much for data
    /// that cannot be compressed. Blocks are refused if they could need more memory than is allowed.
    #[arg(long, value_name = "SIZE", value_parser = text_length)]
    pub block_size: Option<u64>,

    /// Write this format: bz2, hbz or lz4 (default: bz2, or hbz with --block-size).
    ///
    /// hbz has blocks of 9M unless --block-size gives their size. lz4 writes FILE.lz4, which lz4 and others read: many
    /// times faster than .bz2 in both directions, but larger. Each of its blocks of 64 KiB can be read alone, and their
    /// index follows them, which lz4 skips. -1 (the default) and -2 are fast, -3 to -9 make smaller files.
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<OutputFormat>,

    /// Insert a byte after every K bytes of the text, or P per cent (for experiments).
    ///
    /// hybz takes these bytes out again. They help sorters whose time grows with the longest repeat, and they make the
    /// file larger. The result is a .hbz, with blocks of 900 kB without --block-size; or with --format=bz2 a .bz2, in
    /// which other programs see the inserted bytes. 0 and 0% mean that none are inserted.
    #[arg(long, value_name = "K|P%", value_parser = interval)]
    pub perturb: Option<u32>,

    /// The start of the generator of the bytes that --perturb inserts.
    #[arg(long, value_name = "N")]
    pub perturb_seed: Option<u64>,

    /// Use N threads (0, the default: one for each core).
    ///
    /// By default hybz uses as many threads as CPU affinity and the container's CPU quota allow, and fewer where a
    /// quarter of the memory has no room for that many. -j, -n and -T mean the same. The output does not depend on N.
    /// More than four threads for each core (or 16, if that is more) do not help, and are not started. Without this
    /// flag, the variable HYBZ_THREADS may give N.
    #[arg(short = 'p', visible_short_aliases = ['j', 'n', 'T'], long, value_name = "N",
        value_parser = value_parser!(u64).range(0..=MAX_THREADS))]
    pub threads: Option<u64>,

    /// Let the blocks in flight take SIZE MiB (or 300k, 1G, ...).
    ///
    /// SIZE is a number of MiB, or of the unit that follows it: B, k (1024), M, G or T. Ki, Mi, Gi and Ti mean the
    /// same, and SIZE may be a decimal fraction such as 1.5G, here and for every other flag.
    #[arg(short, long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<u64>,

    /// Also work on these GPUs: numbers, UUIDs, PCI ids, none (default: as many as help).
    ///
    /// LIST is separated by commas, for example 0,GPU-4f0b,1b:00.0. The beginning of a UUID is enough if only one GPU
    /// has it. The output does not depend on what GPUs do.
    ///
    /// A GPU takes longer to start than small inputs take, so small inputs never use one. By default, only the first
    /// GPU helps with a pipe or less than 3.5 GB of input, as it is read; two with more, or with directories and lists;
    /// from 96 GB, one for each 32 GB. If another program fills the first one, name another, such as --gpu 1. With
    /// --gpu-required, and for --bench, all help.
    #[arg(long, value_name = "LIST", overrides_with = "no_gpu")]
    pub gpu: Option<String>,

    // The same as --gpu none.
    #[arg(long, hide = true, overrides_with = "gpu")]
    pub no_gpu: bool,

    /// What GPUs do when compressing (default: resident).
    ///
    /// GPUs sort and code the blocks of .hbz files. With bwt, and blocks of more than 64 MiB, they only sort them;
    /// with hybrid two thirds of them, and cores merge.
    #[arg(long, value_name = "SHAPE")]
    pub gpu_pipeline: Option<GpuPipeline>,

    /// Fail if a GPU is missing or fails.
    ///
    /// Without it, CPU cores do what a GPU cannot do, and a message says so.
    #[arg(long)]
    pub gpu_required: bool,

    /// With 0, bytes after the last stream are an error (default: 1).
    #[arg(long, value_name = "0|1", value_parser = value_parser!(u8).range(0..=1), num_args = 0..=1,
        require_equals = true, default_missing_value = "1")]
    pub ignore_trailing_garbage: Option<u8>,

    /// Do not wait for the disk before removing input files.
    ///
    /// A power cut may then lose both the input file and the result.
    #[arg(long)]
    pub no_sync: bool,

    /// When decompressing, write all zeros: leave no holes in files.
    ///
    /// Without it, runs of 4 KiB of zeros and more become holes, which take no space on the disk. This is done in
    /// regular files that hybz makes, not in standard output. Reading the file gives the same bytes.
    #[arg(long)]
    pub no_sparse: bool,

    /// Print no remarks (-qq: no error messages either, not even about flags).
    #[arg(short, long, action = ArgAction::Count)]
    pub quiet: u8,

    /// Print a line for each file (-vv: also for each block, and a table of stations).
    ///
    /// A station is a CPU thread or a lane of a GPU. The table shows how much each of them did, and how fast.
    #[arg(short, long, action = ArgAction::Count)]
    pub verbose: u8,

    /// Show progress even if standard error is not a terminal, or never show it (default: text).
    ///
    /// On a terminal, progress appears after one second, unless -q or never is given. In any case, the signal USR1
    /// makes hybz write one line of progress to standard error immediately.
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    pub progress: Option<ProgressFormat>,

    /// Print a JSON object for each file, and a summary.
    ///
    /// Each object is a line, written when its file is done. -l, --recover and --measure print it to standard output
    /// in place of their tables; other calls, whose data may go there, to standard error. With FILE it is appended to
    /// that file; - is standard output. The last line is a summary, even if a signal ends hybz (not of -l, --recover
    /// and --measure). docs/JSON.md in the sources describes the objects.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, num_args = 0..=1, require_equals = true,
        default_missing_value = "")]
    pub json: Option<OsString>,

    /// Measure how fast FILEs are compressed and decompressed, for SECONDS each way (default: 5).
    ///
    /// All FILEs together are one input, which may take an eighth of the memory. It is compressed and decompressed with
    /// 1, 2, 4 and more threads, up to all or to the number that -p gives, with and without GPUs if there are any, in
    /// rounds in which all take turns. Every output is verified. The table has the medians. With -d, compressed FILEs
    /// are decompressed only, and with -z others are compressed only. No file is changed.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, num_args = 0..=1, require_equals = true,
        default_missing_value = "5")]
    pub bench: Option<f64>,

    /// With --bench, measure these programs too, such as lbzip2,pbzip2.
    ///
    /// They are run with their standard input and output in memory. A program that is not installed is left out, with a
    /// remark.
    #[arg(long, value_name = "PROGRAMS")]
    pub against: Option<String>,

    /// Measure how repetitive FILEs are: entropy, runs of the BWT, exact LZ77 factors.
    ///
    /// There is a line for each file, or with -d for the text of each compressed file: its length n, the number of
    /// different bytes in it, the order-0 entropy in bits for each byte, the runs r of equal letters in its
    /// Burrows-Wheeler transform with an end mark, n/r, the factors z of its exact LZ77 parse (the longest earlier
    /// occurrence, which may overlap, or a byte that is new), n/z, and the length of the longest factor. With several
    /// files a last line has their sums. -v adds the time of each step. A file takes 13 times its length of memory, at
    /// most what -m gives, or half of the memory, and may have 2147483647 bytes. -p is the number of files measured at
    /// the same time. A GPU measures files of 32 MiB to 1 GiB, if there is one. No file is changed.
    #[arg(long)]
    pub measure: bool,

    // bzip2 accepts these three names, and they do nothing there either.
    #[arg(long = "exponential", aliases = ["repetitive-fast", "repetitive-best"], hide = true)]
    obsolete: bool,

    // lbzip2 has a flag for how it cuts the input, pbzip2 one for the number of blocks in a piece of it, and one for
    // using fewer processors of a busy machine: hybz always writes what bzip2 writes.
    #[arg(short = 'u', long, hide = true)]
    sequential: bool,
    #[arg(short = 'b', hide = true, value_name = "N")]
    piece: Option<u64>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "")]
    loadavg: Option<OsString>,

    /// Print the flags of daily use (--help: all flags; --man: all about them).
    #[arg(short, long, action = ArgAction::HelpShort)]
    help: (),

    /// Print version and licence.
    ///
    /// -L and --license mean the same.
    #[arg(short = 'V', visible_short_alias = 'L', long, visible_alias = "license", action = ArgAction::Version)]
    version: (),

    /// Print the manual page hybz(1), as roff.
    #[arg(long)]
    pub man: bool,

    /// Print the completions for SHELL.
    ///
    /// They complete the flags of hybz, hybunz and hybcat.
    #[arg(long, value_name = "SHELL")]
    pub completions: Option<Shell>,
}

impl Flags {
    pub fn read(
        command: &mut Command,
        words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<Flags, clap::Error> {
        Flags::from_arg_matches_mut(&mut command.try_get_matches_from_mut(words)?)
    }

    /// Whether `--verify` asks for more than nothing.
    pub fn verifies(&self) -> bool {
        self.verify.is_some_and(|verified| verified != Verified::None)
    }
}
