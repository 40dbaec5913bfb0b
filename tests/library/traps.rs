//! The traps of the format: `bzip2` behaves as `crafted::cases` says, and hybz does the same.

use crate::{crafted, ours, program, reference, through};
use crafted::{Case, Expect, cases};
use hybz::flow::Task;
use hybz_testkit::long;
use std::io::Write;
use std::sync::OnceLock;

/// All cases, built once.
fn table() -> &'static [Case] {
    static TABLE: OnceLock<Vec<Case>> = OnceLock::new();
    TABLE.get_or_init(cases::all)
}

/// Checks all cases, and fails with the complaints about all of them.
fn each(check: impl Fn(&Case) -> Result<(), String>) {
    let complaint = |case: &Case| Some(format!("{} ({}): {}", case.name, case.why, check(case).err()?));
    let complaints: Vec<String> = table().iter().filter_map(complaint).collect();
    assert!(complaints.is_empty(), "{} cases:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn the_table_says_what_bzip2_does() {
    if !program::installed("bzip2") {
        return;
    }
    each(|case| match (&case.expect, program::bunzip2(&case.file)) {
        (Expect::Accepted(text), Ok(out)) if *text == out => Ok(()),
        (Expect::Accepted(text), Ok(out)) => Err(format!("{} bytes, not the {} expected", out.len(), text.len())),
        (Expect::Accepted(_), Err((reason, _))) => Err(format!("refused: {reason:?}")),
        (Expect::Refused { .. }, Ok(_)) => Err("accepted".into()),
        (Expect::Refused { reason, .. }, Err((said, _))) if *reason != said => {
            Err(format!("refused as {said:?}, not {reason:?}"))
        }
        // Before it notices damage, bzip2 may have written less than the good blocks (its buffer is lost) or more.
        (Expect::Refused { good, .. }, Err((_, out))) if !out.starts_with(good) && !good.starts_with(&out) => {
            Err(format!("wrote {} bytes that are not those of the {} good ones", out.len(), good.len()))
        }
        _ => Ok(()),
    });
}

/// The judge of the property tests and fuzz targets agrees with the program.
#[test]
fn the_bzip2_crate_says_what_bzip2_does() {
    each(|case| match (&case.expect, reference::decompress(&case.file, usize::MAX)) {
        (Expect::Accepted(text), Ok(out)) if *text == out => Ok(()),
        (Expect::Refused { reason, .. }, Err(said)) if *reason == said => Ok(()),
        (_, said) => Err(format!("{:?}", said.map(|out| out.len()))),
    });
}

/// Checks that hybz agrees on every case, whether it gets the whole file in one call, or `chunk` bytes at a time by
/// writes to a decoder. The scanner also sees `chunk` bytes at a time.
fn hybz_agrees(chunk: usize) {
    let pool = ours::pool(2);
    let settings = hybz::Settings::new().pool(&pool).scan_chunk(chunk);
    // Every file is tested in pieces of 1 and of 64 bytes; files that are not slow also with the sizes between.
    let is_usual = |case: &Case| !(2..64).contains(&chunk) || case.file.len() < 5000;
    each(|case| {
        if !long() && !is_usual(case) {
            return Ok(());
        }
        let (verdict, text) = match &case.expect {
            Expect::Accepted(text) => (Ok(()), text),
            Expect::Refused { reason, good } => (Err(*reason), good),
        };
        let whole = ours::decompress(&case.file, &settings);
        if whole.as_ref().map_err(|said| *said) != verdict.map(|()| text) {
            return Err(format!("all at once: {:?}, not {verdict:?}", whole.map(|out| out.len())));
        }
        let (written, out) = ours::decompress_written(&case.file, chunk, &settings);
        if written != verdict || out != *text {
            return Err(format!("written: {written:?}, {} bytes, not {}", out.len(), text.len()));
        }
        Ok(())
    });
}

#[test]
fn hybz_agrees_with_chunks_of_any_size() {
    [1, 2, 3, 7, 64, 4096, 1 << 20].into_iter().for_each(hybz_agrees);
}

/// All cases as files of one call, as the command passes them: they share one queue, and each has its own outcome, in
/// the order of the files. Every tenth output cannot be opened, so its input is skipped.
fn in_one_queue(pool: &hybz::Pool, here: bool) {
    let task = Task::Decompress { formats: hybz::Formats::All, trailing_garbage: true };
    let inputs = table().iter().map(|case| (task, hybz::Verify::Off, through::stream(&case.file))).collect();
    let mut found = through::Collected { skips: 10, ..through::Collected::default() };
    found.collect(pool, inputs, here);
    let begun = table().iter().enumerate().filter(|(number, _)| number % 10 != 9).map(|(_, case)| case);
    assert_eq!(found.out.len(), begun.clone().count());
    let mut wrong = Vec::new();
    for (case, (out, outcome)) in begun.zip(found.out) {
        let outcome = outcome.map_err(|error| ours::refusal(&error));
        let right = match (&case.expect, &outcome) {
            (Expect::Accepted(text), Ok(summary)) => out == *text && summary.bytes_out == text.len() as u64,
            (Expect::Refused { reason, good }, Err(said)) => reason == said && out == *good,
            _ => false,
        };
        if !right {
            wrong.push(format!("{}: {outcome:?}, {} bytes", case.name, out.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn hybz_agrees_with_all_in_one_queue() {
    for pool in [ours::pool(2), hybz::Pool::builder().memory(1).build()] {
        [false, true].into_iter().for_each(|here| in_one_queue(&pool, here));
    }
}

/// The same if cores get only the blocks that GPUs decline.
#[test]
fn hybz_agrees_on_gpus() {
    use hybz::schedule::Accepts;
    if let Err(why) = hybz::internals::gpu::devices() {
        return crate::skip::skip(crate::skip::Need::Gpu, &format!("no device: {why}"));
    }
    for blocks in [3, 32] {
        let lanes = hybz::Lanes::for_decoding().at_once(true).blocks(blocks);
        let cores = Accepts::AllBut(&[hybz::internals::tasks::DECODE]);
        let pool = hybz::Pool::builder().cores_accept(cores).accelerators(&lanes).build();
        in_one_queue(&pool, false);
        in_one_queue(&pool, true);
        let stations = pool.summary().stations;
        let on_device: u64 = stations.iter().filter(|s| s.accelerator).map(|s| s.blocks).sum();
        assert!(on_device > 1000 && stations.iter().all(|s| s.fallbacks == 0), "{stations:?}");
    }
}

/// If trailing garbage is forbidden, it is an error that names the offset, reported after all good text was written.
#[test]
fn forbidden_garbage() {
    let settings = hybz::Settings::new().trailing_garbage(false).scan_chunk(5);
    each(|case| {
        let Expect::Accepted(text) = &case.expect else { return Ok(()) };
        if !["trail-", "gap-", "block-after"].iter().any(|family| case.name.starts_with(family)) {
            return Ok(());
        }
        let mut decoder = hybz::write::MultiBzDecoder::with_settings(Vec::new(), &settings);
        let verdict = decoder.write_all(&case.file).and_then(|()| decoder.try_finish());
        let error = verdict.err().and_then(|error| error.into_inner()).ok_or("accepted")?;
        match error.downcast_ref() {
            Some(hybz::Error::TrailingGarbage { offset }) => {
                let before = ours::decompress(&case.file[..*offset as usize], &settings);
                if before.as_ref() != Ok(text) || decoder.get_ref() != text {
                    return Err(format!("not the text before byte {offset}"));
                }
                Ok(())
            }
            other => Err(format!("{other:?}")),
        }
    });
}

/// A false magic inside a block, followed by more than 64 MiB of good blocks, which are read before hybz notices that
/// the magic is false.
#[test]
fn false_magics_before_much_more() {
    let pool = hybz::Pool::builder().memory(4 << 30).build();
    let settings = hybz::Settings::new().pool(&pool);
    let noise = crafted::noise(7, 800_000);
    let more = ours::compress(&noise, &settings);
    // 72 MB after the first, 24 MB after each other case: 90 streams after all three took 10 seconds of CPU more.
    let names = [("falsemagic-block-200", 90), ("nested-valid-block-40", 30), ("falsemagic-block-in-selectors", 30)];
    for (name, after) in names {
        let case = table().iter().find(|case| case.name == name).expect("a case of this name");
        let Expect::Accepted(text) = &case.expect else { panic!("{name} is right") };
        // The first four streams keep the stations busy while the rest is read.
        let file = [&more.repeat(4)[..], &case.file, &more.repeat(after)].concat();
        let (verdict, out) = ours::decompress_written(&file, 1 << 20, &settings);
        assert_eq!(verdict, Ok(()), "{name}");
        assert!(
            out[4 * noise.len()..].starts_with(text) && out.len() == text.len() + (4 + after) * noise.len(),
            "{name}"
        );
        assert!(ours::decompress(&file, &settings).as_ref() == Ok(&out), "{name}");
    }
}

/// Writes the small cases as files into the folder `HYBZ_SEEDS`: seeds for the fuzz target `decode` (`fuzz/run.sh`).
#[test]
#[ignore = "writes files"]
fn write_seeds() {
    let folder = std::env::var_os("HYBZ_SEEDS").expect("HYBZ_SEEDS names a folder");
    std::fs::create_dir_all(&folder).expect("a folder that can be made");
    for case in table().iter().filter(|case| case.file.len() <= 4096) {
        let name: String = case.name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        std::fs::write(std::path::Path::new(&folder).join(name), &case.file).expect("a file that can be written");
    }
}
