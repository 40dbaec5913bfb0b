//! Files with which other projects test their decoders: hybz and the `bzip2` program agree on every one of them.

use crate::{ours, program};
use hybz_testkit::files_below as files;
use std::path::{Path, PathBuf};

fn compressed(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.ends_with(".bz2") || name.ends_with(".bz2.bad")
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

/// If cores get only the blocks that GPUs decline, every file gets the same verdict as from the cores alone.
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
