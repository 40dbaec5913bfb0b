//! A place to run commands in.

use crate::skip::{Need, skip, skip_part};
pub use hybz_testkit::run::Run;
pub use hybz_testkit::shapes::{random as noise, words as text};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// A directory for one test, and a directory of names under which it calls hybz.
pub struct Place {
    dir: TempDir,
    bin: TempDir,
}

impl Place {
    pub fn new() -> Place {
        let temporary = || tempfile::Builder::new().prefix("hybz-test-").tempdir().expect("a temporary directory");
        Place { dir: temporary(), bin: temporary() }
    }

    /// A place with these files.
    pub fn with(files: &[(&str, &[u8])]) -> Place {
        let place = Place::new();
        for (name, bytes) in files {
            place.put(name, bytes);
        }
        place
    }

    pub fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.dir.path().join(name.as_ref())
    }

    pub fn put(&self, name: impl AsRef<OsStr>, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect("a file in the place");
    }

    pub fn get(&self, name: impl AsRef<OsStr>) -> Vec<u8> {
        let path = self.path(name);
        fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    pub fn has(&self, name: impl AsRef<OsStr>) -> bool {
        fs::symlink_metadata(self.path(name)).is_ok()
    }

    pub fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.path(name)).expect("metadata").mode() & 0o7777
    }

    pub fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).expect("chmod");
    }

    /// The names in the directory, hidden ones too.
    pub fn names(&self) -> Vec<String> {
        self.files().into_keys().collect()
    }

    /// Everything in the directory: name, kind, mode and bytes.
    pub fn files(&self) -> BTreeMap<String, (String, u32, Vec<u8>)> {
        let entry = |entry: fs::DirEntry| {
            let found = entry.metadata().expect("metadata");
            let bytes = if found.is_file() { fs::read(entry.path()).unwrap_or_default() } else { Vec::new() };
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, (format!("{:?}", found.file_type()), found.mode() & 0o7777, bytes))
        };
        fs::read_dir(self.dir.path()).expect("the place").map(|e| entry(e.expect("an entry"))).collect()
    }

    /// Everything below `top`: its metadata, and the bytes of files.
    pub fn tree(&self, top: &str) -> BTreeMap<PathBuf, (fs::Metadata, Vec<u8>)> {
        let (mut found, mut left) = (BTreeMap::new(), vec![self.path(top)]);
        while let Some(directory) = left.pop() {
            for entry in fs::read_dir(directory).expect("a directory") {
                let path = entry.expect("an entry").path();
                let is = fs::symlink_metadata(&path).expect("metadata");
                left.extend(is.is_dir().then(|| path.clone()));
                let bytes = if is.is_file() { fs::read(&path).expect("its bytes") } else { Vec::new() };
                found.insert(path.strip_prefix(self.path(top)).expect("below").to_owned(), (is, bytes));
            }
        }
        found
    }

    /// Inode and time of each result below `top`; they change when a result is made again.
    pub fn marks(&self, top: &str) -> BTreeMap<PathBuf, (u64, i64, i64)> {
        let found = if self.has(top) { self.tree(top) } else { BTreeMap::new() };
        let results = found.into_iter().filter(|(name, _)| name.extension().is_some_and(|end| end == "bz2"));
        results.map(|(name, (is, _))| (name, (is.ino(), is.ctime(), is.ctime_nsec()))).collect()
    }

    /// A command that runs hybz by this name in the directory.
    pub fn called(&self, name: &str) -> Command {
        let path = self.bin.path().join(name);
        if !path.exists() {
            symlink(env!("CARGO_BIN_EXE_hybz"), &path).expect("a link to hybz");
        }
        self.command(&path)
    }

    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.dir.path()).env("LC_ALL", "C").stdin(Stdio::null());
        for variable in ["BZIP2", "BZIP", "HYBZ"] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs hybz.
    pub fn hybz(&self, args: &[&str]) -> Run {
        run(self.called("hybz").args(args))
    }

    /// The offsets of the blocks of a `.bz2`, as lines of BITS,BYTES.
    pub fn offsets(&self, file: &str) -> String {
        let (index, mut lines) = (hybz::index::Index::build(&self.get(file)[..], &Default::default()), Vec::new());
        index.expect("an index").write_offsets(&mut lines).expect("memory");
        String::from_utf8(lines).expect("digits")
    }

    /// Runs hybz with these bytes on a pipe to its stdin.
    pub fn hybz_with_input(&self, args: &[&str], input: &[u8]) -> Run {
        run_with_input(self.called("hybz").args(args), input)
    }

    /// Each of these calls is refused: one line with this text, exit code 1, and nothing is done.
    #[track_caller]
    pub fn refuses<L: AsRef<str>, S: AsRef<str>>(&self, calls: &[(L, S)]) {
        let before = self.files();
        for (line, says) in calls {
            let line = line.as_ref();
            let run = self.hybz(&line.split(' ').collect::<Vec<_>>());
            assert!(run.stdout.is_empty() && run.stderr.lines().count() == 1, "{line}: {run:?}");
            run.says(1, says.as_ref());
            assert!(self.files() == before, "{line}");
        }
    }

    /// Checks that the call `line` is refused with each of these flags in place of `{}`. The message is `named`, with
    /// the flag's name in place of `{}`, and "cannot be used together". (For the flags that a whole mode refuses, see
    /// `flags_and_modes` in `src/cli/args/rules.rs`.)
    #[track_caller]
    pub fn refuses_each(&self, line: &str, named: &str, flags: &[&str]) {
        let says = |flag: &str| named.replace("{}", flag.split(' ').next().unwrap_or_default());
        let call = |flag: &&str| (line.replace("{}", flag), says(flag) + " cannot be used together.\n");
        self.refuses(&flags.iter().map(call).collect::<Vec<_>>());
    }

    /// Runs a line of shell. hybz is in the PATH, as `hybz` and by all names for which [`Self::called`] was called.
    pub fn shell(&self, line: &str) -> Run {
        self.shell_by(&[], line)
    }

    /// Runs a line of shell with the signals of a terminal's shell: the process that runs the tests may ignore some, as
    /// under `nohup` or `&`.
    pub fn terminal_shell(&self, line: &str) -> Run {
        self.shell_by(&["env", "--default-signal=INT,QUIT,HUP,TERM"], line)
    }

    fn shell_by(&self, before: &[&str], line: &str) -> Run {
        self.called("hybz");
        let path = format!("{}:{}", self.bin.path().display(), std::env::var("PATH").unwrap_or_default());
        // The shell gets its own process group, so that `kill 0` in the line does not reach the tests.
        let words = [before, &["bash", "-c", line]].concat();
        run(self.command(words[0]).args(&words[1..]).env("PATH", path).process_group(0))
    }
}

pub fn run(command: &mut Command) -> Run {
    command.output().unwrap_or_else(|e| panic!("{command:?}: {e}")).into()
}

pub fn run_with_input(command: &mut Command, input: &[u8]) -> Run {
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().expect("a process");
    let mut stdin = child.stdin.take().expect("its stdin");
    let output = std::thread::scope(|scope| {
        // Errors do not matter: a process that ends early does not read all input.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().expect("its output")
    });
    output.into()
}

/// Checks that `program` is in the PATH; if not, returns the missing need, which `testkit::skip` counts.
fn found(program: &str) -> Result<(), (Need, String)> {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    let peer = ["bzip2", "bzgrep", "bzdiff", "lbzip2", "pbzip2", "bzip2recover", "7z"].contains(&program);
    let need = if peer { Need::Peers } else { Need::System };
    if found.is_ok_and(|output| output.status.success()) { Ok(()) } else { Err((need, format!("no {program}"))) }
}

/// Whether `program` is installed. If not, the calling test counts as skipped, and should return.
pub fn installed(program: &str) -> bool {
    found(program).map_err(|(need, reason)| skip(need, &reason)).is_ok()
}

/// Whether `program` is installed. If not, the calling test counts as skipped in part, and goes on without it.
pub fn installed_for_part(program: &str) -> bool {
    found(program).map_err(|(need, reason)| skip_part(need, &reason)).is_ok()
}

/// Whether the system has the bzip2 whose behaviour hybz copies. If not, the calling test counts as skipped in part.
pub fn bzip2_installed() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let found = *FOUND.get_or_init(|| {
        let version = Command::new("bzip2").arg("--help").output();
        version.is_ok_and(|output| String::from_utf8_lossy(&output.stderr).contains("Version 1.0.8"))
    });
    if !found {
        skip_part(Need::Peers, "no bzip2 1.0.8");
    }
    found
}

/// Runs bzip2 and hybz (by the same name) in two identical places, and compares outputs, exit codes and files.
#[track_caller]
pub fn same_as_bzip2(name: &str, args: &[&str], input: &[u8], prepare: impl Fn(&Place)) {
    if !bzip2_installed() {
        return;
    }
    let (theirs, ours) = (Place::new(), Place::new());
    prepare(&theirs);
    prepare(&ours);
    let their_run = run_with_input(theirs.command(name).args(args), input);
    let our_run = run_with_input(ours.called(name).args(args), input);
    assert_eq!(our_run, their_run, "{name} {args:?}: left is hybz, right is bzip2");
    assert_eq!(ours.files(), theirs.files(), "{name} {args:?}: the files that are left");
}

/// Calls [`same_as_bzip2`] for each of these command lines, without input.
#[track_caller]
pub fn each_as_bzip2(lines: &[&str], prepare: impl Fn(&Place)) {
    for line in lines {
        same_as_bzip2("bzip2", &line.split(' ').collect::<Vec<_>>(), b"", &prepare);
    }
}

/// Makes a copy of the command. A separate process writes the copy: a file cannot be run while it is open for writing,
/// and a child that another test starts at that moment inherits all our open files.
pub fn copy_of_hybz(to: &Path) {
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_hybz")).arg(to).status().expect("cp");
    assert!(copied.success());
}

/// Compresses `text` with blocks of 100 kB, by the `bzip2` crate: not by the program under test.
pub fn compressed(text: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
    encoder.write_all(text).expect("compress");
    encoder.finish().expect("compress")
}

/// Decompresses a file, by the `bzip2` crate.
pub fn decompressed(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut bzip2::read::MultiBzDecoder::new(bytes), &mut text).expect("decompress");
    text
}

/// A name that is not UTF-8.
pub fn odd_name() -> &'static OsStr {
    OsStr::from_bytes(b"odd \xff\n%s'\"name")
}

/// Runs a line of shell as an unprivileged user, with `hybz` in the PATH. If the tests run as root and cannot become
/// another user, the calling test counts as skipped, and should return.
pub fn as_nobody(place: &Place, line: &str) -> Option<Run> {
    if !root() {
        return Some(place.shell(line));
    }
    if !installed("setpriv") {
        return None;
    }
    // Every user can reach this copy of the program; the built one may be out of reach.
    let bin = tempfile::Builder::new().prefix("hybz-bin-").tempdir().expect("a temporary directory");
    copy_of_hybz(&bin.path().join("hybz"));
    for directory in [bin.path(), place.dir.path()] {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).expect("chmod");
    }
    let path = format!("PATH={}:$PATH", bin.path().display());
    let line = line.replace('\'', "'\\''");
    Some(place.shell(&format!("{path} exec setpriv --reuid 1234 --regid 1234 --clear-groups bash -c '{line}'")))
}

/// Whether the tests run as root, who may access every file.
pub fn root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|found| found.uid() == 0)
}
