//! How to write a task and a station. The cores, and an accelerator that takes many lines in one batch, count the words
//! of lines. Run it with `cargo run --example station`.

use hybz_queue::{Class, Core, Expected, Job, Pool, Station, StationError, Task, WorkerGroup};
use std::time::Duration;

/// The task: count the words in this line.
struct CountWords(String);

const LINES: Class = Class::new("lines", 50e6);

impl Task for CountWords {
    type Output = usize;

    fn run(&self, _: &mut Core) -> usize {
        self.0.split_whitespace().count()
    }
}

/// The station declines lines that are not ASCII; a core does those.
struct Accelerator;

impl Station for Accelerator {
    fn name(&self) -> String {
        "accelerator".to_owned()
    }

    fn max_batch(&self) -> usize {
        64
    }

    fn work(&mut self, batch: &mut [Job]) -> Result<(), StationError> {
        for job in batch.iter_mut().filter_map(Job::of::<CountWords>) {
            let CountWords(line) = job.task();
            if line.is_ascii() {
                let words = line.split_ascii_whitespace().count();
                job.complete(words);
            } else {
                job.decline();
            }
        }
        Ok(())
    }
}

fn main() {
    let expected = Expected { rate: 500e6, start: Duration::ZERO, end: Duration::ZERO };
    let group = WorkerGroup::new(&[LINES], expected).at_once().member(|| Ok(Box::new(Accelerator)));
    let pool = Pool::builder().group(group).build();

    let lines = (0..10_000).map(|i| if i % 7 == 0 { "für vier Wörter hier" } else { "three words here" });
    let client = pool.client();
    // A permit bounds the memory. It is kept with its ticket and dropped when the answer has been used.
    let submit = |line: &str| {
        let bytes = line.len() as u64;
        (client.permit(bytes), client.task(CountWords(line.to_owned())).class(LINES, bytes).submit())
    };
    let tickets: Vec<_> = lines.map(submit).collect();
    // Tickets are kept in the order of the input, so the answers come in that order.
    let answers = tickets.into_iter().map(|(_permit, ticket)| ticket.wait().expect("a core can count words"));
    let counts: Vec<usize> = answers.collect();
    assert!(counts.iter().enumerate().all(|(i, &count)| count == if i % 7 == 0 { 4 } else { 3 }));

    let summary = pool.summary();
    for station in &summary.stations {
        println!("{}: {} lines, {} bytes", station.name, station.blocks, station.bytes_in);
    }
    assert_eq!(summary.stations.iter().map(|station| station.blocks).sum::<u64>(), 10_000);
}
