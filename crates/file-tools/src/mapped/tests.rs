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
    [0, 2 << 20, 16 << 20].into_iter().flat_map(|huge| {
        [(1, true), (3, false), (8, true)].map(|(threads, reserve)| Shape { reserve, ..Shape::of(threads, huge) })
    })
}

#[test]
fn texts_of_all_lengths_arrive() {
    let lens =
        [0, 1, 4095, 4096, 4097, 65_537, 262_143, 262_144, 262_145, 899_981, LONG_TEXT, LONG_TEXT + 1, 9_000_001, 17];
    for (round, shape) in shapes().enumerate() {
        let file = in_memory();
        let mut expected = text(99, [0, 1, 4096, 12_345_678, 2 << 20][round % 5]);
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

#[test]
fn a_file_of_about_the_expected_length() {
    for (expected, texts) in [(0, 3), (1, 0), (40 << 20, 8), (40 << 20, 2), (3 << 20, 8), (1 << 30, 1)] {
        let file = in_memory();
        let mut out = MappedFile::expecting(&file, expected, 3).unwrap();
        let all: Vec<u8> = (0..texts).flat_map(|number| text(number, 5_000_001)).collect();
        (0..texts).for_each(|number| give(&mut out, text(number, 5_000_001)).unwrap());
        assert_eq!(out.finish().unwrap(), all.len() as u64);
        assert!(content(&file) == all, "{expected}, {texts}");
        let taken = file.metadata().unwrap().blocks() * 512;
        assert_eq!(taken, (all.len() as u64).next_multiple_of(4096), "{expected}, {texts}");
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
    let mut out = MappedFile::with(&file, 0, Shape { put, ..Shape::of(2, 2 << 20) }).unwrap();
    give(&mut out, text(1, LONG_TEXT + 1)).unwrap();
    let mut found = content(&file);
    found.truncate(LONG_TEXT + 1);
    assert!(found == text(1, LONG_TEXT + 1));
}

#[test]
fn holes_take_no_space() {
    for (huge, reserve) in [(0, false), (0, true), (2 << 20, true), (32 << 20, true)] {
        // The last case has more holes than huge pages may have.
        for (texts, gap) in [(20, 5 << 20), (3, 40 << 20), (HOLES + 50, 4096)] {
            let file = in_memory();
            let mut out = MappedFile::with(&file, 0, Shape { reserve, ..Shape::of(2, huge) }).unwrap();
            let mut expected = Vec::new();
            let len = if texts > 100 { 256 << 10 } else { 1 << 20 };
            for number in 0..texts as u64 {
                let mut text = text(number, len);
                text[8192..220 << 10].fill(0);
                expected.extend(&text);
                out.give(text, vec![0..8192, 220 << 10..len]).unwrap();
                out.skip(gap);
                expected.resize(expected.len() + gap as usize, 0);
            }
            assert_eq!(out.finish().unwrap(), expected.len() as u64);
            assert!(content(&file) == expected, "{huge} {texts}");
            let data = texts as u64 * (8192 + len as u64 - (220 << 10));
            assert_eq!(file.metadata().unwrap().blocks() * 512, data, "{huge} {texts}");
        }
    }
}

/// The promise on which this rests: what cannot be had is an error, and no SIGBUS.
#[test]
fn a_page_that_is_not_there_is_no_signal() {
    let file = in_memory();
    file.set_len(2 << 20).unwrap();
    let window = Window::map(&file, 0, 2 << 20).unwrap();
    assert!(window.copy(0, &[1; 5000]) && window.copy((2 << 20) - 5000, &[2; 5000]));
    assert!(!window.copy((2 << 20) - 4999, &[2; 5000]) && !window.copy(2 << 20, &[2; 1]));
    file.set_len(4096).unwrap();
    assert!(!window.copy(4096, &[3; 5000]));
    assert_eq!(content(&file), [1; 4096]);
}

/// Huge pages take the place of what is there. They are looked for in what the system says of this process's mappings.
#[test]
fn huge_pages() {
    static HUGE: AtomicU64 = AtomicU64::new(0);
    if !alone("huge_pages") {
        return;
    }
    let file = in_memory();
    file.set_len(6 << 20).unwrap();
    let mut window = Window::map(&file, 2 << 20, 4 << 20).unwrap();
    assert!(window.copy(2 << 20, &[1; 5000]));
    if !window.make_huge() {
        println!("skipped: the system makes no huge pages");
        return;
    }
    assert!(window.copy((6 << 20) - 5000, &[2; 5000]));
    assert_eq!(file.metadata().unwrap().blocks() * 512, 4 << 20);
    let mut expected = vec![0; 6 << 20];
    expected[2 << 20..][..5000].fill(1);
    expected[(6 << 20) - 5000..].fill(2);
    assert!(content(&file) == expected);
    drop(window);

    let put = |piece: &Piece, file: &File| {
        assert!(piece.window.as_ref().unwrap().is_made());
        HUGE.fetch_max(kilobytes("/proc/self/smaps_rollup", "ShmemPmdMapped:"), Ordering::Relaxed);
        piece.put(file)
    };
    let file = in_memory();
    let mut out = MappedFile::with(&file, 0, Shape { put, ..Shape::of(2, 4 << 20) }).unwrap();
    (0..150).for_each(|number| give(&mut out, text(number, 700_000)).unwrap());
    assert_eq!(out.finish().unwrap(), 105_000_000);
    assert_eq!(file.metadata().unwrap().blocks() * 512, 105_000_000u64.next_multiple_of(4096));
    // Two windows of each thread that makes them, the one in use, and one whose last pieces are being written.
    let most = HUGE.load(Ordering::Relaxed);
    assert!((4 << 10..=32 << 10).contains(&most), "{most} kB");
}

/// A number of kilobytes in a file of the system.
fn kilobytes(file: &str, name: &str) -> u64 {
    let all = fs::read_to_string(file).unwrap();
    let found = all.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB"));
    found.unwrap().trim().parse().unwrap()
}

#[test]
fn the_first_error_is_reported() {
    let fails = |piece: &Piece, file: &File| match piece.at >= 3 << 20 {
        true => Err(io::ErrorKind::QuotaExceeded.into()),
        false => piece.put(file),
    };
    for texts in [1, 20] {
        let mut out = MappedFile::with(&in_memory(), 0, Shape { put: fails, ..Shape::of(2, 2 << 20) }).unwrap();
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
            let mut out =
                MappedFile::with(&in_memory(), 0, Shape { put: panics, ..Shape::of(threads, 2 << 20) }).unwrap();
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
    let mut out = MappedFile::with(&in_memory(), 0, Shape { put: slow, ..Shape::of(2, 2 << 20) }).unwrap();
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
        for shape in shapes().step_by(2) {
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
            let mut out = MappedFile::with(&file, 0, Shape::of(2, 2 << 20)).unwrap();
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
    let mut out = MappedFile::start(&in_memory(), 0, 2, 2 << 20).unwrap();
    (0..10).for_each(|number| give(&mut out, text(number, 900_000)).unwrap());
    assert_eq!(out.finish().unwrap(), 9_000_000);
}

#[test]
fn two_windows_of_small_pages_are_mapped_at_most() {
    static MOST: AtomicU64 = AtomicU64::new(0);
    if !alone("two_windows_of_small_pages_are_mapped_at_most") {
        return;
    }
    let put = |piece: &Piece, file: &File| {
        let done = piece.put(file);
        MOST.fetch_max(kilobytes("/proc/self/status", "RssShmem:"), Ordering::Relaxed);
        done
    };
    let mut out = MappedFile::with(&in_memory(), 0, Shape { put, ..Shape::of(4, 0) }).unwrap();
    (0..100).for_each(|number| give(&mut out, text(number, 1 << 20)).unwrap());
    out.finish().unwrap();
    let most = MOST.load(Ordering::Relaxed);
    assert!((4 << 10..=16 << 10).contains(&most), "{most} kB");
}
