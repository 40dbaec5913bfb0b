//! `-m`: files that are sorted become one. All of them are open at once. If there are too many for that, they are
//! sorted instead: if the files are in order, the result is the same.

use crate::args::Plan;
use crate::call::Call;
use crate::failure::Failure;
use crate::input::{self, Input};
use crate::limits;
use crate::progress::Progress;
use hybz_files::process;
use std::fs::File;
use std::io::{self, BufReader, Read, Take};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// The maximum and the minimum size of a read.
const MOST: u64 = 1 << 20;
const LEAST: u64 = 4 << 10;

/// Whether a file could not be opened because too many are open, here or in the whole system.
fn is_out_of_descriptors(failure: &Failure) -> bool {
    let Failure::System { error, .. } = failure else { return false };
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Opens all files, or as many as can be open at once.
pub fn open(plan: &Plan) -> Result<Vec<Input>, Failure> {
    process::raise_max_descriptors();
    // Descriptors kept for temporary files, in case none is left.
    let _reserve: Vec<io::Result<File>> = (0..3).map(|_| File::open("/dev/null")).collect();
    let mut inputs = Vec::new();
    for name in plan.files.iter().filter(|_| plan.batch.is_none_or(|most| plan.files.len() <= most)) {
        match input::open(name) {
            Err(failure) if is_out_of_descriptors(&failure) => break,
            input => inputs.push(input?),
        }
    }
    Ok(inputs)
}

/// Merges files, which are all open.
pub fn merge(call: Call<'_>, inputs: Vec<Input>) -> Result<(), Failure> {
    let plan = call.plan;
    let own = call.output.regular_stdout().map(|found| (found.dev(), found.ino()));
    let room = (limits::memory(plan) / 2 / inputs.len() as u64).clamp(LEAST, MOST) as usize;
    let text = |input: Input| {
        let len = input.extent.as_ref().filter(|_| own.is_some_and(|own| input.is(own)));
        let len = len.map_or(u64::MAX, |extent| extent.end - extent.start);
        BufReader::with_capacity(room, Text { input: input.take(len), progress: Arc::clone(&call.progress) })
    };
    let texts = inputs.into_iter().map(text).collect();
    call.write(|out| hysort::merge(texts, plan.keyed(), out))
}

/// An input, which ends where it ended before we wrote to it.
struct Text {
    input: Take<Input>,
    progress: Arc<Progress>,
}

impl Read for Text {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.input.read(buf)?;
        self.progress.read(len);
        Ok(len)
    }
}
