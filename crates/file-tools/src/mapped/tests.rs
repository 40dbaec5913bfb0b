use super::*;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicU64;

/// An anonymous file, which the kernel keeps in a tmpfs of its own.
fn in_memory() -> File {
    memfd_create("mapped", MemfdFlags::CLOEXEC).unwrap().into()
}

/// A text of which every 8 bytes differ from those of all other texts.
fn text(number: u64, len: usize) -> Vec<u8> {
    let words = (0..len as u64 / 8 + 1).flat_map(|at| ((number + 1) << 32 | at).to_le_bytes());
    words.take(len).collect()
}

fn give(out: &mut MappedFile, text: Vec<u8>) -> io::Result<()> {
    let whole = 0..text.len();
    out.give(text, vec![whole])
}

fn content(file: &File) -> Vec<u8> {
    let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
    file.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

fn shapes() -> impl Iterator<Item = Shape> {
    let windows = [PIECE, 4 * PIECE, Shape::of(1).window];
    windows.into_iter().flat_map(|window| {
        [(1, true), (3, false), (8, true)].map(|(threads, reserve)| Shape { window, reserve, ..Shape::of(threads) })
    })
}

#[test]
fn texts_of_all_lengths_arrive() {
    let lens = [0, 1, 4095, 4096, 4097, 65_537, 262_143, 262_144, 262_145, 899_981, LONG, LONG + 1, 9_000_001, 17];
    for (round, shape) in shapes().enumerate() {
        let file = in_memory();
        let mut expected = text(99, [0, 1, 4096, 12_345_678][round % 4]);
        file.write_all_at(&expected, 0).unwrap();
        let mut out = MappedFile::with(&file, expected.len() as u64, shape).unwrap();
        for (number, len) in lens.into_iter().enumerate() {
            let text = text(number as u64, len);
            expected.extend(&text);
            if len < 4096 {
                assert_eq!(out.write(&text).unwrap(), len);
            } else {
                give(&mut out, text).unwrap();
            }
            assert_eq!(out.offset(), expected.len() as u64);
        }
        assert_eq!(out.finish().unwrap(), expected.len() as u64);
        assert!(content(&file) == expected, "shape {round}");
    }
}

/// Its memory may be needed for other things.
#[test]
fn a_long_text_is_written_before_give_returns() {
    let file = in_memory();
    let put = |piece: &Piece, file: &File| {
        thread::sleep(std::time::Duration::from_millis(5));
        piece.put(file)
    };
    let mut out = MappedFile::with(&file, 0, Shape { put, ..Shape::of(2) }).unwrap();
    give(&mut out, text(1, LONG + 1)).unwrap();
    let mut found = content(&file);
    found.truncate(LONG + 1);
    assert!(found == text(1, LONG + 1));
}

#[test]
fn holes_take_no_space() {
    for reserve in [false, true] {
        let file = in_memory();
        let mut out = MappedFile::with(&file, 0, Shape { reserve, ..Shape::of(2) }).unwrap();
        let mut expected = Vec::new();
        for number in 0..20 {
            let mut text = text(number, 1 << 20);
            text[8192..900_000 / 4096 * 4096].fill(0);
            expected.extend(&text);
            out.give(text, vec![0..8192, 900_000 / 4096 * 4096..1 << 20]).unwrap();
            out.skip(5 << 20);
            expected.resize(expected.len() + (5 << 20), 0);
        }
        assert_eq!(out.finish().unwrap(), 120 << 20);
        assert!(content(&file) == expected);
        let data = 20 * (8192 + (1 << 20) - 900_000 / 4096 * 4096);
        assert_eq!(file.metadata().unwrap().blocks() * 512, data);
    }
}

/// The promise on which this rests: what cannot be had is an error, and no SIGBUS.
#[test]
fn a_page_that_is_not_there_is_no_signal() {
    let file = in_memory();
    file.set_len(1 << 20).unwrap();
    let window = Window::map(&file, 0, 1 << 20).unwrap();
    assert!(window.copy(0, &[1; 5000]) && window.copy((1 << 20) - 5000, &[2; 5000]));
    assert!(!window.copy((1 << 20) - 4999, &[2; 5000]) && !window.copy(2 << 20, &[2; 1]));
    file.set_len(4096).unwrap();
    assert!(!window.copy(4096, &[3; 5000]));
    assert_eq!(content(&file), [1; 4096]);
}

#[test]
fn the_first_error_is_reported() {
    let fails = |piece: &Piece, file: &File| match piece.at >= 3 << 20 {
        true => Err(io::ErrorKind::QuotaExceeded.into()),
        false => piece.put(file),
    };
    for texts in [1, 20] {
        let mut out = MappedFile::with(&in_memory(), 0, Shape { put: fails, ..Shape::of(2) }).unwrap();
        let given = (0..texts).try_for_each(|number| give(&mut out, text(number, 4 << 20)));
        let found = given.and_then(|()| out.finish());
        assert_eq!(found.unwrap_err().kind(), io::ErrorKind::QuotaExceeded);
    }
}

/// Neither a hang nor a file with a gap.
#[test]
fn a_thread_that_panics_is_an_error() {
    let panics = |piece: &Piece, file: &File| {
        assert!(piece.at < 3 << 20, "on purpose");
        piece.put(file)
    };
    for (texts, len) in [(1, 4 << 20), (50, 1 << 20), (9, 5 << 20)] {
        for threads in [1, 4] {
            let mut out = MappedFile::with(&in_memory(), 0, Shape { put: panics, ..Shape::of(threads) }).unwrap();
            let given = (0..texts).try_for_each(|number| give(&mut out, text(number, len)));
            assert!(given.and_then(|()| out.finish()).is_err());
        }
    }
}

#[test]
fn dropped_it_ends() {
    let slow = |_: &Piece, _: &File| {
        thread::sleep(std::time::Duration::from_millis(20));
        Ok(())
    };
    let mut out = MappedFile::with(&in_memory(), 0, Shape { put: slow, ..Shape::of(2) }).unwrap();
    give(&mut out, text(1, 4 << 20)).unwrap();
    drop(out);
}

#[test]
fn writing_is_slow_if_it_takes_half_of_the_time() {
    let (start, ms) = (Instant::now(), Duration::from_millis);
    let mut pace = Pace::default();
    // Of each 10 ms.
    for (writing, is_slow) in [(6, true), (4, false), (6, true)] {
        for stretch in 0..3 {
            for number in 0..4 {
                let begin = start + ms(1000 * writing + 40 * stretch + 10 * number);
                pace.measured(STRETCH / 4, begin, begin + ms(writing));
                assert_eq!(pace.is_slow(), (stretch > 0 || number == 3) == is_slow);
            }
        }
    }
}

/// A file system in memory with room for some bytes.
struct Small(PathBuf);

impl Small {
    fn new(bytes: u64) -> Option<Small> {
        let path = std::env::temp_dir().join(format!("hybz-mapped-{}-{bytes}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"]).arg(&path).output();
        if mount.is_ok_and(|done| done.status.success()) {
            return Some(Small(path));
        }
        let _ = fs::remove_dir(&path);
        println!("skipped: no tmpfs can be mounted here");
        None
    }

    fn file(&self) -> File {
        let path = self.0.join("file");
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        fs::remove_file(path).unwrap();
        file
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
        let _ = fs::remove_dir(&self.0);
    }
}

/// What fits, fits to the last byte; one more is an error.
#[test]
fn a_full_file_system_is_an_error() {
    for room in [64 << 10, 8 << 20, (8 << 20) + 4096] {
        let Some(small) = Small::new(room) else { return };
        for shape in shapes().step_by(4) {
            for more in [0, 1, 3 << 20] {
                let file = small.file();
                let mut out = MappedFile::with(&file, 0, shape).unwrap();
                let len = (room + more) as usize;
                let all = text(room, len);
                let given = all.chunks(899_981).try_for_each(|text| give(&mut out, text.to_vec()));
                match given.and_then(|()| out.finish()) {
                    Ok(written) => assert!(more == 0 && written == room && content(&file) == all),
                    Err(e) => assert!(more > 0 && e.kind() == io::ErrorKind::StorageFull, "{room} + {more}: {e}"),
                }
            }
        }
    }
}

/// Runs one test in a process of its own, and returns `true` in that.
fn alone(name: &str) -> bool {
    if std::env::var_os("HYBZ_ALONE").is_some() {
        return true;
    }
    let test = format!("mapped::tests::{name}");
    let run = Command::new(std::env::current_exe().unwrap()).args(["--exact", &test]).env("HYBZ_ALONE", "1").output();
    let run = run.unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&run.stderr));
    false
}

#[test]
#[allow(unsafe_code)]
fn a_limit_of_file_lengths_is_an_error() {
    if !alone("a_limit_of_file_lengths_is_an_error") {
        return;
    }
    // SAFETY: no handler is installed. The signal would otherwise end the process, as it does with `write`.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    for limit in [1, 4096, 1 << 20, 8 << 20, (8 << 20) + 1, 20_000_000] {
        let old = getrlimit(Resource::Fsize);
        setrlimit(Resource::Fsize, Rlimit { current: Some(limit), ..old }).unwrap();
        for more in [0, 1, 100_000] {
            let file = in_memory();
            let mut out = MappedFile::with(&file, 0, Shape::of(2)).unwrap();
            let all = text(1, (limit + more) as usize);
            let given = all.chunks(899_981).try_for_each(|text| give(&mut out, text.to_vec()));
            match given.and_then(|()| out.finish()) {
                Ok(written) => assert!(more == 0 && written == limit && content(&file) == all),
                Err(e) => assert!(more > 0 && e.kind() == io::ErrorKind::FileTooLarge, "{limit} + {more}: {e}"),
            }
        }
    }
}

/// SIGXFSZ comes when a byte is past the limit, not sooner.
#[test]
fn no_signal_comes_for_room_that_is_not_used() {
    if !alone("no_signal_comes_for_room_that_is_not_used") {
        return;
    }
    setrlimit(Resource::Fsize, Rlimit { current: Some(9_000_000), ..getrlimit(Resource::Fsize) }).unwrap();
    let mut out = MappedFile::start(&in_memory(), 0, 2).unwrap();
    (0..10).for_each(|number| give(&mut out, text(number, 900_000)).unwrap());
    assert_eq!(out.finish().unwrap(), 9_000_000);
}

#[test]
fn two_windows_are_mapped_at_most() {
    static MOST: AtomicU64 = AtomicU64::new(0);
    if !alone("two_windows_are_mapped_at_most") {
        return;
    }
    let put = |piece: &Piece, file: &File| {
        let done = piece.put(file);
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let shared = status.lines().find_map(|line| line.strip_prefix("RssShmem:")?.trim().strip_suffix(" kB"));
        MOST.fetch_max(shared.unwrap().trim().parse().unwrap(), Ordering::Relaxed);
        done
    };
    let mut out = MappedFile::with(&in_memory(), 0, Shape { put, ..Shape::of(4) }).unwrap();
    (0..100).for_each(|number| give(&mut out, text(number, 1 << 20)).unwrap());
    out.finish().unwrap();
    let most = MOST.load(Ordering::Relaxed);
    assert!((4 << 10..=16 << 10).contains(&most), "{most} kB");
}
