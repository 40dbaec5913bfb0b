//! Table 1E: stdin, stdout, terminals and pipes.

use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::place::{Place, compressed, decompressed, installed, installed_for_part, same_as_bzip2, text};
use crate::skip::{Need, skip};

#[test]
fn a_filter_like_bzip2() {
    let plain = text(250_000);
    let packed = compressed(&plain);
    for (args, input) in [
        (&[][..], &plain[..]),
        (&["-c"], &plain),
        (&["-1"], &plain),
        (&["-1v"], b"hello\n"),
        (&[], b""),
        (&["-5"], b""),
        (&["-v"], b""),
        (&["-d"], &packed),
        (&["-dc"], &packed),
        (&["-dv"], &packed),
        (&["-t"], &packed),
        (&["-tv"], &packed),
        (&["-"], b"hello\n"),
        (&["-c", "-"], b"hello\n"),
        (&["-dc", "-"], &packed),
    ] {
        same_as_bzip2("bzip2", args, input, |_| {});
    }
}

/// bzip2 ignores `-` when there are other files.
#[test]
fn a_dash_among_files_is_stdin_in_its_place() {
    let place = Place::with(&[("a", b"first "), ("b", b" third")]);
    let run = place.hybz_with_input(&["-c", "a", "-", "b"], b"second").silent(0);
    assert_eq!(decompressed(&run.stdout), b"first second third");
    let run = place.hybz_with_input(&["-v", "a", "-"], b"second");
    assert_eq!((run.code, decompressed(&run.stdout)), (0, b"second".to_vec()));
    assert_eq!(place.names(), ["a.bz2", "b"]);
}

#[test]
fn several_files_to_stdout() {
    same_as_bzip2("bzip2", &["-c", "b", "a", "b"], b"", |place| {
        place.put("a", &text(120_000));
        place.put("b", b"hello\n");
    });
}

#[test]
fn no_compressed_data_to_or_from_a_terminal() {
    if !installed("script") {
        return;
    }
    let place = Place::with(&[("a", b"hello\n"), ("a.bz2", &compressed(b"hello\n"))]);
    let on_terminal = |line: &str| place.shell(&format!("script -qec '{line}' /dev/null < /dev/null; echo $?"));
    for line in ["hybz -c a", "hybz -cf a", "hybz", "hybz -c < a"] {
        let out = on_terminal(line).out();
        let expected =
            "hybz: I won't write compressed data to a terminal.\r\nhybz: For help, type: `hybz --help'.\r\n1\n";
        assert_eq!(out, expected, "{line}");
    }
    for line in ["hybz -d", "hybz -t", "hybz -dc", "hybz -df -"] {
        let out = on_terminal(line).out();
        assert!(out.starts_with("hybz: I won't read compressed data from a terminal.\r\n"), "{line}: {out}");
    }
    assert!(on_terminal("hybz -dc a.bz2").out().starts_with("hello\r\n"));
}

/// The bar appears on a terminal after a second, also when stdout is a pipe, and -q forbids it.
#[test]
fn progress_on_a_terminal() {
    if !installed("script") {
        return;
    }
    let place = Place::new();
    let slow =
        "(head -c 400000 /dev/zero; sleep 1.1; head -c 30000000 /dev/zero; sleep 0.2; head -c 30000000 /dev/zero)";
    let shown = |flags: &str| {
        let line = format!("{slow} | hybz {flags} | cat > /dev/null");
        place.shell(&format!("script -qec '{line}' /dev/null < /dev/null")).out()
    };
    assert!(shown("-1").contains("(stdin)"));
    assert_eq!(shown("-1q"), "");
    assert_eq!(shown("-1 --no-progress"), "");
}

#[test]
fn closed_descriptors() {
    let place = Place::with(&[("a", b"hello\n"), ("a.bz2", &compressed(b"hello\n"))]);
    let run = place.shell("hybz <&-").says(1, "hybz: Can't read input file (stdin): Bad file descriptor.\n");
    assert!(run.stdout.is_empty(), "bzip2 writes an empty stream");
    place.shell("hybz -d <&-").says(1, "hybz: Can't read input file (stdin): Bad file descriptor.\n");
    place.shell("hybz -c a >&-").says(1, "hybz: Can't write output file (stdout): Bad file descriptor.\n");
    place.shell("hybz -dc a.bz2 >&-").says(1, "hybz: Can't write output file (stdout): Bad file descriptor.\n");
    place.shell("hybz -t a.bz2 <&- >&-").silent(0);
    place.shell("hybz -kf a <&- >&- 2>&-").silent(0);
}

#[test]
fn stdout_that_is_full() {
    let place = Place::with(&[("a", b"hello\n"), ("big", &text(2_000_000)), ("a.bz2", &compressed(b"hello\n"))]);
    // bzip2 exits with 0 after trailing garbage.
    place.put("garbage.bz2", &[&compressed(b"hello\n")[..], b"garbage"].concat());
    for line in ["hybz -c a", "hybz -c1 big", "hybz < big", "hybz -dc a.bz2", "hybz -dc garbage.bz2", "hybz -dcf a"] {
        let message = "hybz: Can't write output file (stdout): No space left on device.";
        place.shell(&format!("{line} > /dev/full")).says(1, message);
    }
}

/// A pipe that takes a long text is made larger, where the system lets us; one that takes a short text is left alone.
#[test]
#[cfg(target_os = "linux")]
fn a_long_text_gets_a_larger_pipe() {
    const USUAL: usize = 64 << 10;
    let place = Place::with(&[("long.bz2", &compressed(&vec![0; 9 << 20])), ("short.bz2", &compressed(b"hello"))]);
    for (file, larger) in [("short.bz2", false), ("long.bz2", true)] {
        let (mut reader, writer) = std::io::pipe().unwrap();
        if rustix::pipe::fcntl_getpipe_size(&reader).ok() != Some(USUAL)
            || std::fs::read_to_string("/proc/sys/fs/pipe-max-size").is_ok_and(|max| max.trim().len() < 6)
        {
            return skip(Need::System, "pipes do not have 64 KiB, or may not have more");
        }
        let mut child = place.called("hybz").args(["-dc", file]).stdout(writer).spawn().unwrap();
        std::io::copy(&mut reader, &mut std::io::sink()).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!(rustix::pipe::fcntl_getpipe_size(&reader).unwrap() > USUAL, larger, "{file}");
    }
}

/// The reader goes away: no message, and the process ends as `bzip2` would.
#[test]
fn a_reader_that_closes_early() {
    let place = Place::with(&[("a", &text(3_000_000)), ("a.bz2", &compressed(&text(3_000_000)))]);
    for line in ["hybz -c1 a", "hybz -1 < a", "hybz -dc a.bz2", "hybz -d < a.bz2", "hybz -dcf a", "yes | hybz -1"] {
        let run = place.shell(&format!("set -o pipefail; {line} | head -c 5 > /dev/null; exit ${{PIPESTATUS[-2]}}"));
        assert_eq!((run.code, run.stderr.as_str()), (141, ""), "{line}");
        let run = place.shell(&format!(
            "trap '' PIPE; {line} 2>err | head -c 5 > /dev/null; code=${{PIPESTATUS[-2]}}; cat err; exit $code"
        ));
        let text = run.out().replace("yes: standard output: Broken pipe\n", "");
        assert_eq!((run.code, text.as_str()), (1, ""), "{line}, SIGPIPE ignored");
    }
}

/// An error ends the call, although the writer of the input neither writes more nor closes.
#[test]
fn no_waiting_for_a_silent_writer() {
    let bytes = text(3_000_000);
    let mut broken = compressed(&bytes);
    broken[200_000] ^= 1;
    let place = Place::with(&[("a", &bytes), ("a.bz2", &compressed(&bytes)), ("broken.bz2", &broken)]);
    for (file, line, code) in [
        ("a", "timeout 10 hybz -1 < fifo; echo $? >&2", 141),
        ("a.bz2", "timeout 10 hybz -d < fifo; echo $? >&2", 141),
        ("a", "timeout 10 hybz -1 < fifo > /dev/full; echo $? >&2", 1),
        ("broken.bz2", "timeout 10 hybz -d < fifo > /dev/null; echo $? >&2", 2),
    ] {
        let run = place.shell(&format!(
            "mkfifo fifo; exec 3<>fifo; cat {file} >&3 & ({line}) | head -c 5 > /dev/null; kill %1; rm fifo"
        ));
        assert!(run.stderr.contains(&format!("{code}\n")), "{line}: {run:?}");
    }
}

/// All text of a complete stream comes out, although the pipe stays open.
#[test]
fn all_of_a_stream_before_the_pipe_closes() {
    let place = Place::new();
    for args in [&["-d"][..], &["-dp1"]] {
        let mut child = place.called("hybz").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, received) = mpsc::channel();
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(n @ 1..) = stdout.read(&mut buffer) {
                let _ = sender.send(buffer[..n].to_vec());
            }
        });
        for len in [5, 100_000, 2_000_000, 6] {
            let bytes = text(len);
            stdin.write_all(&compressed(&bytes)).unwrap();
            let mut out = Vec::new();
            while out.len() < len {
                out.extend(received.recv_timeout(Duration::from_secs(20)).expect("it does not wait for more"));
            }
            assert!(out == bytes, "{args:?}, {len} bytes");
        }
        drop(stdin);
        assert!(child.wait().unwrap().success());
    }
}

/// A stream's text comes out whatever follows the stream, even if that is incomplete.
#[test]
fn answers_whatever_follows() {
    let place = Place::with(&[("a", b"question\n")]);
    let large = place.hybz(&["-c", "--format=hbz", "a"]).silent(0).stdout;
    let small = compressed(b"question\n");
    let next = compressed(&text(1000));
    let mut rounds = vec![vec![small.clone(), large.clone(), large.clone(), small.clone(), large]];
    for cut in [1, 4, 6, 10, 14, 30] {
        rounds.push(vec![[&small[..], &next[..cut]].concat()]);
    }
    rounds.push(vec![[&small[..], &b"garbage".repeat(200)].concat()]);
    for args in [&["-dc"][..], &["-dcs"]] {
        for round in &rounds {
            let mut called = place.called("hybz");
            let piped = called.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut child = piped.spawn().unwrap();
            let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
            let (sender, received) = mpsc::channel();
            thread::spawn(move || {
                let mut answer = [0; 9];
                while stdout.read_exact(&mut answer).is_ok() && sender.send(answer).is_ok() {}
            });
            for question in round {
                stdin.write_all(question).unwrap();
                let answer = received.recv_timeout(Duration::from_secs(20));
                assert_eq!(&answer.expect("it does not wait for more"), b"question\n", "{args:?}");
            }
            drop(stdin);
            child.wait().unwrap();
        }
    }
}

#[test]
fn slow_and_nonblocking_pipes() {
    let place = Place::new();
    let run = place.shell("for word in h e l l o; do echo -n $word; sleep 0.02; done | hybz | hybz -d").silent(0);
    assert_eq!(run.out(), "hello");
    if !installed_for_part("python3") {
        return;
    }
    // Both ends of both pipes are nonblocking, and both are slow.
    let script = "
import os, subprocess, time, threading
r, w = os.pipe(); r2, w2 = os.pipe()
for fd in (r, w2): os.set_blocking(fd, False)
p = subprocess.Popen(['hybz', '-1'], stdin=r, stdout=w2)
os.close(r); os.close(w2)
data = os.urandom(700000)
def feed():
    for at in range(0, len(data), 70000):
        os.write(w, data[at:at+70000]); time.sleep(0.02)
    os.close(w)
threading.Thread(target=feed).start()
time.sleep(0.3)
packed = b''
while True:
    part = os.read(r2, 50000)
    if not part: break
    packed += part; time.sleep(0.005)
import bz2
assert bz2.decompress(packed) == data
assert p.wait() == 0
";
    place.put("nonblocking.py", script.as_bytes());
    place.shell("python3 nonblocking.py").silent(0);
}

/// `-dcf` copies files that are not bzip2, even from a pipe, where bzip2 loses the first 5,000 bytes.
#[test]
fn what_is_not_bzip2_passes_through() {
    let plain = text(8893);
    let place = Place::with(&[("plain", &plain), ("packed.bz2", &compressed(&plain))]);
    for len in [1, 2, 3, 4, 5, 8893] {
        let run = place.hybz_with_input(&["-dcf"], &plain[..len]).silent(0);
        assert!(run.stdout == plain[..len], "{len} bytes");
        let run = place.hybz_with_input(&["-df"], &plain[..len]).silent(0);
        assert!(run.stdout == plain[..len], "{len} bytes");
    }
    let run = place.hybz(&["-dcf", "plain", "packed.bz2", "plain"]).silent(0);
    assert!(run.stdout == [&plain[..], &plain, &plain].concat());
    for bytes in [&b"BZx"[..], b"BZh0", b"a", &compressed(&plain)] {
        same_as_bzip2("bzip2", &["-dcfv", "file"], b"", |place| place.put("file", bytes));
    }
    // The beginning of a header: a stream that was cut, for bzip2 and for us.
    for cut in ["", "B", "BZ", "BZh", "BZh9"] {
        place.hybz_with_input(&["-dcf"], cut.as_bytes()).says(2, "ends unexpectedly");
    }
    // Into a file nothing is copied: bzip2 would copy, rename and delete.
    place.hybz(&["-df", "plain"]).says(2, "hybz: plain is not a bzip2 file.");
    assert_eq!(place.names(), ["packed.bz2", "plain"]);
}

/// A file that would be read for ever.
#[test]
fn stdout_is_no_input() {
    let place = Place::with(&[("a", b"hello\n")]);
    place.shell("hybz -c a >> a").says(1, "hybz: Input file a is the output file.");
    place.shell("hybz < a >> a").says(1, "hybz: Input file (stdin) is the output file.");
    assert_eq!(place.get("a"), b"hello\n");
}

#[test]
fn endless_input_streams_through() {
    let place = Place::new();
    place.shell("yes | head -c 20M | hybz | hybz -d | cmp - <(yes | head -c 20M)").silent(0);
}
