//! A kind of work of one's own on the queue, and a station of one's own for it: words are counted in lines, by the
//! cores and by an accelerator that takes many lines at once. Run it with `cargo run --example station`.

use hybz::schedule::{Class, Crew, Expected, Job, Pool, Question, Station, StationError, Work};
use std::time::Duration;

/// How many words are in this line?
struct CountWords(String);

const LINES: Class = Class(0);

impl Question for CountWords {
    type Answer = usize;
    const CLASS: Class = LINES;

    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }
}

/// The kind of work: what lies on the queue, and how a core does it.
struct Counting;

impl Work for Counting {
    type Job = Job<CountWords>;

    fn core(&self, number: usize) -> Box<dyn Station<Job<CountWords>>> {
        Box::new(Core(number))
    }

    fn after_fork(&self) -> Self {
        Counting
    }
}

struct Core(usize);

impl Station<Job<CountWords>> for Core {
    fn name(&self) -> String {
        format!("core {}", self.0)
    }

    fn work(&mut self, batch: &mut [Job<CountWords>]) -> Result<(), StationError> {
        for job in batch {
            let words = job.question().0.split_whitespace().count();
            job.answer(words);
        }
        Ok(())
    }
}

/// It declines what is not ASCII; a core does those lines.
struct Accelerator;

impl Station<Job<CountWords>> for Accelerator {
    fn name(&self) -> String {
        "accelerator".to_owned()
    }

    fn max_batch(&self) -> usize {
        64
    }

    fn work(&mut self, batch: &mut [Job<CountWords>]) -> Result<(), StationError> {
        for job in batch {
            let line = &job.question().0;
            if line.is_ascii() {
                let words = line.split_ascii_whitespace().count();
                job.answer(words);
            } else {
                job.decline();
            }
        }
        Ok(())
    }
}

fn main() {
    let expected = Expected { rate: 500e6, start: Duration::ZERO, end: Duration::ZERO };
    let crew = Crew::new(&[LINES], expected).at_once().member(|| Ok(Box::new(Accelerator)));
    let pool = Pool::with_work(Counting).crew(crew).build();

    let lines = (0..10_000).map(|i| if i % 7 == 0 { "für vier Wörter hier" } else { "three words here" });
    let client = pool.client();
    // A permit bounds the memory. It goes with its ticket, and is dropped when the answer has been used.
    let submit = |line: &str| (client.permit(line.len() as u64), client.submit(CountWords(line.to_owned())));
    let tickets: Vec<_> = lines.map(submit).collect();
    // Tickets in the order of the input: answers in the order of the input.
    let answers = tickets.into_iter().map(|(_permit, ticket)| ticket.wait().expect("a core can count words"));
    let counts: Vec<usize> = answers.collect();
    assert!(counts.iter().enumerate().all(|(i, &count)| count == if i % 7 == 0 { 4 } else { 3 }));

    let summary = pool.summary();
    for station in &summary.stations {
        println!("{}: {} lines, {} bytes", station.name, station.blocks, station.bytes_in);
    }
    assert_eq!(summary.stations.iter().map(|station| station.blocks).sum::<u64>(), 10_000);
}
