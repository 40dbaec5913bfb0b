//! stdin, stdout and pipes, beyond the rows of `behaviours::pipes`.

use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::place::{Place, compressed, decompressed, text};
use crate::skip::{Need, skip};

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
fn endless_input_streams_through() {
    let place = Place::new();
    place.shell("yes | head -c 20M | hybz | hybz -d | cmp - <(yes | head -c 20M)").silent(0);
}

/// Files of /proc say that they are empty.
#[test]
fn sizes_are_not_believed() {
    let Ok(status) = std::fs::read("/proc/version") else { return skip(Need::System, "no /proc") };
    let place = Place::new();
    assert_eq!(decompressed(&place.hybz(&["-c", "/proc/version"]).silent(0).stdout), status);
}
