//! Times other commands on files in memory.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The number of runs; the best run counts.
const RUNS: usize = 3;
/// The columns of the images made from texts.
pub const COLUMNS: usize = 1024;
/// The rows of a strip: 64 KiB.
pub const ROWS: usize = 64;

/// A folder for the files, removed at the end.
pub struct Place(PathBuf);

impl Place {
    pub fn make() -> Place {
        let memory = PathBuf::from("/dev/shm");
        let parent = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let place = parent.join(format!("hybz-theses-{}", std::process::id()));
        fs::create_dir_all(&place).expect("a folder for temporary files");
        Place(place)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.join(name), bytes).expect("room for a temporary file");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).unwrap_or_default()
    }

    /// The seconds of a command, in the best of several runs, with the file `input` as its standard input and `output`
    /// as its output. `None` if there is no such command, or it fails.
    pub fn run(&self, command: &[&str], input: &str, output: &str) -> Option<f64> {
        let once = || {
            let mut process = Command::new(command[0]);
            process.args(&command[1..]).current_dir(&self.0).stderr(Stdio::null());
            process.stdin(File::open(self.0.join(input)).ok()?).stdout(File::create(self.0.join(output)).ok()?);
            let start = Instant::now();
            let status = process.status().ok()?;
            status.success().then(|| start.elapsed().as_secs_f64())
        };
        (0..RUNS).map(|_| once()).collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The offset of the picture in a file of [`tiff`], and in those that `tiffcp -c none` writes.
pub const PICTURE: usize = 8;

/// A TIFF file of the whole rows of a text: a grey picture, not compressed, in one strip.
pub fn tiff(text: &[u8]) -> Vec<u8> {
    let rows = text.len() / COLUMNS;
    let picture = &text[..rows * COLUMNS];
    let mut file = b"II*\0".to_vec();
    file.extend(((PICTURE + picture.len()) as u32).to_le_bytes());
    file.extend_from_slice(picture);
    let (rows, len) = (rows as u32, picture.len() as u32);
    // Width, height, bits of a sample, no compression, 0 is black, position of the strip, samples, its rows, its bytes.
    let entries: [(u16, u16, u32); 9] = [
        (256, 4, COLUMNS as u32),
        (257, 4, rows),
        (258, 3, 8),
        (259, 3, 1),
        (262, 3, 1),
        (273, 4, PICTURE as u32),
        (277, 3, 1),
        (278, 4, rows),
        (279, 4, len),
    ];
    file.extend((entries.len() as u16).to_le_bytes());
    for (tag, kind, value) in entries {
        file.extend(tag.to_le_bytes());
        file.extend(kind.to_le_bytes());
        file.extend(1u32.to_le_bytes());
        file.extend(value.to_le_bytes());
    }
    file.extend([0; 4]);
    file
}

/// Runs a mode of the theses' kernels (theses/kernels, the program `HYBZ_KERNELS`) on a text, and prints what it says:
/// a table, whose answers it has compared with plain twins.
pub fn kernels(mode: &str, text: &[u8]) {
    let Some(program) = std::env::var_os("HYBZ_KERNELS") else {
        return println!("# no device: HYBZ_KERNELS names no program (theses/kernels/build.sh makes it)");
    };
    let place = Place::make();
    place.write("text", text);
    let run = Command::new(&program).arg(mode).arg(place.0.join("text")).arg(text.len().to_string()).output();
    let output = run.unwrap_or_else(|e| crate::fail(&format!("HYBZ_KERNELS: {e}")));
    print!("{}", String::from_utf8_lossy(&output.stdout).split_once('\n').map_or("", |(_, table)| table));
    if !output.status.success() {
        crate::fail(&format!("kernels {mode}: {}, {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
}
