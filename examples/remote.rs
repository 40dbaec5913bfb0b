//! Reads a range of the text of a `.bz2` on a server that has its index next to it. Only the bytes of the blocks with
//! that text are fetched. The caller fetches them. An asynchronous client does the same with `plan.ranges()`, and
//! decodes where blocking is allowed: `spawn_blocking(move || plan.decode(&pieces, &Settings::new()))`.
//!
//! ```sh
//! cargo run --release --example remote # with a server of its own
//! ```

use hybz::{Level, Settings, index::Index, seek::Plan};
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Reads 100 bytes in the middle of 7 MB of text.
pub fn main() -> Result<(), Box<dyn Error>> {
    let text: String = (0..200_000).map(|i| format!("record {i}, with the number {}\n", i * 7919 % 100_003)).collect();
    let file = hybz::compress(text.as_bytes(), &Settings::new().level(Level::FASTEST))?;
    let file_len = file.len();
    let mut bzi = Vec::new();
    Index::build(&file[..], &Settings::new())?.write(&mut bzi)?;
    let (server, served) = serve(vec![("text.bz2", file), ("text.bz2.bzi", bzi)])?;

    let index = Index::open_unchecked(Arc::new(get(server, "text.bz2.bzi", None)?), &Vec::new())?;
    let for_index = served.swap(0, Ordering::SeqCst);
    let range = 5_000_000..5_000_100;
    let plan = Plan::new(&index, range.clone())?;
    let pieces =
        plan.ranges().iter().map(|range| get(server, "text.bz2", Some(range))).collect::<Result<Vec<_>, _>>()?;
    let part = plan.decode(&pieces, &Settings::new())?;
    assert_eq!(part, text.as_bytes()[range.start as usize..range.end as usize]);
    let for_text = served.load(Ordering::SeqCst);
    println!(
        "{file_len} bytes in {} blocks: {for_index} fetched for the index, {for_text} for the text",
        index.blocks()
    );
    Ok(())
}

/// Fetches a file or some of its bytes.
pub fn get(server: SocketAddr, name: &str, range: Option<&Range<u64>>) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server)?;
    let range = range.map(|range| format!("Range: bytes={}-{}\r\n", range.start, range.end - 1)).unwrap_or_default();
    write!(stream, "GET /{name} HTTP/1.1\r\nHost: {server}\r\n{range}Connection: close\r\n\r\n")?;
    let mut answer = BufReader::new(stream);
    let mut line = String::new();
    answer.read_line(&mut line)?;
    if !line.starts_with("HTTP/1.1 20") {
        return Err(io::Error::other(line));
    }
    while line != "\r\n" {
        line.clear();
        answer.read_line(&mut line)?;
    }
    let mut body = Vec::new();
    answer.read_to_end(&mut body)?;
    Ok(body)
}

/// Starts a server of these files. Returns its address and a counter of the bytes of files that it has sent.
pub fn serve(files: Vec<(&'static str, Vec<u8>)>) -> io::Result<(SocketAddr, Arc<AtomicU64>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let (address, sent) = (listener.local_addr()?, Arc::new(AtomicU64::new(0)));
    let counter = Arc::clone(&sent);
    thread::spawn(move || {
        for stream in listener.incoming() {
            // A client that goes away must not end the server.
            let _ = stream.and_then(|stream| answer(stream, &files, &counter));
        }
    });
    Ok((address, sent))
}

fn answer(mut stream: TcpStream, files: &[(&str, Vec<u8>)], sent: &AtomicU64) -> io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let mut range = None;
    while let Some(line) = lines.next().transpose()?.filter(|line| !line.is_empty()) {
        if let Some((first, last)) = line.strip_prefix("Range: bytes=").and_then(|range| range.split_once('-')) {
            range = first.parse::<usize>().ok().zip(last.parse::<usize>().ok());
        }
    }
    let file = files.iter().find(|(name, _)| request.split(' ').nth(1) == Some(&format!("/{name}")));
    let body = file.and_then(|(_, file)| range.map_or(Some(&file[..]), |(first, last)| file.get(first..=last)));
    let status = match (body, range) {
        (None, _) => "404 Not Found",
        (_, None) => "200 OK",
        _ => "206 Partial Content",
    };
    let body = body.unwrap_or_default();
    sent.fetch_add(body.len() as u64, Ordering::SeqCst);
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
    stream.write_all(body)
}
