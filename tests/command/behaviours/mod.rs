//! The command's behaviour, row by row, compared with that of bzip2 1.0.8: `cargo test --test command behaviours`.
//!
//! Each row of the tables in these files names a test. `HYBZ_BLESS=1 cargo test --test command the_page` writes
//! `docs/BEHAVIOUR.md` from the rows.

mod batch;
mod bench;
mod clusters;
mod decoding;
mod flags;
mod indexes;
mod inputs;
mod lz4;
mod lzw;
mod measure;
mod messages;
mod names;
mod outputs;
mod parts;
mod perturbed;
mod pipes;
mod plans;
mod recover;
mod reports;
mod resume;
mod shards;
mod streams;
mod verify;
mod workers;

use crate::place::{Place, same_as_bzip2};
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// One behaviour of the command.
pub struct Row {
    pub behaviour: &'static str,
    /// The behaviour of bzip2 1.0.8, as seen by running it or read in its source.
    pub bzip2: &'static str,
    pub hybz: &'static str,
    /// The test that shows it, in the module of the table, or a scenario of `tests/matrix`.
    pub test: &'static str,
}

/// `"behaviour" | "bzip2" | "hybz" => function`, for each row. The row makes its function a test; a function that no
/// row names is dead code, which the compiler reports. What the fault matrix shows is not tested twice: such a row
/// ends with `=> "section"/"scenario"`, and compiles only if that scenario exists.
macro_rules! rows {
    ($($behaviour:literal | $bzip2:literal | $hybz:literal
        => $($test:ident)? $($section:literal / $scenario:literal)?;)*) => {
        pub const ROWS: &[$crate::behaviours::Row] = &[$($crate::behaviours::Row {
            behaviour: $behaviour,
            bzip2: $bzip2,
            hybz: $hybz,
            test: concat!($(stringify!($test))? $($section, "/", $scenario)?),
        }),*];

        mod row {
            $($(#[test] fn $test() { super::$test() })?)*
        }
        $($(const _: () = assert!($crate::behaviours::contains(
            include_str!(concat!("../../matrix/", $section, ".sh")),
            concat!("\n## ", $scenario),
        ));)?)*
    };
}
use rows;

const fn contains(text: &str, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    let (mut at, mut same) = (0, 0);
    while at + same < text.len() && same < part.len() {
        (at, same) = if text[at + same] == part[same] { (at, same + 1) } else { (at + 1, 0) };
    }
    same == part.len()
}

/// hybz reads a compressed file `a.*` in every way: `-t`, to stdout, from stdin, to a new, an old or a named file.
pub fn is_read(name: &str, file: &[u8], text: &[u8]) {
    let place = Place::with(&[(name, file)]);
    place.hybz(&["-t", name]).silent(0);
    assert!(["-dc", "-dcf"].iter().all(|flags| place.hybz(&[flags, name]).silent(0).stdout == text));
    assert!(place.hybz_with_input(&["-d"], file).silent(0).stdout == text);
    assert!(place.shell(&format!("cat {name} | hybz -dcf | cat")).silent(0).stdout == text);
    place.hybz(&["-dk", name]).silent(0);
    place.hybz(&["-d", name]).says(1, "Output file a already exists.");
    place.hybz(&["-d", "-o", "b", name]).silent(0);
    place.put("a", b"old");
    place.hybz(&["-dfv", name]).says(0, name);
    assert!(place.names() == ["a", "b"] && place.get("a") == text && place.get("b") == text);
}

/// When called by bzip2's names, hybz treats files of other formats as bzip2 does.
fn as_bzip2_sees(names: &[&str], file: &[u8]) {
    for (program, flags) in
        [("bunzip2", "-k"), ("bunzip2", "-t"), ("bzip2", "-dc"), ("bzip2", "-z"), ("bzcat", "-k"), ("bzcat", "-f")]
    {
        same_as_bzip2(program, &[&[flags], names].concat(), b"", |place| {
            names.iter().for_each(|name| place.put(name, file));
        });
    }
    same_as_bzip2("bunzip2", &[], file, |_| {});
}

const TABLES: [(&str, &str, &[Row]); 24] = [
    ("flags", "Flags", flags::ROWS),
    ("names", "Names, environment, suffixes", names::ROWS),
    ("inputs", "What is checked of inputs", inputs::ROWS),
    ("outputs", "Outputs, attributes, removal of sources, signals", outputs::ROWS),
    ("pipes", "stdin, stdout, terminals, pipes", pipes::ROWS),
    ("decoding", "Unusual and damaged data", decoding::ROWS),
    ("lz4", "LZ4 frames", lz4::ROWS),
    ("lzw", "`.Z` files", lzw::ROWS),
    ("perturbed", "Perturbed text in a `.bz2`", perturbed::ROWS),
    ("messages", "Exit codes and messages", messages::ROWS),
    ("workers", "Threads, memory, lists", workers::ROWS),
    ("indexes", "Indexes, and lists of what is in files", indexes::ROWS),
    ("parts", "Parts of files", parts::ROWS),
    ("recover", "What is good in damaged files", recover::ROWS),
    ("reports", "What programs read", reports::ROWS),
    ("bench", "Measuring", bench::ROWS),
    ("measure", "How repetitive files are", measure::ROWS),
    ("batch", "Trees and lists of files", batch::ROWS),
    ("resume", "Repeated calls", resume::ROWS),
    ("verify", "What is verified", verify::ROWS),
    ("shards", "One file in parts", shards::ROWS),
    ("plans", "Plans of shards", plans::ROWS),
    ("streams", "Many streams, ranges for readers", streams::ROWS),
    ("clusters", "Recipes for many machines", clusters::ROWS),
];

const HEAD: &str = "\
# Behaviour

For users who know bzip2: what hybz does, and what bzip2 1.0.8 does. hybz is a drop-in, so most rows say \"the same\";
where they do not, bzip2 loses data, hangs, or has no such thing. Each row is a test, and these are all of them:

```text
cargo test --test command behaviours
```

The tests write this page from their tables in `tests/command/behaviours`; to write it again, set `HYBZ_BLESS=1`. Where
both should do the same, most tests run the system's bzip2 next to hybz and compare exit codes, output, messages and
files. How bzip2 differs was seen by running it or read in its source. `matrix: NAME` is a scenario, or several,
of `cargo test --test matrix`. F2F: from file to file, without `-c`. rc: the exit code.
";

fn page() -> String {
    let mut page = HEAD.to_owned();
    let count: usize = TABLES.iter().map(|(_, _, rows)| rows.len()).sum();
    let _ = writeln!(page, "\n{count} rows.");
    for (module, title, rows) in TABLES {
        let _ = writeln!(page, "\n## {title}\n\n| what | bzip2 1.0.8 | hybz | test |\n|---|---|---|---|");
        for Row { behaviour, bzip2, hybz, test } in rows {
            let test = if test.contains('/') { format!("matrix: {test}") } else { format!("{module}::{test}") };
            let _ = writeln!(page, "| {behaviour} | {bzip2} | {hybz} | `{test}` |");
        }
    }
    page
}

#[test]
fn the_page_is_current() {
    let (path, made) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/BEHAVIOUR.md"), page());
    if env::var_os("HYBZ_BLESS").is_some() {
        return fs::write(&path, made).expect("docs/BEHAVIOUR.md can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let differs = made.lines().zip(kept.lines().chain([""])).find(|(made, kept)| made != kept);
    let how = "docs/BEHAVIOUR.md is out of date: HYBZ_BLESS=1 cargo test --test command the_page";
    assert!(made == kept, "{how}\nthe first line that differs, as it should be and as it is: {differs:#?}");
}
