//! The report about a file: in words on stderr, as JSON on stdout (docs/JSON.md).

use crate::cli::messages::Failure;
use crate::cli::messages::json::Object;
use hybz::recover::{Block, Hole, Recovered, Remark, What};
use hybz_files::quote::shown;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

#[derive(Default)]
pub struct Story {
    pub found: Recovered,
    /// A line for each hole and each remark, in the order of the file, and whether something is lost there.
    pub lines: Vec<(bool, String)>,
    holes: Vec<Value>,
    remarks: Vec<Value>,
    /// The files that were made; none if they went to stdout.
    pub results: Vec<PathBuf>,
    /// Whether holes were filled although no index gives their lengths.
    pub guessed: bool,
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

impl Story {
    pub fn block(&mut self, block: &Block) {
        if block.doubtful {
            let text = "doubtful: a good block, but nothing precedes or follows it";
            self.tell(&block.bits, "doubtful", text);
        }
    }

    pub fn remark(&mut self, remark: &Remark) {
        self.tell(&remark.bits, key(remark.what), &remark.what.to_string());
    }

    fn tell(&mut self, bits: &Range<u64>, key: &str, text: &str) {
        self.lines.push((false, format!("bits {} to {}: {text}", bits.start, bits.end)));
        self.remarks.push(json!({"bit_offset": bits.start, "bit_end": bits.end, "what": key}));
    }

    pub fn hole(&mut self, hole: &Hole) {
        let Hole { bits, blocks, text_offset, text_len, cause, .. } = hole;
        let lost = match blocks {
            0 => "an unknown number of blocks".to_owned(),
            blocks => format!("at least {}", counted(*blocks, "block")),
        };
        let text = match (text_offset, text_len) {
            (Some(offset), Some(len)) => format!("{len} bytes of text from byte {offset} on"),
            (Some(offset), None) => format!("text from byte {offset} on"),
            (None, Some(len)) => format!("{len} bytes of text"),
            (None, None) => "text at an unknown place".to_owned(),
        };
        self.lines.push((true, format!("bits {} to {} are lost: {lost}, {text}: {cause}", bits.start, bits.end)));
        self.holes.push(json!({
            "bit_offset": bits.start, "bit_end": bits.end, "blocks": blocks, "text_offset": text_offset,
            "text_length": text_len, "cause": cause.to_string(),
        }));
    }

    pub fn summary(&self, name: &OsStr) -> Vec<u8> {
        let (blocks, holes) = (counted(self.found.blocks, "block"), counted(self.found.holes, "hole"));
        let mut text = format!(": {blocks} recovered, {} of text, {holes}", counted(self.found.text_len, "byte"));
        if self.guessed {
            text.push_str("; the lengths of the holes were guessed, because there is no index");
        }
        [shown(name).as_bytes(), text.as_bytes()].concat()
    }

    pub fn json(&self, name: &OsStr, failure: Option<&Failure>, code: u8) -> Vec<u8> {
        let mut object = Object::of_file("recover", name);
        object.put_names("results", &self.results);
        object.put("blocks", self.found.blocks);
        object.put("uncompressed", self.found.text_len);
        object.put("holes", self.holes.clone());
        object.put("remarks", self.remarks.clone());
        object.put_exit(code, failure.map(|failure| &failure.text[..]));
        object.line()
    }
}

fn key(what: What) -> &'static str {
    match what {
        What::Header => "header",
        What::Magic => "magic",
        What::BlockCrc => "block_crc",
        What::End => "end",
        What::StreamCrc => "stream_crc",
        What::Garbage => "garbage",
        What::Nested => "nested",
        _ => "other",
    }
}
