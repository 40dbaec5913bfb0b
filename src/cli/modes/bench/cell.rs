//! One speed: a program, a direction, a number of threads, with or without GPUs.

use super::input::BenchInput;
use super::peer::Peer;
use super::printable;
use super::work::{decompressed, timed};
use crate::cli::args::{Kind, Plan};
use std::time::Duration;

/// The number of rounds after which a cell is done in any case: with a small input a round takes microseconds.
const MAX_ROUNDS: usize = 1000;
/// The minimum number of rounds, even if they take a little more than the time allowed.
const GOOD_ROUNDS: usize = 3;

pub struct Worker<'a> {
    /// Another program than hybz.
    pub peer: Option<&'a Peer>,
    pub threads: usize,
    pub gpus: bool,
}

impl Worker<'_> {
    pub fn program(&self) -> String {
        self.peer.map_or_else(|| "hybz".to_owned(), |peer| printable(&peer.name))
    }

    /// The name in messages about a direction.
    pub fn title(&self, direction: Kind) -> String {
        let gpus = if self.gpus { " and GPUs" } else { "" };
        format!("{} with {}{gpus}, {}", self.program(), in_words(self.threads), direction.work())
    }
}

/// One speed, and its measurements so far.
pub struct Cell {
    pub direction: Kind,
    pub times: Vec<Duration>,
    /// The verified output of another program's first round of compressing.
    first: Option<Vec<u8>>,
    pub failure: Option<String>,
}

impl Cell {
    pub fn new(direction: Kind) -> Cell {
        Cell { direction, times: Vec::new(), first: None, failure: None }
    }

    /// Whether the cell runs again, if each cell has this much time.
    pub fn goes_on(&self, time: Duration) -> bool {
        let (rounds, spent) = (self.times.len(), self.times.iter().sum::<Duration>());
        let next = spent.checked_div(rounds as u32).unwrap_or_default();
        let in_time = spent + next <= time || (rounds < GOOD_ROUNDS && spent < time);
        self.failure.is_none() && rounds < MAX_ROUNDS && (rounds == 0 || in_time)
    }

    /// Runs the cell once and verifies its output.
    pub fn run(&mut self, worker: &Worker<'_>, plan: &Plan, input: &BenchInput) {
        let compresses = self.direction == Kind::Compress;
        let (text, coded) = (&input.text, &input.coded);
        let (from, to) = if compresses { (text, coded) } else { (coded, text) };
        let level = plan.coding.map(|coding| coding.level).unwrap_or_default();
        let ran = match worker.peer {
            None => timed(plan, self.direction, worker.threads, worker.gpus, from, to),
            Some(peer) => peer.run(level, self.direction, worker.threads, from).and_then(|(time, result)| {
                match compresses {
                    true => self.verify_coded(plan, input, result)?,
                    false if result != **to => return Err("its output is not the text".to_owned()),
                    false => {}
                }
                Ok(time)
            }),
        };
        match ran {
            Ok(time) => self.times.push(time),
            Err(failure) => self.failure = Some(failure),
        }
    }

    /// Checks that another program's output decompresses to the text. Its later outputs are mostly equal to its first.
    fn verify_coded(&mut self, plan: &Plan, input: &BenchInput, result: Vec<u8>) -> Result<(), String> {
        if self.first.as_ref() == Some(&result) {
            return Ok(());
        }
        match decompressed(plan, &result, false, input.text.len() as u64) {
            Ok(text) if text.as_ref() == Some(&input.text) => {
                self.first = Some(result);
                Ok(())
            }
            Ok(_) => Err("its output is not that of the text".to_owned()),
            Err(error) => Err(format!("its output cannot be decompressed: {error}")),
        }
    }

    /// The median, the shortest and the longest time; nothing if the cell failed.
    pub fn figures(&self) -> Option<[Duration; 3]> {
        if self.failure.is_some() || self.times.is_empty() {
            return None;
        }
        let mut times = self.times.clone();
        times.sort_unstable();
        let middle = times.len() / 2;
        let median = if times.len() % 2 == 1 { times[middle] } else { (times[middle - 1] + times[middle]) / 2 };
        Some([median, times[0], times[times.len() - 1]])
    }
}

pub fn in_words(threads: usize) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(millis: &[u64]) -> Cell {
        let times = millis.iter().map(|&millis| Duration::from_millis(millis)).collect();
        Cell { times, ..Cell::new(Kind::Compress) }
    }

    #[test]
    fn medians() {
        let millis = |cell: Cell| cell.figures().map(|figures| figures.map(|time| time.as_millis()));
        assert_eq!(millis(cell(&[3, 1, 2])), Some([2, 1, 3]));
        assert_eq!(millis(cell(&[4, 1, 2, 10])), Some([3, 1, 10]));
        assert_eq!(millis(cell(&[])), None);
        assert_eq!(millis(Cell { failure: Some("no".to_owned()), ..cell(&[1]) }), None);
    }

    #[test]
    fn rounds() {
        let second = Duration::from_secs(1);
        assert!(cell(&[]).goes_on(Duration::ZERO) && !cell(&[5]).goes_on(Duration::ZERO));
        assert!(cell(&[600]).goes_on(second) && !cell(&[600, 600]).goes_on(second));
        assert!(cell(&[100; 9]).goes_on(second) && !cell(&[100; 10]).goes_on(second));
        assert!(!cell(&[1200]).goes_on(second) && !cell(&[0; 1000]).goes_on(second));
        assert!(!Cell { failure: Some("no".to_owned()), ..cell(&[1]) }.goes_on(second));
    }
}
