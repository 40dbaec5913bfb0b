//! The kernel, run by an emulation of its warps on a CPU (`cuda/emulated.cpp`), is compared with the plain loop:
//! packing and unpacking, strips that wait for each other, and whole pictures through the pool.

mod common;

use common::{in_slabs, picture, watched};
use dither::device::pack::{Batch, Kernel, KernelError, Lane};
use dither::manager::{self, Error, Verify};
use dither::plan::{Mode, Sizes, units};
use dither::slab::Task;
use dither::{many, plain, work};
use hybz_testkit::skip::{Need, skip};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};

/// The kernel in a process of its own.
struct Emulated {
    process: Child,
    ctas: u64,
    warps: u64,
}

/// The program, if there is a C++ compiler.
fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let make = || {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dither-emulated");
        let built = Command::new("g++")
            .args(["-std=c++17", "-O2", "-g", "-Wall", "-Wno-unknown-pragmas", "-fsanitize=undefined"])
            .args(["-fno-sanitize-recover=all", "-I"])
            .arg(here.join("../../cuda/sim/emulated"))
            .arg("-o")
            .arg(&program)
            .arg(here.join("cuda/emulated.cpp"))
            .status();
        match built {
            Ok(status) => {
                assert!(status.success(), "the kernel does not compile as C++");
                Some(program)
            }
            Err(_) => None,
        }
    };
    PROGRAM.get_or_init(make).as_deref()
}

impl Emulated {
    fn new(ctas: u64, warps: u64) -> Option<Emulated> {
        let process = Command::new(program()?).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        Some(Emulated { process: process.expect("it was built just now"), ctas, warps })
    }

    /// Reads all of a batch before it writes, so neither side waits for the other.
    fn answer(&mut self, batch: &Batch) -> std::io::Result<Vec<u8>> {
        let numbers = [
            u64::from(batch.slabs),
            u64::from(batch.strips),
            batch.input.len() as u64,
            batch.output as u64,
            self.ctas,
            self.warps,
        ];
        let to = self.process.stdin.as_mut().expect("piped");
        to.write_all(&numbers.map(u64::to_le_bytes).concat())?;
        to.write_all(&batch.table)?;
        to.write_all(&batch.input)?;
        to.flush()?;
        let mut output = vec![0; batch.output];
        self.process.stdout.as_mut().expect("piped").read_exact(&mut output)?;
        Ok(output)
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

impl Kernel for Emulated {
    fn name(&self) -> String {
        "emulated".to_owned()
    }

    fn most_bytes(&self) -> usize {
        1 << 20
    }

    fn run(&mut self, batch: &Batch) -> Result<Vec<u8>, KernelError> {
        self.answer(batch).map_err(|error| KernelError::Lost(error.to_string()))
    }
}

fn tests<S: Strategy>(cases: u32, strategy: S, test: impl Fn(S::Value)) {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
    let outcome = TestRunner::new(config).run(&strategy, |value| {
        test(value);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn slabs_of_all_shapes() {
    if program().is_none() {
        return skip(Need::System, "there is no g++");
    }
    let sizes = prop_oneof![
        (1usize..300, 1usize..150),
        (1usize..4, 1usize..300),
        (1usize..1000, 1usize..4),
        (100usize..200, 200usize..400)
    ];
    let cuts = prop::collection::vec((0i64..80).prop_map(|cut| 16 * cut), 0..5);
    tests(60, (sizes, 0u32..1000, 1usize..6, cuts, 1u64..5), |((width, height), kind, band, cuts, warps)| {
        let picture = picture(width, height, kind);
        let mut emulated = Emulated::new(1 + warps % 2, warps).expect("there is one");
        let bitmap = in_slabs(&picture, 32 * band, &cuts, |task| {
            let tasks = [Arc::clone(task)];
            assert!(Batch::takes(task));
            let batch = Batch::pack(&tasks);
            assert!(batch.input.len() + batch.output <= Batch::bytes(task) + 64);
            let output = emulated.answer(&batch).expect("an answer");
            let done = batch.unpack(&tasks, &output).remove(0);
            assert!(done == task.run_by_rows(), "{width} x {height}, {kind}: {:?}", task.slab);
            done
        });
        assert!(bitmap == plain::dither(&picture));
    });
}

#[test]
fn batches_of_several_pictures() {
    if program().is_none() {
        return skip(Need::System, "there is no g++");
    }
    let sizes = prop::collection::vec((1usize..200, 1usize..150), 1..9);
    tests(30, (sizes, 1u64..5), |(sizes, warps)| {
        let pictures = (0..).zip(&sizes).map(|(kind, &(width, height))| picture(width, height, kind));
        let tasks: Vec<_> = pictures.map(|picture| Arc::new(Task::whole(picture))).collect();
        let batch = Batch::pack(&tasks);
        let output = Emulated::new(2, warps).and_then(|mut emulated| emulated.answer(&batch).ok()).expect("an answer");
        for (task, done) in tasks.iter().zip(batch.unpack(&tasks, &output)) {
            assert!(done == task.run(), "{:?} of {sizes:?}", task.picture);
        }
    });
}

/// Through the pool: all modes, many pictures, and a picture that is too large for the device.
#[test]
fn in_a_pool() {
    if program().is_none() {
        return skip(Need::System, "there is no g++");
    }
    watched("emulated".to_owned(), || {
        let make = || Ok(Box::new(Lane(Emulated::new(2, 3).ok_or("no g++")?)) as Box<_>);
        let pool = work::pool().group(work::group(make)).build();
        for (width, height) in [(400, 300), (333, 65), (1200, 1000)] {
            let picture = picture(width, height, 3);
            for (_, mode) in Mode::ALL {
                let sizes = Sizes { band: 64, tile: 160, ends: 160, strip: 1 };
                let units = units(mode, width, height, sizes);
                let outcome = manager::dither(&pool, &picture, units, Verify::All).expect("cores");
                assert!(outcome.bitmap == plain::dither(&picture), "{width} x {height}, {mode}");
                assert_eq!(outcome.wrong, 0);
            }
        }
        let pictures: Vec<_> = (0..20).map(|kind| picture(150, 100 + kind as usize, kind)).collect();
        let mut bitmaps = Vec::new();
        let all = pictures.iter().map(|picture| Ok::<_, Error>((**picture).clone()));
        let wrong = many::dither_all(&pool, all, Verify::All, |bitmap| {
            bitmaps.push(bitmap);
            Ok(())
        });
        assert_eq!(wrong, Ok(0));
        assert!(bitmaps.iter().zip(&pictures).all(|(bitmap, picture)| *bitmap == plain::dither(picture)));
        let summary = pool.summary();
        let device = summary.stations.iter().find(|station| station.accelerator).expect("it is there");
        assert!(device.blocks > 20, "{device:?}");
        assert_eq!((device.fallbacks, &device.failure), (0, &None));
    });
}

/// A kernel that ends in the middle of its work: cores do the rest.
#[test]
fn a_lost_device() {
    struct Lost(u32);
    impl Kernel for Lost {
        fn name(&self) -> String {
            "lost".to_owned()
        }

        fn most_bytes(&self) -> usize {
            1 << 30
        }

        fn run(&mut self, batch: &Batch) -> Result<Vec<u8>, KernelError> {
            self.0 += 1;
            match self.0 {
                1 => Err(KernelError::Memory("too little memory".to_owned())),
                2 => Ok(vec![0; batch.output + 1]),
                _ => Err(KernelError::Lost("gone".to_owned())),
            }
        }
    }
    watched("lost".to_owned(), || {
        for runs in [0, 1, 2] {
            let pool = work::pool().group(work::group(move || Ok(Box::new(Lane(Lost(runs)))))).build();
            let picture = picture(300, 300, 1);
            let sizes = Sizes { band: 32, tile: 64, ends: 64, strip: 1 };
            let units = units(Mode::Hybrid, 300, 300, sizes);
            let outcome = manager::dither(&pool, &picture, units, Verify::Sample).expect("cores");
            assert!(outcome.bitmap == plain::dither(&picture));
            let failed = pool.summary().stations.iter().any(|station| station.fallbacks > 0);
            assert!(failed, "after {runs} runs");
        }
    });
}
