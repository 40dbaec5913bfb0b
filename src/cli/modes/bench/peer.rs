//! Other programs, run with their standard input and output in memory.

use crate::cli::args::Kind;
use hybz::Level;
use hybz_files::memory::file_in_memory;
use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub struct Peer {
    pub name: String,
    path: PathBuf,
}

impl Peer {
    /// The program of this name on the PATH, or the program at this path if the name has a slash.
    pub fn find(name: &str) -> Option<Peer> {
        let path = env::var_os("PATH").unwrap_or_default();
        let places = env::split_paths(&path).map(|directory| directory.join(name));
        let path = if name.contains('/') { Some(PathBuf::from(name)) } else { None };
        let path = path.into_iter().chain(places).find(|path| is_program(path))?;
        Some(Peer { name: name.to_owned(), path })
    }

    /// The flag for a number of threads, if the program has one.
    pub fn threads_flag(&self) -> Option<&'static str> {
        let name = Path::new(&self.name).file_name()?.to_str()?;
        match () {
            () if name.contains("pbzip2") || name.contains("hybz") => Some("-p"),
            () if name.contains("lbzip2") => Some("-n"),
            () => None,
        }
    }

    /// Runs the program once. Returns the time that it took, and its output.
    pub fn run(
        &self,
        level: Level,
        direction: Kind,
        threads: usize,
        input: &[u8],
    ) -> Result<(Duration, Vec<u8>), String> {
        let error = |e: io::Error| format!("it cannot be run: {e}");
        let mut given = file_in_memory().map_err(error)?;
        let mut result = file_in_memory().map_err(error)?;
        given.write_all(input).and_then(|()| given.rewind()).map_err(error)?;
        let mut command = Command::new(&self.path);
        match direction {
            Kind::Compress => command.arg(format!("-{}", level.get())),
            _ => command.arg("-d"),
        };
        command.arg("-c").args(self.threads_flag().map(|flag| format!("{flag}{threads}")));
        for variable in ["BZIP", "BZIP2", "LBZIP2", "PBZIP2", "HYBZ"] {
            command.env_remove(variable);
        }
        let output = |file: &File| file.try_clone().map(Stdio::from).map_err(error);
        command.stdin(output(&given)?).stdout(output(&result)?).stderr(Stdio::null());
        let started = Instant::now();
        let status = command.status().map_err(error)?;
        let time = started.elapsed();
        if !status.success() {
            return Err(format!("it failed: {status}"));
        }
        let mut bytes = Vec::new();
        result.rewind().and_then(|()| result.read_to_end(&mut bytes)).map_err(error)?;
        Ok((time, bytes))
    }
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
