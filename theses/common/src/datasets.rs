//! The data sets of `datasets.toml`: finds and fetches them.

use crate::{fail, made};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The length of the generated texts, which is the length of his 10Midentical.
const GENERATED: usize = 10_000_000;

/// One set.
struct Set {
    name: String,
    address: Option<String>,
    unpack: Option<String>,
    bytes: Option<u64>,
    sha256: Option<String>,
    packed_sha256: Option<String>,
    bzip2: Option<u64>,
    /// Whether it is a set of strings, a line each, and not a text to compress.
    strings: bool,
    why: String,
}

fn all() -> Vec<Set> {
    let own =
        env::var_os("HYBZ_DATASETS").map(|path| std::fs::read_to_string(path).unwrap_or_else(|e| fail(&e.to_string())));
    let list = own.as_deref().unwrap_or(include_str!("../../../datasets.toml"));
    let table: toml::Table = list.parse().unwrap_or_else(|e| fail(&format!("datasets.toml: {e}")));
    let sets = table.into_iter().map(|(name, set)| {
        let text = |key: &str| set.get(key).and_then(|value| value.as_str()).map(str::to_owned);
        let number = |key: &str| set.get(key).and_then(|value| value.as_integer()).map(|n| n as u64);
        Set {
            address: text("address"),
            unpack: text("unpack"),
            bytes: number("bytes"),
            sha256: text("sha256"),
            packed_sha256: text("packed_sha256"),
            bzip2: number("bzip2"),
            strings: set.get("strings").and_then(toml::Value::as_bool).unwrap_or_default(),
            why: text("why").unwrap_or_else(|| fail(&format!("datasets.toml: {name} has no `why'"))),
            name,
        }
    });
    sets.collect()
}

fn cache() -> PathBuf {
    let home = || PathBuf::from(env::var_os("HOME").unwrap_or_default()).join(".cache/hybz");
    env::var_os("HYBZ_CACHE").map_or_else(home, PathBuf::from)
}

/// The path of a set's plain file, if it is on this machine.
pub fn place(name: &str) -> Option<PathBuf> {
    let local = env::var_os("HYBZ_DATA").map(PathBuf::from);
    local.into_iter().chain([cache()]).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Prints all sets.
pub fn show() {
    println!("# set  bytes  bytes under bzip2 -9  path");
    for set in all() {
        let number = |n: Option<u64>| n.map_or("?".to_owned(), |n| n.to_string());
        let at = place(&set.name).map_or("not on this machine".to_owned(), |path| path.display().to_string());
        println!("{}  {}  {}  {at}\n#   {}", set.name, number(set.bytes), number(set.bzip2), set.why);
    }
}

/// Calls `f(name, text)` for each of the named sets (all, if none is named) that is on this machine, and prints its
/// name.
pub fn each(names: &[&str], f: impl Fn(&str, &[u8])) {
    let max = max_bytes();
    heading();
    let wanted = |set: &&Set| if names.is_empty() { !set.strings } else { names.contains(&&*set.name) };
    for set in all().iter().filter(wanted) {
        let Some(path) = place(&set.name) else {
            println!("# set {}: not on this machine", set.name);
            continue;
        };
        let mut text = std::fs::read(&path).unwrap_or_else(|e| fail(&format!("{}: {e}", path.display())));
        if set.bytes.is_some_and(|bytes| bytes != text.len() as u64) {
            fail(&format!("{} has {} bytes: not the file of datasets.toml", path.display(), text.len()));
        }
        text.truncate(max);
        println!("# set {}: {} bytes", set.name, text.len());
        f(&set.name, &text);
    }
}

/// The strings of a set, a line each: from this machine, or made here. At most [`max_bytes`] of whole lines.
pub fn strings(name: &str) -> Option<Vec<u8>> {
    let max = max_bytes();
    let mut text = match place(name) {
        Some(path) => std::fs::read(&path).unwrap_or_else(|e| fail(&format!("{}: {e}", path.display()))),
        None => made::text(name, max)?,
    };
    if text.len() > max {
        text.truncate(text[..max].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1));
    }
    Some(text)
}

/// Calls `f` for the sets, and, if none or these are named, for the texts generated here: `identical`, `random` and
/// `dna`.
pub fn each_or_made(names: &[&str], f: impl Fn(&str, &[u8])) {
    let generated: [(&str, usize); 3] = [("identical", 1), ("random", 256), ("dna", 4)];
    let is_generated = |name: &&str| generated.iter().any(|(known, _)| known == name);
    let sets: Vec<&str> = names.iter().copied().filter(|name| !is_generated(name)).collect();
    if names.is_empty() || !sets.is_empty() {
        each(&sets, &f);
    }
    for (name, letters) in generated.iter().filter(|(name, _)| names.is_empty() || names.contains(name)) {
        let mut state = 1u64;
        let letter = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = (state >> 33) as usize % letters;
            if *letters == 4 { b"ACGT"[number] } else { number as u8 }
        };
        let text: Vec<u8> = (0..GENERATED).map(letter).collect();
        println!("# set {name}: {GENERATED} bytes, made here");
        f(name, &text);
    }
}

/// The number of bytes used of each set: `HYBZ_MAX`.
pub fn max_bytes() -> usize {
    env::var("HYBZ_MAX").ok().and_then(|n| n.parse().ok()).unwrap_or(usize::MAX)
}

/// Prints the arguments and the machine.
pub fn heading() {
    println!("# {}", env::args().skip(1).filter(|arg| arg != "--bench").collect::<Vec<_>>().join(" "));
    println!("# hybz {}, {}", env!("CARGO_PKG_VERSION"), machine());
}

fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map_or("?", |m| m.1);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{cores} cores of {model}")
}

/// Fetches or makes a set (`all`: every one) in the cache and verifies it. A file that does not match is not kept.
pub fn fetch(name: &str) {
    if name == "all" {
        let failed: Vec<String> = all().into_iter().map(|set| set.name).filter(|name| !fetched(name)).collect();
        if !failed.is_empty() {
            fail(&format!("not fetched: {}", failed.join(" ")));
        }
    } else if !fetched(name) {
        fail(&format!("{name} is not fetched"));
    }
}

/// Fetches a set. Otherwise it says why not, and returns false.
fn fetched(name: &str) -> bool {
    let set = all().into_iter().find(|set| set.name == name).unwrap_or_else(|| fail("no such set"));
    if let Some(path) = place(name) {
        println!("{name}: already fetched, {}", path.display());
        return true;
    }
    let folder = cache();
    std::fs::create_dir_all(&folder).unwrap_or_else(|e| fail(&e.to_string()));
    let (packed, plain) = (folder.join(format!("{name}.packed")), folder.join(format!("{name}.part")));
    let fetched = fetch_as(&set, &packed, &plain);
    let _ = std::fs::remove_file(&packed);
    let kept = fetched.and_then(|()| std::fs::rename(&plain, folder.join(name)).map_err(|e| e.to_string()));
    if let Err(why) = &kept {
        let _ = std::fs::remove_file(&plain);
        eprintln!("{name}: {why}: not kept");
    }
    kept.is_ok()
}

fn fetch_as(set: &Set, packed: &Path, plain: &Path) -> Result<(), String> {
    let mismatch = Err("does not match datasets.toml".to_owned());
    if let Some(address) = &set.address {
        run(Command::new("curl").args(["--fail", "--location", "--output"]).arg(packed).arg(address))?;
        let sum = sha256(packed);
        println!("{address}: sha256 {sum}");
        if set.packed_sha256.as_ref().is_some_and(|expected| *expected != sum) {
            return mismatch;
        }
    }
    if let Some(text) = made::text(&set.name, usize::MAX) {
        std::fs::write(plain, text).map_err(|e| e.to_string())?;
    } else {
        let unpack = set.unpack.as_deref().unwrap_or("cat %s").replace("%s", "\"$PACKED\"");
        let mut shell = Command::new("sh");
        run(shell.arg("-c").arg(format!("( {unpack}\n) > \"$PLAIN\"")).env("PACKED", packed).env("PLAIN", plain))?;
    }
    let bytes = std::fs::metadata(plain).map_or(0, |m| m.len());
    let sum = sha256(plain);
    println!("{}: {bytes} bytes, sha256 {sum}", set.name);
    let fits = set.bytes.is_none_or(|n| n == bytes) && set.sha256.as_ref().is_none_or(|s| *s == sum);
    if fits { Ok(()) } else { mismatch }
}

fn run(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{}: {status}", command.get_program().display())),
        Err(e) => Err(format!("{}: {e}", command.get_program().display())),
    }
}

fn sha256(path: &Path) -> String {
    let output = Command::new("sha256sum").arg(path).output().unwrap_or_else(|e| fail(&format!("sha256sum: {e}")));
    String::from_utf8_lossy(&output.stdout).split_whitespace().next().unwrap_or_default().to_owned()
}
