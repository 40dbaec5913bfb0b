//! A file on a server that gives ranges: no more is fetched than the blocks that are wanted.

use crate::files::{File, files};
use crate::index::bytes;
use crate::shapes::Rng;
use hybz::index::Index;
use hybz::seek::Reader;
use hybz::{ReadAt, Settings};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Serves `GET` with a range of some bytes of each file, by its place in the list.
fn serve(files: Vec<Vec<u8>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            answer(connection.unwrap(), &files).unwrap();
        }
    });
    address
}

fn answer(mut connection: TcpStream, files: &[Vec<u8>]) -> io::Result<()> {
    let (mut request, mut file, mut range) = (BufReader::new(connection.try_clone()?), 0, (0, 0));
    loop {
        let mut line = String::new();
        request.read_line(&mut line)?;
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("GET /") {
            file = rest.split(' ').next().unwrap().parse().unwrap();
        } else if let Some(rest) = line.strip_prefix("Range: bytes=") {
            let (from, to) = rest.split_once('-').unwrap();
            range = (from.parse::<usize>().unwrap(), to.parse::<usize>().unwrap());
        } else if line.is_empty() {
            break;
        }
    }
    let file = &files[file];
    let part = &file[range.0.min(file.len())..(range.1 + 1).min(file.len())];
    write!(connection, "HTTP/1.1 206 Partial Content\r\nContent-Length: {}\r\n\r\n", part.len())?;
    connection.write_all(part)
}

/// One file of the server.
struct Remote {
    address: String,
    file: usize,
    len: u64,
    fetched: Arc<AtomicU64>,
    requests: Arc<AtomicU64>,
}

impl ReadAt for Remote {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        if buf.is_empty() || offset >= self.len {
            return Ok(0);
        }
        let mut connection = TcpStream::connect(&self.address)?;
        let last = offset + buf.len() as u64 - 1;
        write!(connection, "GET /{} HTTP/1.1\r\nHost: here\r\nRange: bytes={offset}-{last}\r\n\r\n", self.file)?;
        let mut answer = BufReader::new(connection);
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            answer.read_line(&mut line)?;
        }
        let mut n = 0;
        while n < buf.len() {
            match answer.read(&mut buf[n..])? {
                0 => break,
                more => n += more,
            }
        }
        self.fetched.fetch_add(n as u64, Relaxed);
        self.requests.fetch_add(1, Relaxed);
        Ok(n)
    }

    fn len(&self) -> u64 {
        self.len
    }
}

#[test]
fn only_the_blocks_are_fetched() {
    // A file with a long index, and one with long blocks.
    let small = crate::files::stream(1, (crate::shapes::shape("words").make)(400));
    let many = File { name: "many streams", coded: small.0.repeat(10_000), text: small.1.repeat(10_000) };
    let names = ["blocks of level 1", "all levels"];
    for File { name, coded, text } in files().iter().filter(|file| names.contains(&file.name)).chain([&many]) {
        let index = Index::build(&coded[..], &Settings::new()).unwrap();
        let all: Vec<_> = index.iter().map(Result::unwrap).collect();
        let address = serve(vec![coded.clone(), bytes(&index)]);
        let mut rng = Rng(9);
        for _ in 0..10 {
            let (fetched, requests) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
            let remote = |file: usize, len: usize| Remote {
                address: address.clone(),
                file,
                len: len as u64,
                fetched: fetched.clone(),
                requests: requests.clone(),
            };
            let source = remote(0, coded.len());
            let index = Index::open(Arc::new(remote(1, bytes(&index).len())), &source).unwrap();
            let reader = Reader::with_index(source, index, &Settings::new());
            let mut expected = 64 << 10;
            // The last range touches blocks that the first ones had: they count once.
            let mut touched = std::collections::BTreeSet::new();
            for len in [1, 1000, 150_000, 2000] {
                let from = rng.below(text.len() - len);
                let mut buf = vec![0; len];
                assert_eq!(reader.read_at(&mut buf, from as u64).unwrap(), len);
                assert!(buf == text[from..from + len], "{name}");
                let (from, to) = (from as u64, (from + len) as u64);
                touched.extend(
                    all.iter()
                        .filter(|block| block.text_offset < to && block.text_offset + block.text_len > from)
                        .map(|block| (block.bit_offset / 8, block.end_bit.div_ceil(8))),
                );
            }
            expected += touched.iter().map(|(from, to)| to - from).sum::<u64>();
            assert!(fetched.load(Relaxed) <= expected, "{name}: {} of {expected} bytes", fetched.load(Relaxed));
            assert!(requests.load(Relaxed) <= 40, "{name}: {} requests", requests.load(Relaxed));
        }
    }
}
