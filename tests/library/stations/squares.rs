//! Other tasks on the same queue: numbers to be squared, by cores, by accelerators that take many at once, and by
//! accelerators that do a part and forward the rest.

use super::*;

/// Square the number.
#[derive(Clone, Copy)]
struct Square(u64);

/// The rest of the task: the product of the lower halves is known.
struct Rest {
    number: u64,
    low: u64,
}

const SQUARE: Class = Class::new("square", 50e6);

fn low(number: u64) -> u64 {
    (number & 0xff) * (number & 0xff)
}

/// Whether this core has squared a number before.
#[derive(Default)]
struct Used(bool);

impl Task for Square {
    type Output = u64;

    fn run(&self, core: &mut Core) -> u64 {
        let Used(used) = core.state();
        assert!(self.0 != 13 || !*used, "13 is unlucky but for a fresh core");
        *used = true;
        self.0 * self.0
    }
}

impl Task for Rest {
    type Output = u64;

    fn run(&self, _: &mut Core) -> u64 {
        let high = self.number & !0xff;
        high * high + 2 * high * (self.number & 0xff) + self.low
    }
}

/// Does even numbers, forwards those divisible by 3, declines the rest; fails at every seventh batch.
struct Accelerator(usize);

impl Station for Accelerator {
    fn name(&self) -> String {
        "accelerator".into()
    }

    fn max_batch(&self) -> usize {
        50
    }

    fn work(&mut self, batch: &mut [Job]) -> Result<(), StationError> {
        self.0 += 1;
        for job in &mut *batch {
            let Some(job) = job.of::<Square>() else { continue };
            let Square(number) = *job.task();
            match number {
                _ if number % 3 == 0 => job.forward(Rest { number, low: low(number) }),
                _ if number % 2 == 0 => job.complete(number * number),
                _ if number % 5 == 0 => {} // forgotten
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
            // On a busy machine the cores may finish before a lane has started.
            let takes_part = (0..50).any(|_| squares(threads, lanes) || lanes == 0 || threads == 0);
            assert!(takes_part, "the lanes never did anything");
        });
    }
}

/// Has 20,000 numbers squared. Returns whether lanes did some of them, and cores finished those that the lanes
/// forwarded.
fn squares(threads: usize, lanes: usize) -> bool {
    let mut builder = Pool::builder().memory(800);
    builder = match NonZeroUsize::new(threads) {
        Some(threads) => builder.threads(threads),
        None => builder.without_cpu(),
    };
    let expected = Expected { rate: 1e6, start: Duration::ZERO, end: Duration::ZERO };
    let mut group = WorkerGroup::new(&[SQUARE], expected).at_once();
    for _ in 0..lanes {
        group = group.member(|| Ok(Box::new(Accelerator(0))));
    }
    let pool = builder.group(group).build();
    let client = pool.client();
    let mut tickets = std::collections::VecDeque::new();
    let mut answers = Vec::new();
    for number in 0..20_000 {
        while tickets.len() > 60 {
            let (ticket, permit): (hybz::schedule::Ticket<u64>, _) = tickets.pop_front().expect("there are 60");
            answers.push(ticket.wait().expect("some station can always multiply"));
            drop::<hybz::schedule::Permit>(permit);
        }
        let permit = client.permit(8);
        tickets.push_back((client.task(Square(number)).class(SQUARE, 8).submit(), permit));
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

/// A lane that finds that its device computes wrongly: no lane of its group gets work again.
struct Sick(bool);

impl Station for Sick {
    fn name(&self) -> String {
        "sick".into()
    }

    fn ends_group(&self) -> bool {
        self.0
    }

    fn work(&mut self, _: &mut [Job]) -> Result<(), StationError> {
        Err(StationError { reason: "it computes wrongly".into(), retire: self.0 })
    }
}

#[test]
fn a_device_that_computes_wrongly() {
    quiet();
    watched("a sick device".into(), || {
        let expected = Expected { rate: 1e9, start: Duration::ZERO, end: Duration::ZERO };
        let group = WorkerGroup::new(&[SQUARE], expected).at_once();
        // The second lane only fails: if it were alone, it would get work again and again.
        let group = group.member(|| Ok(Box::new(Sick(true)))).member(|| Ok(Box::new(Sick(false))));
        let builder = Pool::builder();
        let pool = builder.threads(NonZeroUsize::MIN).group(group).build();
        let client = pool.client();
        let retired = || {
            let stations = pool.summary().stations;
            let lanes: Vec<_> = stations.into_iter().filter(|station| station.name != "cpu 0").collect();
            lanes.len() == 2 && lanes.iter().all(|station| station.retired.is_some())
        };
        while !retired() {
            // Eight tasks at once: if they came one by one, the first lane might never get any.
            let tickets: Vec<_> = (0..8).map(|_| client.task(Square(9)).class(SQUARE, 8).submit()).collect();
            tickets.iter().for_each(|ticket| assert_eq!(ticket.wait(), Ok(81)));
        }
    });
}
