//! `HYBZ_THREADS`: the same bytes and texts with threads; when there are any, and what they do to a process.
//!
//! The library looks at the variable once, so each test begins this program anew with an environment of its own.

#![allow(unsafe_code)]

#[allow(dead_code)]
#[path = "differential/library.rs"]
mod library;
#[path = "threads/moved.rs"]
mod moved;

use hybz_libbz2 as _;
use hybz_testkit::fork::{in_child, run_tests};
use hybz_testkit::shapes::{Rng, shape};
use hybz_testkit::skip::{Need, skip_named};
use library::{Library, Session, Sizes, decode, ours, theirs};
use std::ffi::{CString, c_int, c_uint};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

const ROLE: &str = "HYBZ_LIBBZ2_ROLE";

/// A name, the environment of the process, and what it does.
type Role = (&'static str, &'static [(&'static str, &'static str)], fn());

const ROLES: &[Role] = &[
    ("the_same_with_3_threads", &[("HYBZ_THREADS", "3")], the_same),
    ("the_same_with_all_threads", &[("HYBZ_THREADS", "0")], the_same),
    ("the_same_without_a_thread_to_be_had", &[("HYBZ_THREADS", "4"), ("RUST_MIN_STACK", "70368744177664")], || {
        the_same();
        assert_eq!(threads(), 1);
    }),
    ("none_by_default", &[], || none(1)),
    ("none_if_it_says_1", &[("HYBZ_THREADS", "1")], || none(1)),
    ("none_if_it_is_no_number", &[("HYBZ_THREADS", "many")], || none(1)),
    ("they_come_with_the_second_block_and_go", &[("HYBZ_THREADS", "3")], come_and_go),
    ("signals_do_not_reach_them", &[("HYBZ_THREADS", "2")], signals),
    ("streams_go_on_in_the_child_of_a_fork", &[("HYBZ_THREADS", "3")], forks),
    ("files_are_read_ahead", &[("HYBZ_THREADS", "3")], files),
    ("a_pipe_does_not_wait_for_more", &[("HYBZ_THREADS", "3")], pipe),
    ("coding_campaign", &[("HYBZ_THREADS", "2")], || calls_the_same(calls())),
    ("damaged_streams", &[("HYBZ_THREADS", "3")], damaged),
    ("inputs_change_with_3_threads", &[("HYBZ_THREADS", "3")], moved::inputs_change),
    ("headers_in_two_calls_with_2_threads", &[("HYBZ_THREADS", "2")], moved::headers_in_two_calls),
    ("inputs_change_without_threads", &[], moved::inputs_change),
];

/// A test.
type Act = Box<dyn Fn()>;

fn main() {
    if let Ok(role) = std::env::var(ROLE) {
        let (_, _, act) = ROLES.iter().find(|(name, ..)| *name == role).expect("a role");
        return act();
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let chosen = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| name.contains(wanted.as_str()));
    let mut tests: Vec<(&str, Act)> = Vec::new();
    for (name, environment, _) in ROLES.iter().filter(|(name, ..)| chosen(name)) {
        tests.push((name, Box::new(move || begin(Command::new(std::env::current_exe().unwrap()), name, environment))));
    }
    if chosen("not_in_programs_with_other_rights") {
        tests.push(("not_in_programs_with_other_rights", Box::new(other_rights)));
    }
    run_tests(&tests);
}

/// Begins this program anew.
fn begin(mut program: Command, role: &str, environment: &[(&str, &str)]) {
    program.env_remove("HYBZ_THREADS").env(ROLE, role).envs(environment.iter().copied());
    let status = program.status().unwrap();
    assert!(status.success(), "{role}: {status}");
}

/// How many threads the process has.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

fn text(rng: &mut Rng, len: usize) -> Vec<u8> {
    let name = ["words", "random", "short_runs", "records", "zeros"][rng.below(5)];
    (shape(name).make)(len)
}

/// Codes a text in pieces, into small buffers, with flushes; notes how many bytes were there after each flush.
struct Coding<'a> {
    session: Session<'a>,
    text: &'a [u8],
}

impl<'a> Coding<'a> {
    fn new(library: &'a Library, text: &'a [u8], level: c_int) -> Self {
        Coding { session: Session::coder(library, level), text }
    }

    /// Gives `len` bytes of the text, until they are taken (0), flushed (1) or the stream ends (2).
    fn finish(&mut self, action: c_int, len: usize, rng: &mut Rng) {
        let (mut piece, rest) = self.text.split_at(len.min(self.text.len()));
        self.text = rest;
        while action > 0 || !piece.is_empty() {
            let (code, taken) = self.session.call(action, piece, 1 + rng.below(300_000));
            piece = &piece[taken..];
            match (action, code) {
                (1, 1) | (2, 4) => break,
                (0, 1) | (1, 2) | (2, 3) => {}
                other => panic!("{other:?}"),
            }
        }
        assert!(piece.is_empty());
    }

    /// Gives all of the text in pieces of these lengths, one in `flushes` with a flush. Returns where flushes ended.
    fn pieces(&mut self, lens: &[usize], flushes: usize, plan: &mut Rng, rooms: &mut Rng) -> Vec<usize> {
        let mut ends = Vec::new();
        while !self.text.is_empty() {
            let len = lens[plan.below(lens.len())];
            let action = c_int::from(plan.below(flushes) == 0);
            self.finish(action, len, rooms);
            if action == 1 {
                ends.push(self.session.out.len());
            }
        }
        ends
    }

    /// Gives the rest of the text. Returns all bytes.
    fn end(&mut self, rng: &mut Rng) -> Vec<u8> {
        self.finish(2, usize::MAX, rng);
        std::mem::take(&mut self.session.out)
    }
}

/// The bytes of a text with flushes that depend on `seed`, where each flush ended, and the number of calls.
fn code(library: &Library, text: &[u8], seed: u64) -> (Vec<u8>, Vec<usize>, usize) {
    let (mut plan, mut rooms) = (Rng(seed), Rng(seed + 1));
    let level = 1 + plan.below(9) as c_int;
    // Texts of many blocks are not given byte by byte.
    let kinds: [(&[usize], usize); 3] =
        [(&[1, 1000, 8192, 100_000, 2_000_000], 12), (&[0, 8192, 7, 100_000], 3000), (&[1, 20, 300, 1000], 12)];
    let (pieces, flushes_of) = kinds[plan.below(if text.len() > 1_000_000 { 2 } else { 3 })];
    let mut coding = Coding::new(library, text, level);
    let mut flushes = coding.pieces(pieces, flushes_of, &mut plan, &mut rooms);
    if plan.below(3) == 0 {
        coding.finish(1, 0, &mut rooms);
        flushes.push(coding.session.out.len());
    }
    (coding.end(&mut rooms), flushes, coding.session.calls)
}

const PIECES: [&[usize]; 5] = [&[usize::MAX], &[8192], &[300_000, 1], &[70_000, 0, 2_000_000], &[1_000_000]];
const ROOMS: [&[usize]; 4] = [&[8_000_000], &[65_536], &[0, 1, 300_000], &[1_000_000, 7]];

const WHOLE: Sizes = Sizes { pieces: PIECES[0], rooms: ROOMS[0], seed: 1 };

fn the_same() {
    calls_the_same(0);
}

/// How many calls a campaign compares.
fn calls() -> usize {
    std::env::var("HYBZ_LIBBZ2_CALLS").map_or(5_000, |calls| calls.parse().unwrap())
}

/// At least ten texts and at least `left` calls: the same bytes, and flushes that end at the same offsets. (Call by
/// call it is not the same: the bytes of a full block come in a later call.) And the same text back.
fn calls_the_same(mut left: usize) {
    let Some(theirs) = theirs() else {
        return skip_named(Need::Peers, "threads::the_same", "the system has no libbz2.so.1.0");
    };
    let ours = ours();
    let seed: u64 = std::env::var("HYBZ_LIBBZ2_SEED").map_or(0, |seed| seed.parse().unwrap());
    let mut rng = Rng(5 + (seed << 8));
    for case in 0.. {
        let len = [0, 10, 250_000, 1_500_000, 4_000_000][case % 5];
        let (text, plan) = (text(&mut rng, len), rng.below(1 << 30) as u64);
        let (made, flushes, calls) = code(&ours, &text, plan);
        let (wanted, wanted_flushes, _) = code(&theirs, &text, plan);
        let what = format!("case {case}, plan {plan}, {len} bytes");
        assert_eq!(flushes, wanted_flushes, "{what}: where flushes ended");
        assert!(made == wanted, "{what}: bytes");
        let mut coded = made;
        let end = coded.len();
        coded.extend(b"BZh9 and what follows");
        let sizes = Sizes { pieces: PIECES[rng.below(5)], rooms: ROOMS[rng.below(4)], seed: case as u64 };
        let back = decode(&ours, &coded, 0, sizes);
        assert_eq!((back.code, back.taken), (4, end), "{what}, {sizes:?}");
        assert!(back.text == text, "{what}, {sizes:?}: text");
        left = left.saturating_sub(calls);
        if left == 0 && case >= 9 {
            return;
        }
    }
}

/// After a large text was coded and decoded, the process has `wanted` threads.
fn none(wanted: usize) {
    let ours = ours();
    let text = (shape("words").make)(3_000_000);
    let (coded, ..) = code(&ours, &text, 3);
    assert!(decode(&ours, &coded, 0, WHOLE).text == text);
    assert_eq!(threads(), wanted);
}

fn come_and_go() {
    let ours = ours();
    let text = (shape("words").make)(2_000_000);
    let mut rng = Rng(1);
    let mut coding = Coding::new(&ours, &text, 1);
    coding.finish(0, 150_000, &mut rng);
    assert_eq!(threads(), 1, "with one block");
    coding.finish(0, 1_200_000, &mut rng);
    assert!((2..=4).contains(&threads()), "{} threads with many blocks", threads());
    let names: Vec<String> = std::fs::read_dir("/proc/self/task")
        .unwrap()
        .map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).unwrap())
        .collect();
    assert!(names.iter().any(|name| name.trim() == "hybz-libbz2"), "{names:?}");
    coding.finish(2, 0, &mut rng);
    let begin = Instant::now();
    while threads() > 1 {
        assert!(begin.elapsed() < Duration::from_secs(20), "{} threads are left", threads());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(begin.elapsed() > Duration::from_millis(500), "they go at once");
    // New ones start when there is work again.
    let (coded, ..) = code(&ours, &text, 4);
    assert!(decode(&ours, &coded, 0, WHOLE).text == text);
}

fn signals() {
    let ours = ours();
    let text = (shape("words").make)(1_000_000);
    let mut coding = Coding::new(&ours, &text, 1);
    coding.finish(0, 1_000_000, &mut Rng(1));
    let mut seen = 0;
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned();
        let blocked = u64::from_str_radix(&field("SigBlk:"), 16).unwrap();
        if field("Name:") == "hybz-libbz2" {
            // SIGINT, SIGTERM, SIGALRM and SIGCHLD.
            let wanted = [libc::SIGINT, libc::SIGTERM, libc::SIGALRM, libc::SIGCHLD];
            assert!(wanted.iter().all(|signal| blocked & 1 << (signal - 1) != 0), "{blocked:x}");
            seen += 1;
        } else {
            assert_eq!(blocked, 0, "the caller's own thread");
        }
    }
    assert!(seen > 0);
}

fn forks() {
    let ours = ours();
    let text = (shape("words").make)(3_000_000);
    let wanted = Coding::new(&ours, &text, 2).end(&mut Rng(1));
    for round in 0..6 {
        let mut coding = Coding::new(&ours, &text, 2);
        coding.finish(0, 400_000 + 300_000 * round, &mut Rng(2));
        let check = |coding: &mut Coding<'_>| {
            coding.finish(0, 500_000, &mut Rng(3));
            assert!(coding.end(&mut Rng(4)) == wanted, "round {round}");
        };
        // In a child, in a child of a child, and then in the parent.
        in_child("coding", || {
            in_child("coding again", || check(&mut coding));
            check(&mut coding);
        });
        check(&mut coding);
    }
    let (mut session, mut at) = (Session::decoder(&ours, 0), 0);
    let mut go_on = |len: usize| {
        let (code, taken) = session.call(0, &wanted[at..], len - session.out.len());
        at += taken;
        (code, text.starts_with(&session.out))
    };
    assert_eq!(go_on(100_000), (0, true));
    in_child("decoding", || {
        assert_eq!(go_on(1_000_000), (0, true));
        in_child("decoding again", || assert_eq!(go_on(text.len()), (4, true)));
        assert_eq!(go_on(text.len()), (4, true));
    });
    assert_eq!(go_on(2_000_000), (0, true));
    assert_eq!(go_on(text.len()), (4, true));
}

/// Reads all of a file by the short functions, `len` bytes at a time: the text and the last result.
fn read_all(library: &Library, file: *mut std::ffi::c_void, len: usize) -> (Vec<u8>, c_int) {
    let (mut text, mut room) = (Vec::new(), vec![0u8; len]);
    loop {
        // SAFETY: `room` has the length that is passed with it.
        let count = unsafe { (library.BZ2_bzread)(file, room.as_mut_ptr().cast(), len as c_int) };
        if count <= 0 {
            return (text, count);
        }
        text.extend_from_slice(&room[..count as usize]);
    }
}

fn files() {
    let ours = ours();
    let path = std::env::temp_dir().join(format!("hybz-libbz2-threads-{}", std::process::id()));
    let name = CString::new(path.to_str().unwrap()).unwrap();
    let text = (shape("words").make)(3_500_000);
    // SAFETY: the strings and buffers live as long as the calls.
    unsafe {
        let file = (ours.BZ2_bzopen)(name.as_ptr(), c"w2".as_ptr());
        for piece in text.chunks(10_000) {
            assert_eq!((ours.BZ2_bzwrite)(file, piece.as_ptr().cast_mut().cast(), piece.len() as c_int), 10_000);
        }
        (ours.BZ2_bzclose)(file);
        let coded = std::fs::read(&path).unwrap();
        let mut wanted = vec![0; coded.len() + 100];
        let mut len = wanted.len() as c_uint;
        let source = text.as_ptr().cast_mut().cast();
        let to = wanted.as_mut_ptr().cast();
        assert_eq!((ours.BZ2_bzBuffToBuffCompress)(to, &mut len, source, text.len() as c_uint, 2, 0, 0), 0);
        assert!(wanted[..len as usize] == coded, "a file and a buffer");
        for len in [4096, 1_000_000] {
            let file = (ours.BZ2_bzopen)(name.as_ptr(), c"r".as_ptr());
            assert!(read_all(&ours, file, len) == (text.clone(), 0));
            (ours.BZ2_bzclose)(file);
        }
        // Cut, and damaged: an error, after whole blocks.
        std::fs::write(&path, &coded[..coded.len() - 1000]).unwrap();
        let file = (ours.BZ2_bzopen)(name.as_ptr(), c"r".as_ptr());
        let (begin, code) = read_all(&ours, file, 4096);
        assert_eq!(code, -1);
        assert!(begin.len() > 3_000_000 && text.starts_with(&begin), "{}", begin.len());
        (ours.BZ2_bzclose)(file);
        let mut bad = coded.clone();
        bad[coded.len() / 2] ^= 1;
        std::fs::write(&path, &bad).unwrap();
        let file = (ours.BZ2_bzopen)(name.as_ptr(), c"r".as_ptr());
        assert_eq!(read_all(&ours, file, 4096).1, -1);
        (ours.BZ2_bzclose)(file);
    }
    std::fs::remove_file(&path).unwrap();
}

/// A flushed block is there for the reader although the pipe stays open.
fn pipe() {
    let ours = ours();
    let text = (shape("words").make)(45_000);
    let mut ends = [0; 2];
    // SAFETY: the buffers live as long as the calls.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        let mut coding = Coding::new(&ours, &text, 1);
        let file = (ours.BZ2_bzdopen)(ends[0], c"r".as_ptr());
        libc::alarm(60);
        for _ in 0..5 {
            let before = coding.session.out.len();
            coding.finish(0, 9_000, &mut Rng(1));
            coding.finish(1, 0, &mut Rng(1));
            // The last codes of a flush are held back, as in bzip2's library: an empty flush does not bring them.
            let bytes = &coding.session.out[before..];
            assert_eq!(libc::write(ends[1], bytes.as_ptr().cast(), bytes.len()), bytes.len() as isize);
        }
        let mut room = vec![0u8; 4 * 9_000];
        let count = (ours.BZ2_bzread)(file, room.as_mut_ptr().cast(), room.len() as c_int);
        assert_eq!(count as usize, room.len());
        assert!(text.starts_with(&room));
        (ours.BZ2_bzclose)(file);
        libc::close(ends[1]);
    }
}

/// The same text and code as from C's library.
fn damaged() {
    let Some(theirs) = theirs() else {
        return skip_named(Need::Peers, "threads::damaged", "the system has no libbz2.so.1.0");
    };
    let ours = ours();
    let mut rng = Rng(9);
    for case in 0..60 {
        let text = text(&mut rng, 1_200_000);
        let mut coded = Coding::new(&theirs, &text, 1).end(&mut Rng(1));
        let at = rng.below(coded.len());
        match rng.below(4) {
            0 => coded.truncate(at),
            1 => coded[at] ^= 1 << rng.below(8),
            // A magic inside a block.
            2 => coded[at..].iter_mut().zip([0x31, 0x41, 0x59, 0x26, 0x53, 0x59]).for_each(|(to, from)| *to = from),
            _ => coded[at..].iter_mut().zip([0x17, 0x72, 0x45, 0x38, 0x50, 0x90]).for_each(|(to, from)| *to = from),
        }
        let sizes = Sizes { pieces: PIECES[rng.below(5)], rooms: ROOMS[rng.below(4)], seed: case };
        let (made, wanted) = (decode(&ours, &coded, 0, sizes), decode(&theirs, &coded, 0, sizes));
        assert_eq!((made.code, made.text.len()), (wanted.code, wanted.text.len()), "case {case}, {sizes:?}");
        assert!(made.text == wanted.text, "case {case}, {sizes:?}: text");
    }
}

/// A copy of this program that belongs to somebody else, with the set-user-ID bit.
fn other_rights() {
    let name = "threads::not_in_programs_with_other_rights";
    // SAFETY: no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return skip_named(Need::System, name, "only root can make such a program");
    }
    let path = std::env::temp_dir().join(format!("hybz-libbz2-suid-{}", std::process::id()));
    std::fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
    let c_path = CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the path is a string.
    let made = unsafe { libc::chown(c_path.as_ptr(), 65534, 65534) == 0 && libc::chmod(c_path.as_ptr(), 0o4755) == 0 };
    let mut program = Command::new(&path);
    program.arg0("suid");
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        begin(program, "none_if_it_says_1", &[("HYBZ_THREADS", "3")])
    }));
    std::fs::remove_file(&path).unwrap();
    assert!(made && outcome.is_ok());
}
