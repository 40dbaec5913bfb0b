//! The peak memory of the command, with a reader that does not read, on files that are crafted to take much memory.
//!
//! `cargo test --release --test library peaks -- --nocapture` prints the table. The limit of a control group is only
//! simulated: a file replaces it in a mount namespace of the command's own. The test checks that the command stays
//! within the limit. (tests/matrix/limits.sh has other files.)

use crate::crafted_hbz::{self, Block, Payload, file};
use crate::ours::compress;
use crate::skip::{Need, skip, skip_part};
use hybz::Settings;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The allowance in addition to the limit: the process itself, tables, threads.
const MORE: u64 = 32;
/// The allowance without a limit, in MB: the default for two threads is less.
const UNLIMITED: u64 = 256;

/// The limit under which the command runs.
#[derive(Clone, Copy)]
enum Limit {
    Nothing,
    /// `-m`, in MiB.
    Memory(u64),
    /// A control group of this many MiB.
    Group(u64),
}

const LIMITS: [Limit; 4] = [Limit::Nothing, Limit::Memory(50), Limit::Group(256), Limit::Group(1024)];

/// How a run ended.
struct Outcome {
    /// In MB.
    peak: u64,
    /// `None`: it still waited for its reader.
    code: Option<i32>,
    stderr: String,
}

/// 1 GiB of equal bytes in a block that no phrase shortens: 2^30 rows, in some 100 kB.
fn a_gibibyte_of_rows() -> Vec<u8> {
    let stream = crafted_hbz::stream(1 << 30);
    let mut block = Block::of(&[2; 1 << 16], &stream);
    let mut payload = Payload::parse(&block.payload, &block.header, &stream);
    // All segments are one run. The suffix at position i is the row 2^30 - 1 - i: the shorter one is smaller.
    payload.directory = payload.directory.repeat(1 << 14);
    payload.segments = payload.segments.repeat(1 << 14);
    payload.entries = (0..1 << 15).map(|entry| (1 << 30) - 1 - (entry << 15)).collect();
    (block.header.rows, block.header.text_len) = (1 << 30, 1 << 30);
    let mut crc = hybz::internals::crc::Crc::new();
    (0..1 << 14).for_each(|_| crc.update(&[2; 1 << 16]));
    block.header.crc = crc.finish();
    block.payload = payload.write(1 << 30);
    file(&stream, [&block])
}

/// Blocks of 64 MiB of text, each of 263,172 rows.
fn bombs(blocks: usize) -> Vec<u8> {
    let stream = crafted_hbz::stream(64 << 20);
    let block = Block::bomb((64 << 20) / 255, &[7; 255], &stream);
    file(&stream, std::iter::repeat_n(&block, blocks))
}

/// A block that claims 3 GiB of payload and 2^30 rows. The file is longer, but most of it is a hole.
fn claims() -> Vec<u8> {
    let stream = crafted_hbz::stream(1 << 30);
    let mut block = Block::of(b"abc", &stream);
    (block.header.rows, block.header.text_len, block.header.coded_len) = (1 << 30, 1 << 30, 3 << 30);
    [stream.write(), block.header.write()].concat()
}

/// A file that is crafted to take much memory: its name, what makes it, its length with a hole at the end, and the
/// allowance without a limit, in MB. (None: it needs gigabytes.)
type Made = (&'static str, fn() -> Vec<u8>, Option<u64>, Option<u64>);

const MADE: [Made; 5] = [
    ("100 blocks of 64 MiB", || bombs(100), None, Some(UNLIMITED)),
    ("1 GiB of rows", a_gibibyte_of_rows, None, None),
    ("claims of 3 GiB", claims, Some(600_000_000), None),
    ("500,000 empty .hbz", || file(&crafted_hbz::stream(1 << 20), []).repeat(500_000), None, Some(UNLIMITED)),
    ("500,000 empty .bz2", || compress(b"", &Settings::new()).repeat(500_000), None, Some(UNLIMITED)),
];

/// The file from which the command reads the limit of its control group.
fn limit_file() -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let paths = groups.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let path = path.trim_start_matches('/');
        match controllers {
            "" => Some(Path::new("/sys/fs/cgroup").join(path).join("memory.max")),
            "memory" => Some(Path::new("/sys/fs/cgroup/memory").join(path).join("memory.limit_in_bytes")),
            _ => None,
        }
    });
    paths.into_iter().find(|path| path.exists())
}

/// The command with the file as its input, or `None` if the limit cannot be shown to it.
fn command(file: &Path, limit: Limit, place: &Path) -> Option<Command> {
    let hybz = env!("CARGO_BIN_EXE_hybz");
    let mut command = match limit {
        Limit::Nothing | Limit::Memory(_) => Command::new(hybz),
        Limit::Group(mib) => {
            let shown = place.join(format!("limit{mib}"));
            fs::write(&shown, (mib << 20).to_string()).expect("room for a number");
            let mut command = Command::new("unshare");
            command.args(["-m", "sh", "-c", "mount --bind \"$0\" \"$1\" && shift && exec \"$@\""]);
            command.arg(shown).arg(limit_file()?).arg(hybz);
            command
        }
    };
    command.args(["-dc", "-p2", "--no-gpu"]).arg(file);
    if let Limit::Memory(mib) = limit {
        command.arg("-m").arg(mib.to_string());
    }
    Some(command)
}

/// The peak memory of a process in MB, and its processor time in some unit.
fn state(child: &Child) -> Option<(u64, u64)> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let peak: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    let worked = stat.rsplit_once(')')?.1.split(' ').skip(12).take(2).filter_map(|ticks| ticks.parse::<u64>().ok());
    Some((peak / 1000, worked.sum()))
}

/// Runs the command until it ends, or stops working.
fn run(mut command: Command) -> Outcome {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a command");
    let (mut peak, mut last, mut still) = (0, 0, 0);
    let code = loop {
        std::thread::sleep(Duration::from_millis(50));
        if let Some((now, worked)) = state(&child) {
            peak = peak.max(now);
            still = if worked == last { still + 1 } else { 0 };
            last = worked;
        }
        if let Some(status) = child.try_wait().expect("a child") {
            break Some(status.code().unwrap_or(-1));
        }
        if still == 20 {
            break None;
        }
    };
    let _ = child.kill();
    let _ = child.wait();
    // A process that waits for a reader has written something.
    let first = child.stdout.take().expect("piped").read(&mut [0]).expect("a pipe");
    assert!(code.is_some() || first == 1, "it hangs");
    let mut stderr = String::new();
    let _ = child.stderr.take().expect("piped").read_to_string(&mut stderr);
    Outcome { peak, code, stderr }
}

#[test]
fn peaks() {
    if !Path::new("/proc/self/status").exists() {
        return skip(Need::System, "no /proc states the peak memory");
    }
    let place = tempfile::tempdir().expect("a temporary directory");
    let groups = limit_file().is_some()
        && command(Path::new("/dev/null"), Limit::Group(256), place.path())
            .is_some_and(|mut command| command.output().is_ok_and(|output| output.status.code() != Some(32)));
    if !groups {
        skip_part(Need::System, "no control group's limit can be shown to a command: no root, or no unshare");
    }
    for (name, make, len, unlimited) in MADE {
        let path = place.path().join(name.replace(' ', "-"));
        fs::write(&path, make()).expect("room for the files");
        if let Some(len) = len {
            fs::File::options().write(true).open(&path).and_then(|file| file.set_len(len)).expect("a hole");
        }
        for limit in LIMITS {
            let (what, most) = match limit {
                Limit::Nothing => match unlimited {
                    Some(most) => ("".to_owned(), most),
                    None => continue,
                },
                Limit::Memory(mib) => (format!("-m {mib}"), mib + MORE),
                Limit::Group(mib) if groups => (format!("group of {mib} MiB"), mib),
                Limit::Group(_) => continue,
            };
            let Outcome { peak, code, stderr } = run(command(&path, limit, place.path()).expect("seen before"));
            let code = code.map_or("waits".to_owned(), |code| format!("exit {code}"));
            eprintln!("{name:24} {what:18} {peak:5} MB  {code:6}  {}", stderr.lines().next().unwrap_or_default());
            assert!(peak <= most, "{name}, {what}: {peak} MB");
            let refused = stderr.contains(" needs ") && code == "exit 1";
            assert!(refused || code == "waits" || code == "exit 0", "{name}, {what}: {code}, {stderr}");
        }
        fs::remove_file(&path).expect("it is there");
    }
}
