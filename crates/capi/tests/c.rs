//! The library as programs in other languages use it: installed by `install.sh`, found by pkg-config, and called.

#![cfg(target_os = "linux")]

use hybz_capi as _;
use hybz_testkit::shapes;
use hybz_testkit::skip::{Need, skip, skip_part};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

const HERE: &str = env!("CARGO_MANIFEST_DIR");
/// The folder for files that the tests make.
const MADE: &str = env!("CARGO_TARGET_TMPDIR");

/// Whether any of these programs is missing; `say` (`skip` or `skip_part`) then names it.
fn lacks(say: fn(Need, &str), programs: &[&str]) -> bool {
    let lacking = programs.iter().find(|program| Command::new(program).arg("--help").output().is_err());
    if let Some(program) = lacking {
        say(Need::System, &format!("{program} is not installed"));
    }
    lacking.is_some()
}

/// A command in the folder `MADE`, which finds the installed library. It is installed once for all tests.
fn command(program: &str, arguments: &[&str]) -> Command {
    static INSTALLED: LazyLock<()> = LazyLock::new(|| {
        let built = std::env::current_exe().expect("it runs").with_file_name("");
        let mut install = Command::new(format!("{HERE}/install.sh"));
        printed(install.arg(format!("{MADE}/c")).env("HYBZ_CAPI_BUILT", built));
    });
    LazyLock::force(&INSTALLED);
    let mut command = Command::new(program);
    command.args(arguments).current_dir(MADE).env("LD_LIBRARY_PATH", format!("{MADE}/c/lib"));
    command.env("PKG_CONFIG_PATH", format!("{MADE}/c/lib/pkgconfig"));
    command
}

/// What a command prints. It must succeed.
fn printed(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    output.stdout
}

fn text_of(command: &mut Command) -> String {
    String::from_utf8(printed(command)).unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(format!("{HERE}/{path}")).unwrap()
}

/// The words of a text that begin with `hybz_` and are followed by `end`, without `end`.
fn names<'a>(text: &'a str, end: &str) -> BTreeSet<&'a str> {
    let words = text.split(|c: char| c.is_whitespace() || c == '*');
    words.filter(|word| word.starts_with("hybz_")).filter_map(|word| Some(word.split_once(end)?.0)).collect()
}

/// `hybz.map` lists what the library exports, and the header declares it.
#[test]
fn exported() {
    if lacks(skip, &["cc", "nm"]) {
        return;
    }
    let symbols = text_of(&mut command("nm", &["-D", "--defined-only", "c/lib/libhybz.so"]));
    let (map, header) = (read("hybz.map"), read("include/hybz.h"));
    let listed = names(&map, ";");
    assert_eq!(names(&symbols, "@@HYBZ_0"), listed);
    assert_eq!(symbols.lines().count(), 1 + listed.len(), "other symbols: {symbols}");
    let declared = header
        .lines()
        .filter(|line| !line.starts_with("typedef") && !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(names(&declared, "("), listed);
}

/// The header is what cbindgen makes from the source.
#[test]
fn header() {
    if lacks(skip, &["cc", "cbindgen"]) {
        return;
    }
    let (version, config) = (text_of(&mut command("cbindgen", &["--version"])), format!("{HERE}/cbindgen.toml"));
    if !read("cbindgen.toml").contains(version.trim()) {
        return skip(Need::System, "cbindgen has another version than the one that made the header");
    }
    let made = text_of(&mut command("cbindgen", &["--quiet", "--config", &config, HERE]));
    assert_eq!(made, read("include/hybz.h"), "cbindgen.toml says how to renew it");
}

/// `tests/c/check.c`, with the shared library and the static one, and under valgrind.
#[test]
fn check() {
    if lacks(skip, &["cc"]) {
        return;
    }
    let program = format!("{HERE}/tests/c/check.c");
    // If the library is missing, cc prints the bare name.
    if text_of(&mut command("cc", &["-print-file-name=libbz2.so.1.0"])).trim() == "libbz2.so.1.0" {
        return skip(Need::Peers, "the system has no libbz2.so.1.0");
    }
    let libbz2 = "-l:libbz2.so.1.0";
    for (name, library) in [("shared", &["-Lc/lib", "-lhybz", libbz2][..]), ("static", &["c/lib/libhybz.a", libbz2])] {
        let flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-Ic/include", "-o", name, &program];
        printed(command("cc", &flags).args(library).args(["-lm", "-lpthread"]));
        let said = text_of(&mut command(&format!("./{name}"), &[&format!("{name}.bz2"), "2000000", "fork"]));
        assert_eq!(said, format!("hybz {}, libbz2 1.0.8, 13-Jul-2019\n", env!("CARGO_PKG_VERSION")));
    }
    if !lacks(skip_part, &["valgrind"]) {
        // Threads of the process's own pool never end, so their memory is reachable, not lost.
        let flags = ["-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"];
        let program = ["--show-leak-kinds=definite", "./shared", "valgrind.bz2", "100000"];
        printed(command("valgrind", &flags).args(program));
    }
}

/// The example in docs/C.md, compiled as C and as C++.
#[test]
fn page() {
    if lacks(skip, &["cc", "c++"]) {
        return;
    }
    let page = read("../../docs/C.md");
    let example = page.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    fs::write(Path::new(MADE).join("page.c"), example).unwrap();
    let flags = match lacks(skip_part, &["pkg-config"]) {
        true => "-Ic/include -Lc/lib -lhybz".to_owned(),
        false => text_of(&mut command("pkg-config", &["--cflags", "--libs", "hybz"])),
    };
    for (compiler, language) in [("cc", "c"), ("c++", "c++")] {
        let strict = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-x", language, "page.c", "-x", "none", "-o", "page"];
        printed(command(compiler, &strict).args(flags.split_whitespace()));
        assert_eq!(text_of(&mut command("./page", &[])), "to be or not to be\nnot\n");
    }
}

/// `program` gets FILE OFFSET LENGTH, and must print that range of the text.
fn prints_ranges(mut program: impl FnMut(&[&str]) -> Command, file: &str) {
    let text = shapes::words(300_000);
    let coded = hybz::compress(&text, &hybz::Settings::new().level(hybz::Level::FASTEST)).unwrap();
    fs::write(Path::new(MADE).join(file), coded).unwrap();
    for (offset, len) in [(0, 10), (99_990, 20), (250_000, 50_000), (299_999, 10)] {
        let part = printed(&mut program(&[file, &offset.to_string(), &len.to_string()]));
        assert!(part == text[offset..text.len().min(offset + len)], "{len} bytes at {offset}: {}", part.len());
    }
    let refused = program(&["there/is/none", "0", "1"]).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(1) && said.contains("No such file or directory (os error 2) (-2)"), "{said}");
}

#[test]
fn go() {
    if lacks(skip, &["cc", "go", "pkg-config"]) {
        return;
    }
    let source = format!("{HERE}/examples/range.go");
    let cache = format!("{MADE}/go");
    printed(command("go", &["build", "-o", "go-range", &source]).env("GOCACHE", cache).env("GO111MODULE", "off"));
    prints_ranges(|arguments| command("./go-range", arguments), "go.bz2");
}

#[test]
fn java() {
    if lacks(skip, &["cc", "java"]) {
        return;
    }
    let version = text_of(&mut command("java", &["--version"]));
    let number = version.split([' ', '.']).find_map(|word| word.parse::<u32>().ok());
    if number.is_none_or(|number| number < 22) {
        return skip(Need::System, "java is older than 22");
    }
    let source = format!("{HERE}/examples/Range.java");
    let start = ["--enable-native-access=ALL-UNNAMED", &source, "c/lib/libhybz.so"];
    prints_ranges(
        |arguments| {
            let mut java = command("java", &start);
            java.args(arguments);
            java
        },
        "java.bz2",
    );
}

#[test]
fn csharp() {
    if lacks(skip, &["cc", "mcs", "mono"]) {
        return;
    }
    let source = format!("{HERE}/examples/Code.cs");
    printed(&mut command("mcs", &["-warnaserror", "-langversion:7.2", "-out:code.exe", &source]));
    let run = |file: &str, bytes: &[u8]| {
        fs::write(Path::new(MADE).join(file), bytes).unwrap();
        command("mono", &["code.exe", file])
    };
    let text = shapes::words(2_000_000);
    let coded = hybz::compress(&text, &hybz::Settings::new()).unwrap();
    assert!(printed(&mut run("cs", &text)) == coded);
    assert!(printed(&mut run("cs.bz2", &coded)) == text);
    let refused = run("cs-short.bz2", &coded[..coded.len() - 9]).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        refused.status.code() == Some(1) && said.contains("file ends unexpectedly") && said.contains("(-4)"),
        "{said}"
    );
}
