//! Another kind of work on the same queue: numbers to be squared, by cores, by accelerators that take many at once, and
//! by accelerators that do a part and pass the rest on.

use super::*;

/// Multiply the two.
#[derive(Clone, Copy)]
pub enum Square {
    Of(u64),
    /// As far as an accelerator got: the product of the lower halves is known.
    Rest {
        number: u64,
        low: u64,
    },
}

const SQUARE: Class = Class(0);

impl Question for Square {
    type Answer = u64;
    const CLASS: Class = SQUARE;

    fn bytes(&self) -> u64 {
        8
    }

    fn is_second_stage(&self) -> bool {
        matches!(self, Square::Rest { .. })
    }
}

fn low(number: u64) -> u64 {
    (number & 0xff) * (number & 0xff)
}

impl Square {
    fn answer(self) -> u64 {
        match self {
            Square::Of(number) => number * number,
            Square::Rest { number, low } => {
                let high = number & !0xff;
                high * high + 2 * high * (number & 0xff) + low
            }
        }
    }
}

pub struct Squares;

impl Work for Squares {
    type Job = Job<Square>;

    fn core(&self, number: usize) -> Box<dyn Station<Job<Square>>> {
        Box::new(Core(number))
    }

    fn after_fork(&self) -> Self {
        Squares
    }
}

struct Core(usize);

impl Station<Job<Square>> for Core {
    fn name(&self) -> String {
        format!("core {}", self.0)
    }

    fn work(&mut self, batch: &mut [Job<Square>]) -> Result<(), StationError> {
        for job in batch {
            assert!(!matches!(job.question(), Square::Of(13) if self.0 != 0), "13 is unlucky but for a fresh core");
            let answer = job.question().answer();
            job.answer(answer);
        }
        Ok(())
    }
}

/// Does even numbers, passes on what is divisible by 3, declines the rest; fails at every seventh batch.
struct Accelerator(usize);

impl Station<Job<Square>> for Accelerator {
    fn name(&self) -> String {
        "accelerator".into()
    }

    fn max_batch(&self) -> usize {
        50
    }

    fn work(&mut self, batch: &mut [Job<Square>]) -> Result<(), StationError> {
        self.0 += 1;
        for job in &mut *batch {
            match *job.question() {
                Square::Of(number) if number % 3 == 0 => job.pass_on(Square::Rest { number, low: low(number) }),
                question @ Square::Of(number) if number % 2 == 0 => job.answer(question.answer()),
                Square::Of(number) if number % 5 == 0 => {} // forgotten
                _ => job.decline(),
            }
        }
        let retire = self.0 == 70;
        if self.0.is_multiple_of(7) { Err(StationError { reason: "seven".into(), retire }) } else { Ok(()) }
    }
}

#[test]
fn another_kind_of_work() {
    quiet();
    for (threads, lanes) in [(1, 0), (3, 0), (2, 2), (0, 1), (0, 0)] {
        watched(format!("{threads} cores, {lanes} lanes"), move || {
            // On a busy machine the cores may be done before a lane is there.
            let takes_part = (0..50).any(|_| squares(threads, lanes) || lanes == 0 || threads == 0);
            assert!(takes_part, "the lanes never did anything");
        });
    }
}

/// Has 20,000 numbers squared. Returns whether lanes did some, and cores finished what they passed on.
fn squares(threads: usize, lanes: usize) -> bool {
    let mut builder = hybz::schedule::Pool::with_work(Squares).memory(800);
    builder = match NonZeroUsize::new(threads) {
        Some(threads) => builder.threads(threads),
        None => builder.without_cpu(),
    };
    let expected = Expected { rate: 1e6, start: Duration::ZERO, end: Duration::ZERO };
    let mut crew = Crew::new(&[SQUARE], expected).at_once();
    for _ in 0..lanes {
        crew = crew.member(|| Ok(Box::new(Accelerator(0))));
    }
    let pool = builder.crew(crew).build();
    let client = pool.client();
    let mut tickets = std::collections::VecDeque::new();
    let mut answers = Vec::new();
    for number in 0..20_000 {
        while tickets.len() > 60 {
            let (ticket, permit): (hybz::schedule::Ticket<u64>, _) = tickets.pop_front().expect("there are 60");
            answers.push(ticket.wait().expect("somebody can always multiply"));
            drop::<hybz::schedule::Permit>(permit);
        }
        let permit = client.permit(8);
        tickets.push_back((client.submit(Square::Of(number)), permit));
    }
    answers.extend(tickets.iter().map(|(ticket, _)| ticket.wait().expect("and always again")));
    assert!((0..20_000).map(|number| number * number).eq(answers));
    let summary = pool.summary();
    let done: u64 = summary.stations.iter().map(|station| station.blocks).sum();
    assert_eq!(done, 20_000, "{summary:?}");
    let finished: u64 = summary.stations.iter().map(|station| station.finished).sum();
    let accelerated: u64 = summary.stations.iter().filter(|s| s.accelerator).map(|s| s.bytes_in).sum();
    finished > 0 && accelerated > 0
}

/// A lane that finds that its device computes wrongly: none of its crew is asked again.
struct Sick(bool);

impl Station<Job<Square>> for Sick {
    fn name(&self) -> String {
        "sick".into()
    }

    fn ends_crew(&self) -> bool {
        self.0
    }

    fn work(&mut self, _: &mut [Job<Square>]) -> Result<(), StationError> {
        Err(StationError { reason: "it computes wrongly".into(), retire: self.0 })
    }
}

#[test]
fn a_device_that_computes_wrongly() {
    quiet();
    watched("a sick device".into(), || {
        let expected = Expected { rate: 1e9, start: Duration::ZERO, end: Duration::ZERO };
        let crew = Crew::new(&[SQUARE], expected).at_once();
        // The second lane only fails: alone it would be asked again and again.
        let crew = crew.member(|| Ok(Box::new(Sick(true)))).member(|| Ok(Box::new(Sick(false))));
        let builder = hybz::schedule::Pool::with_work(Squares);
        let pool = builder.threads(NonZeroUsize::MIN).crew(crew).build();
        let client = pool.client();
        let retired = || {
            let stations = pool.summary().stations;
            let lanes: Vec<_> = stations.into_iter().filter(|station| station.name != "core 0").collect();
            lanes.len() == 2 && lanes.iter().all(|station| station.retired.is_some())
        };
        while !retired() {
            let answer = client.submit(Square::Of(9)).wait();
            assert_eq!(answer, Ok(81));
        }
    });
}
