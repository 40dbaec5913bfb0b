//! The text to compress and decompress: all files together, in memory.

use super::work::{compressed, decompressed};
use crate::cli::args::{Kind, Operand, Plan};
use crate::cli::files::source_file;
use crate::cli::messages::Failure;
use crate::cli::messages::formats::{native, other_than_bzip2};
use crate::cli::modes::undecoded;
use hybz::Format;
use std::ffi::OsStr;
use std::io::Read;
use std::sync::Arc;

pub struct BenchInput {
    pub text: Arc<Vec<u8>>,
    pub coded: Arc<Vec<u8>>,
    pub remark: Option<String>,
}

impl BenchInput {
    /// The input in a direction, and the output that is expected.
    pub fn of(&self, direction: Kind) -> (&Arc<Vec<u8>>, &[u8]) {
        if direction == Kind::Compress { (&self.text, &self.coded) } else { (&self.coded, &self.text) }
    }

    /// Reads all files. The compressed text is decompressed again and compared; if the files are compressed, every CRC
    /// is checked.
    pub fn read(plan: &Plan) -> Result<BenchInput, Failure> {
        let only_decompress = plan.decompress;
        // Memory holds the text, its compressed form, and the output of another program.
        let room = hybz::schedule::memory_of_machine() / 8;
        let (mut text, mut coded) = (Vec::new(), Vec::new());
        let mut cut = false;
        for operand in &plan.operands {
            let name = operand.name();
            let left = room.saturating_sub(text.len() as u64 + coded.len() as u64);
            let (bytes, longer) = read(plan, operand, left)?;
            cut |= longer;
            let too_large = || {
                let text = format!(" is too large: {} MB of memory are for the input.", room >> 20);
                Failure::about(1, "Input file ", name, &text)
            };
            if let Some(format) = other_than_bzip2(&bytes).filter(|format| only_decompress && !format.is_native()) {
                let text = format!(" is {}: --bench works only with {}.", format.file(), native());
                return Err(Failure::about(1, "", name, &text));
            }
            match (only_decompress, Format::of(&bytes).is_some_and(Format::is_native)) {
                (true, _) if longer => return Err(too_large()),
                (true, _) => {
                    let garbage = plan.trailing_garbage && plan.operands.len() == 1;
                    let plain = decompressed(plan, &bytes, garbage, left - bytes.len() as u64);
                    text.extend(plain.map_err(|error| undecoded(plan, name, &error))?.ok_or_else(too_large)?);
                    coded.extend(bytes);
                }
                (false, true) => {
                    let text = " is compressed: use -d to measure decompressing it.";
                    return Err(Failure::about(1, "Input file ", name, text));
                }
                (false, false) => text.extend(bytes),
            }
        }
        if text.is_empty() {
            return Err(Failure::new(1, b"There is nothing to measure: the input is empty.".to_vec()));
        }
        if !only_decompress {
            coded = compressed(plan, &text).map_err(|error| undecoded(plan, OsStr::new("the input"), &error))?;
            if decompressed(plan, &coded, false, u64::MAX).ok().flatten().as_ref() != Some(&text) {
                return Err(Failure::new(3, b"what was compressed is not the text: a defect of hybz.".to_vec()));
            }
        }
        let remark =
            cut.then(|| format!("only the first {} MB are measured: memory does not suffice for more", room >> 20));
        Ok(BenchInput { text: Arc::new(text), coded: Arc::new(coded), remark })
    }
}

/// Reads at most `max` bytes of a file. Also returns whether there are more.
fn read(plan: &Plan, operand: &Operand, max: u64) -> Result<(Vec<u8>, bool), Failure> {
    let name = operand.name();
    let (_, mut file) = source_file::open(plan, operand, "read data from", false)?;
    let mut bytes = Vec::new();
    let read = (&mut file).take(max).read_to_end(&mut bytes).and_then(|len| {
        let longer = len as u64 == max && file.read(&mut [0])? > 0;
        Ok(longer)
    });
    let longer = read.map_err(|e| Failure::input("read", name, &e))?;
    Ok((bytes, longer))
}
