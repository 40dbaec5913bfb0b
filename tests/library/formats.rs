//! A format is a folder and a row: few other files name one.

use hybz_testkit::files_below;
use std::fs;
use std::path::{Path, PathBuf};

/// A format, the parts of its folders' and files' paths, and the maximum number of other files of `src` that name it,
/// the flags aside. These numbers only fall.
const FORMATS: [(&str, &[&str], usize); 3] = [
    ("lz4", &["/lz4/", "/lz4.rs", "/lz4_"], 10),
    ("lzw", &["/lzw/", "/lzw.rs", "/lzw_", "strips"], 9),
    ("hbz", &["/hbz/", "/hbz.rs", "/hbz_", "/gpu/large", "/gpu/suffixes"], 13),
];

#[test]
fn a_format_is_named_in_few_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let sources = files_below(&root).into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let read = |path: PathBuf| (path.display().to_string(), fs::read_to_string(path).unwrap().to_lowercase());
    let files: Vec<(String, String)> = sources.map(read).collect();
    assert!(files.len() > 100);
    let is_apart = |path: &str| {
        path.starts_with("/cli/args/")
            || path.ends_with("tests.rs")
            || path.ends_with("_cases.rs")
            || path.ends_with("fake.rs")
            // Lists of modules, and of what tests use of them.
            || path == "/formats/mod.rs"
            || path == "/internals.rs"
    };
    for (format, own, most) in FORMATS {
        let others = files.iter().filter(|(path, text)| {
            let path = path.strip_prefix(root.to_str().unwrap()).unwrap();
            text.contains(format) && !is_apart(path) && !own.iter().any(|own| path.contains(own))
        });
        let names: Vec<&str> = others.map(|(path, _)| &path[..]).collect();
        assert!(names.len() <= most, "{} files name {format}: {names:#?}", names.len());
    }
}
