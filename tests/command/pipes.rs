//! stdin, stdout and pipes, beyond the rows of `behaviours::pipes`.

use crate::place::{Place, compressed, text};
use crate::skip::{Need, skip};

/// A pipe for a long text is enlarged, where the system allows it; a pipe for a short text is left alone.
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

/// An error ends the call, although the input's writer neither writes more nor closes the pipe.
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
