//! Files with which other projects test their decoders: hybz and the `bzip2` program agree on every one of them.

use crate::{ours, program};
use hybz_testkit::files_below as files;
use std::path::{Path, PathBuf};

fn compressed(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.ends_with(".bz2") || name.ends_with(".bz2.bad")
}

/// The digest of `text` by the program `sum`, in hexadecimal digits.
fn digest(sum: &str, text: &[u8]) -> String {
    let (_, out, _) = program::run(sum, &[], text).expect("it is installed");
    String::from_utf8_lossy(&out).split(' ').next().unwrap_or_default().to_owned()
}

/// Each file has the text whose MD5 its suite states, and `.bad` files are refused.
#[test]
fn sourceware_files_decode_as_their_suite_states() {
    let Some(suites) = program::shared("suites") else { return };
    if !program::installed("md5sum") {
        return;
    }
    let mut checked = 0;
    for path in files(&suites.join("sourceware-bzip2-tests")) {
        if path.extension().is_some_and(|e| e == "bad") {
            let file = std::fs::read(&path).expect("readable");
            assert!(ours::decompress(&file, &hybz::Settings::new()).is_err(), "{} is accepted", path.display());
            checked += 1;
        } else if path.extension().is_some_and(|e| e == "bz2") {
            let file = std::fs::read(&path).expect("readable");
            let text = ours::decompress(&file, &hybz::Settings::new()).expect("a right file");
            let stated = std::fs::read_to_string(path.with_extension("md5")).expect("an .md5 next to each .bz2");
            assert_eq!(digest("md5sum", &text), stated[..32], "{}", path.display());
            checked += 1;
        }
    }
    assert!(checked > 40, "{checked} files");
}

/// Each file that dsnet's decoder accepts has the text that its table states. (Of the others bzip2 accepts some:
/// randomised blocks, incomplete codes. `hybz_and_bzip2_agree_on_every_file` has those too.)
#[test]
fn dsnet_files_decode_as_their_table_states() {
    let Some(suites) = program::shared("suites") else { return };
    if !program::installed("sha256sum") {
        return;
    }
    let folder = suites.join("dsnet");
    let mut checked = 0;
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("the table of the suite");
    for line in table.lines().skip(1) {
        let [name, size, result, bytes, sha256] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("a line of five columns: {line}");
        };
        let file = std::fs::read(folder.join(name).with_extension("bz2")).expect("a file for each line");
        assert_eq!(file.len().to_string(), size, "{name}");
        if result == "ok" {
            let text = ours::decompress(&file, &hybz::Settings::new()).unwrap_or_else(|e| panic!("{name}: {e:?}"));
            assert_eq!((text.len().to_string(), digest("sha256sum", &text)), (bytes.into(), sha256.into()), "{name}");
            checked += 1;
        }
    }
    assert!(checked > 0, "no line says ok");
}

#[test]
fn hybz_and_bzip2_agree_on_every_file() {
    let Some(suites) = program::shared("suites") else { return };
    if !program::installed("bzip2") {
        return;
    }
    let mut complaints = Vec::new();
    let paths: Vec<PathBuf> = files(&suites).into_iter().filter(|path| compressed(path)).collect();
    assert!(paths.len() > 100, "{} files", paths.len());
    for path in paths {
        let file = std::fs::read(&path).expect("readable");
        let judged = program::bunzip2(&file).map_err(|(reason, _)| reason);
        let ours = ours::decompress(&file, &hybz::Settings::new());
        if judged != ours {
            let say = |r: &Result<Vec<u8>, _>| r.as_ref().map(Vec::len).map_err(|e| format!("{e:?}"));
            complaints.push(format!("{}: bzip2 {:?}, hybz {:?}", path.display(), say(&judged), say(&ours)));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// If blocks go to the GPUs, and to a core only if a GPU declines them, every file gets the same verdict as from the
/// cores.
#[test]
fn the_suites_on_gpus() {
    use hybz::schedule::Accepts;
    if let Err(why) = hybz::internals::gpu::devices() {
        return crate::skip::skip(crate::skip::Need::Gpu, &format!("no device: {why}"));
    }
    let Some(suites) = program::shared("suites") else { return };
    let lanes = hybz::Lanes::for_decoding().at_once(true).lanes(2).blocks(3);
    let cores = Accepts::AllBut(&[hybz::internals::tasks::DECODE]);
    let pool = hybz::Pool::builder().cores_accept(cores).accelerators(&lanes).build();
    let on_gpus = hybz::Settings::new().pool(&pool);
    let mut complaints = Vec::new();
    for path in files(&suites).into_iter().filter(|path| compressed(path)) {
        let file = std::fs::read(&path).expect("readable");
        if ours::decompress(&file, &on_gpus) != ours::decompress(&file, &hybz::Settings::new()) {
            complaints.push(path.display().to_string());
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let stations = pool.summary().stations;
    let on_device: u64 = stations.iter().filter(|s| s.accelerator).map(|s| s.blocks).sum();
    assert!(on_device > 100 && stations.iter().all(|s| s.fallbacks == 0), "{stations:?}");
}
