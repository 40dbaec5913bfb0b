//! Objects as docs/JSON.md describes them: one on each line. Each has its type and the version of the schema, and a
//! file name that is not UTF-8 is also given as bytes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

pub const SCHEMA: u32 = 1;

pub struct Object(Map<String, Value>);

impl Object {
    pub fn of_file(of: &str, name: &OsStr) -> Object {
        let mut object = Object(Map::new());
        object.put("schema", SCHEMA);
        object.put("type", of);
        object.put_name("name", name);
        object
    }

    pub fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_owned(), value.into());
    }

    /// A name, and its bytes if it is not UTF-8.
    pub fn put_name(&mut self, key: &str, name: &OsStr) {
        self.put(key, &*name.to_string_lossy());
        if name.to_str().is_none() {
            self.put(&format!("{key}_base64"), base64(name));
        }
    }

    /// Names, and the bytes of all of them if one is not UTF-8.
    pub fn put_names(&mut self, key: &str, names: &[PathBuf]) {
        self.put(key, names.iter().map(|name| Value::from(&*name.to_string_lossy())).collect::<Value>());
        if names.iter().any(|name| name.to_str().is_none()) {
            let bytes: Value = names.iter().map(|name| Value::from(base64(name.as_os_str()))).collect();
            self.put(&format!("{key}_base64"), bytes);
        }
    }

    /// The exit code that this file alone would give, and the error if that code is not 0.
    pub fn put_exit(&mut self, code: u8, error: Option<&[u8]>) {
        self.put("exit", code);
        if let Some(error) = error {
            self.put("error", &*String::from_utf8_lossy(error));
        }
    }

    pub fn line(self) -> Vec<u8> {
        line(&Value::Object(self.0).to_string())
    }
}

/// The text of an object as a line. JSON lets DEL and the control characters from U+0080 on stand in strings as they
/// are; here they are escaped like all others, because the line may end up on a terminal.
pub fn line(text: &str) -> Vec<u8> {
    let mut line = String::with_capacity(text.len() + 1);
    for char in text.chars() {
        match char {
            '\u{7f}'..='\u{9f}' => line += &format!("\\u{:04x}", u32::from(char)),
            char => line.push(char),
        }
    }
    line.push('\n');
    line.into_bytes()
}

pub fn crc(crc: u32) -> Value {
    format!("{crc:08x}").into()
}

pub fn seconds(time: std::time::Duration) -> Value {
    (time.as_micros() as f64 / 1e6).into()
}

fn base64(name: &OsStr) -> String {
    STANDARD.encode(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        let name = "a\u{7f}b\u{9b}31m\u{1b}é";
        let line = Object::of_file("test", OsStr::new(name)).line();
        let text = String::from_utf8(line).expect("UTF-8");
        assert!(text.contains(r"a\u007fb\u009b31m\u001bé"), "{text}");
        let read: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read["name"], name);
    }
}
