//! Readers of live pipes: the text of every stream that has ended comes out, although the other side sends nothing
//! more until it gets an answer.

use crate::{ours, shapes};
use hybz::{LargeBlocks, Level, Pool, Settings, bufread, read};
use std::io::{self, BufReader, PipeReader, PipeWriter, Read, Write};
use std::num::NonZeroUsize;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Long enough for any machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends each question, and takes its answer before it sends the next.
fn converse(questions: &[(Vec<u8>, Vec<u8>)], open: impl FnOnce(PipeReader) -> Box<dyn Read> + Send + 'static) {
    let (input, mut output): (PipeReader, PipeWriter) = io::pipe().unwrap();
    let (sender, received) = mpsc::channel();
    let reading = thread::spawn(move || {
        let mut reader = open(input);
        let mut buffer = vec![0; 1 << 16];
        loop {
            match reader.read(&mut buffer).unwrap() {
                0 => return,
                n => sender.send(buffer[..n].to_vec()).unwrap(),
            }
        }
    });
    for (number, (question, answer)) in questions.iter().enumerate() {
        output.write_all(question).unwrap();
        let mut text = Vec::new();
        while text.len() < answer.len() {
            let more = received.recv_timeout(PATIENCE);
            text.extend(more.unwrap_or_else(|_| panic!("no answer to question {number}")));
        }
        assert!(text == *answer, "question {number}");
    }
    drop(output);
    reading.join().unwrap();
}

fn bz2(text: &[u8]) -> Vec<u8> {
    hybz::compress(text, &Settings::new().level(Level::FASTEST)).unwrap()
}

fn large(text: &[u8]) -> Vec<u8> {
    let large = LargeBlocks::try_new(50_000).unwrap();
    hybz::compress(text, &Settings::new().encoding(large)).unwrap()
}

fn threads(count: usize) -> Settings {
    Settings::new().pool(&Pool::builder().threads(NonZeroUsize::new(count).unwrap()).build())
}

#[test]
fn each_stream_is_answered() {
    let lens = [5, 300_000, 0, 6, 1_000_000, 1];
    let all = |coded: fn(&[u8]) -> Vec<u8>| lens.map(|len| (coded(&shapes::words(len)), shapes::words(len)));
    for questions in [all(bz2), all(large)] {
        for count in [1, 3] {
            let settings = threads(count);
            converse(&questions, move |pipe| Box::new(read::MultiBzDecoder::with_settings(pipe, &settings)));
            let settings = threads(count);
            converse(&questions, move |pipe| {
                Box::new(bufread::MultiBzDecoder::with_settings(BufReader::new(pipe), &settings))
            });
        }
    }
}

/// A stream may be followed by a stream of the other format, by the beginning of one, or by garbage.
#[test]
fn whatever_follows_a_stream() {
    let (one, two) = (shapes::words(7), shapes::words(1000));
    let mixed = [bz2, large, large, bz2, bz2, large].map(|coded| (coded(&one), one.clone()));
    converse(&mixed, |pipe| Box::new(read::MultiBzDecoder::new(pipe)));
    let next = bz2(&two);
    for cut in [1, 4, 5, 9, 10, 14, 30] {
        let first = [&bz2(&one)[..], &next[..cut]].concat();
        let questions = [(first, one.clone()), (next[cut..].to_vec(), two.clone()), (bz2(&one), one.clone())];
        converse(&questions, |pipe| Box::new(read::MultiBzDecoder::new(pipe)));
    }
    let garbage = [bz2(&one), b"garbage".repeat(200)].concat();
    converse(&[(garbage, one)], |pipe| Box::new(read::MultiBzDecoder::new(pipe)));
}

/// Each read gives one byte, as if the input paused after every byte.
#[test]
fn bytes_that_come_one_by_one() {
    let (one, two) = (shapes::words(3000), shapes::words(500));
    let questions = [bz2, large, bz2].map(|coded| ([coded(&one), coded(&two)].concat(), [&one[..], &two].concat()));
    converse(&questions, |pipe| Box::new(read::MultiBzDecoder::new(ours::Sips(pipe, 1))));
}
