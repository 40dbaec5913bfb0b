//! Scenarios: read from shell files and from the table of crafted data, run in a directory of their own.

use crate::crafted::{Case, Expect, cases};
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// One fault, and its expected outcome.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Section and name, such as `signals/TERM-after-0.1`.
    pub name: String,
    /// The expected outcome, in words.
    pub expected: String,
    what: What,
    /// Words in brackets after the name: the requirements on the machine.
    needs: Vec<String>,
    /// Whether it tests a feature that only hybz has.
    pub ours_only: bool,
}

#[derive(Clone, Debug)]
enum What {
    /// Shell code, which calls `bad` to report what went wrong.
    Script(String),
    /// A crafted file to be decompressed.
    Case(Case),
}

/// The outcome of a scenario with one program.
#[derive(Clone, Debug)]
pub enum Outcome {
    Right,
    Wrong(String),
    Skipped(String),
}

/// The sections: a shell file for each.
const SECTIONS: [(&str, &str); 8] = [
    ("files", include_str!("files.sh")),
    ("systems", include_str!("systems.sh")),
    ("calls", include_str!("calls.sh")),
    ("signals", include_str!("signals.sh")),
    ("limits", include_str!("limits.sh")),
    ("pipes", include_str!("pipes.sh")),
    ("data", include_str!("data.sh")),
    ("manners", include_str!("manners.sh")),
];

/// All scenarios, in the order of the table.
pub fn all() -> Vec<Scenario> {
    let mut all: Vec<Scenario> = SECTIONS.iter().flat_map(|(section, text)| read(section, text)).collect();
    all.extend(cases::all().into_iter().map(|case| {
        let expected = match &case.expect {
            Expect::Accepted(_) => "exit 0 and the text",
            Expect::Refused { .. } => "exit 2, and no byte that no CRC covers",
        };
        Scenario {
            name: format!("format/{}", case.name),
            expected: expected.to_owned(),
            what: What::Case(case),
            needs: Vec::new(),
            ours_only: false,
        }
    }));
    all
}

/// Reads scenarios: `## NAME [NEEDS]: EXPECTED`, optionally ` | VARIABLE in VALUES` (also on lines of their own), then
/// lines of shell.
fn read(section: &str, text: &str) -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for part in text.split("\n## ").skip(1) {
        let head_len = part.match_indices('\n').map(|(at, _)| at).find(|at| !part[at + 1..].starts_with("| "));
        let (head, script) = part.split_at(head_len.unwrap_or(part.len()));
        let head = head.replace("\n| ", " | ");
        let mut heads = head.split(" | ");
        let (name, expected) = heads.next().and_then(|head| head.split_once(": ")).expect("NAME: EXPECTED");
        let (name, needs) = match name.split_once(" [") {
            Some((name, needs)) => (name, needs.trim_end_matches(']').split(' ').map(str::to_owned).collect()),
            None => (name, Vec::new()),
        };
        let needs: Vec<String> = needs;
        let ours_only = needs.iter().any(|need| need == "hybz");
        let base = Scenario {
            name: format!("{section}/{name}"),
            expected: expected.to_owned(),
            what: What::Script(script.to_owned()),
            needs,
            ours_only,
        };
        let mut made = vec![base];
        for variable in heads {
            let (name, values) = variable.split_once(" in ").expect("VARIABLE in VALUES");
            let set = |scenario: &Scenario, value: &str| Scenario {
                name: scenario.name.replace(&format!("${name}"), value),
                expected: scenario.expected.replace(&format!("${name}"), value),
                what: match &scenario.what {
                    What::Script(script) => What::Script(format!("{name}='{value}'\n{script}")),
                    case => case.clone(),
                },
                ..scenario.clone()
            };
            made = made.iter().flat_map(|one| values.split(' ').map(move |value| set(one, value))).collect();
        }
        scenarios.extend(made);
    }
    scenarios
}

impl Scenario {
    pub fn section(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    /// The requirement that this machine lacks, if any.
    pub fn lacks(&self) -> Option<String> {
        let lacking = |need: &&String| match need.as_str() {
            "hybz" => false,
            "root" => !rustix::process::geteuid().is_root(),
            tool => on_path(tool).is_none(),
        };
        self.needs.iter().find(lacking).map(|need| match need.as_str() {
            "root" => "only root can do this".to_owned(),
            tool => format!("no {tool}"),
        })
    }
}

fn on_path(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(tool)).find(|file| file.is_file())
}

/// The parts that all scenarios share: the original files, the shim of failing calls, the prelude.
pub struct Kit {
    dir: TempDir,
}

impl Kit {
    pub fn new() -> Kit {
        let kit = Kit { dir: directory() };
        let put = |name: &str, bytes: &[u8]| fs::write(kit.path(name), bytes).expect("a file of the kit");
        let text = crate::crafted::words(7, 300_000);
        put("a", &text);
        put("b", b"hello\n");
        put("n", &crate::crafted::noise(3, 12_000_000));
        put("prelude.sh", include_bytes!("prelude.sh"));
        let pack = |text: &[u8]| {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
            encoder.write_all(text).expect("compress");
            encoder.finish().expect("compress")
        };
        put("a.bz2", &pack(&text));
        put("b.bz2", &pack(b"hello\n"));
        put("n.bz2", &pack(&crate::crafted::noise(3, 12_000_000)));
        put("bomb.bz2", &cases::bomb(20));
        let mut damaged = pack(&text);
        let middle = damaged.len() / 2;
        damaged[middle] ^= 4;
        put("damaged.bz2", &damaged);
        put("cut.bz2", &pack(&text)[..middle]);
        // If there is no C compiler, the scenarios that need one are skipped.
        hybz_testkit::make_faults(&kit.path("faults.so"));
        kit
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs a scenario with the program of this name.
    pub fn run(&self, scenario: &Scenario, program: &str) -> Outcome {
        let room = directory();
        let place = room.path().join("place");
        fs::create_dir(&place).expect("a place");
        let bin = room.path().join("bin");
        fs::create_dir(&bin).expect("a directory");
        let tool = match program {
            "hybz" => PathBuf::from(env!("CARGO_BIN_EXE_hybz")),
            peer => match on_path(peer) {
                Some(path) => path,
                None => return Outcome::Skipped(format!("no {peer}")),
            },
        };
        symlink(tool, bin.join(program)).expect("a link");
        let script = match &scenario.what {
            What::Script(script) => format!(". $KIT/prelude.sh\n{script}\nfinish\n"),
            What::Case(case) => return decompress(&bin.join(program), case, &place),
        };
        let mut command = Command::new("timeout");
        command.args(["-k", "1", "180", "bash", "-c", &script]).current_dir(&place).env("LC_ALL", "C.UTF-8");
        for variable in ["BZIP2", "BZIP", "HYBZ", "LBZIP2"] {
            command.env_remove(variable);
        }
        command.env("KIT", self.dir.path()).env("X", bin.join(program)).env("K", program).stdin(Stdio::null());
        let output = command.output().expect("bash");
        let said = String::from_utf8_lossy(&output.stdout).trim().replace('\n', "; ");
        match output.status.code() {
            Some(0) => Outcome::Right,
            Some(77) => Outcome::Skipped(said),
            Some(1) => Outcome::Wrong(said),
            other => {
                let errors = String::from_utf8_lossy(&output.stderr);
                Outcome::Wrong(format!("the scenario ended with {other:?}: {said} {errors}"))
            }
        }
    }
}

/// Decompresses a crafted file to stdout. Only hybz must use bzip2's exit codes, and write nothing but whole blocks.
fn decompress(program: &Path, case: &Case, place: &Path) -> Outcome {
    let file = place.join("case.bz2");
    fs::write(&file, &case.file).expect("a file");
    let mut command = Command::new("timeout");
    command.args(["-k", "1", "30"]).arg(program).arg("-dc").arg(&file).stdin(Stdio::null());
    let output = command.output().expect("timeout");
    let ours = program.ends_with("hybz");
    let code = output.status.code().unwrap_or(-1);
    let (right_code, text) = match &case.expect {
        Expect::Accepted(text) => (code == 0, Some(text)),
        Expect::Refused { good, .. } => (if ours { code == 2 } else { (1..124).contains(&code) }, ours.then_some(good)),
    };
    if !right_code {
        return Outcome::Wrong(if code == 124 { "hangs".to_owned() } else { format!("exit {code}") });
    }
    if text.is_some_and(|text| *text != output.stdout) {
        return Outcome::Wrong("wrong bytes on stdout".to_owned());
    }
    Outcome::Right
}

fn directory() -> TempDir {
    let dir = tempfile::Builder::new().prefix("hybz-matrix-").tempdir().expect("a temporary directory");
    open_to_all(dir.path());
    dir
}

/// Scenarios that run as another user need access to this directory.
fn open_to_all(dir: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).expect("chmod");
}
