//! Measures what the queue costs for each task, compared with crossbeam's channels alone. Run it on a quiet machine,
//! with `cargo run --release --example overhead [TASKS]`.

use crossbeam_channel::{bounded, unbounded};
use hybz_queue::{Class, Core, Pool, Task};
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::time::Instant;

/// A task that does almost nothing.
struct Add(u64);

const ADD: Class = Class::new("add", 50e6);

impl Task for Add {
    type Output = u64;

    fn run(&self, _: &mut Core) -> u64 {
        self.0 + 1
    }
}

const SUBMITTERS: u64 = 4;
/// The number of tasks that each submitter keeps in flight.
const WINDOW: usize = 1000;

/// Each submitter submits its part of the tasks and takes the answers in order.
fn submit_all<T>(tasks: u64, submit: impl Fn(u64) -> T + Sync, take: impl Fn(T) -> u64 + Sync) {
    std::thread::scope(|scope| {
        for _ in 0..SUBMITTERS {
            scope.spawn(|| {
                let mut pending = VecDeque::new();
                for number in 0..tasks / SUBMITTERS {
                    pending.push_back((number, submit(number)));
                    if pending.len() == WINDOW
                        && let Some((number, answer)) = pending.pop_front()
                    {
                        assert_eq!(take(answer), number + 1);
                    }
                }
                for (number, answer) in pending {
                    assert_eq!(take(answer), number + 1);
                }
            });
        }
    });
}

fn measure(what: &str, tasks: u64, run: impl FnOnce()) {
    let began = Instant::now();
    run();
    println!("{what:28} {:6.2} us a task", began.elapsed().as_secs_f64() * 1e6 / tasks as f64);
}

fn channels(threads: usize, tasks: u64) {
    type Job = Box<dyn FnOnce() + Send>;
    let (jobs, queue) = unbounded::<Job>();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let queue = queue.clone();
            scope.spawn(move || queue.into_iter().for_each(|job| job()));
        }
        let submit = |number| {
            let (reply, answer) = bounded(1);
            let job = Box::new(move || reply.send(number + 1).expect("the submitter waits for it"));
            jobs.send(job).expect("the threads are there");
            answer
        };
        submit_all(tasks, submit, |answer| answer.recv().expect("it is done"));
        drop(jobs);
    });
}

fn main() {
    let tasks = std::env::args().nth(1).map_or(400_000, |count| count.parse().expect("a number of tasks"));
    for threads in [1, 4, 16] {
        measure(&format!("{threads:2} threads: channels alone"), tasks, || channels(threads, tasks));
        let pool = Pool::builder().threads(NonZeroUsize::new(threads).expect("at least one")).build();
        measure(&format!("{threads:2} threads: tickets"), tasks, || {
            let client = pool.client();
            submit_all(
                tasks,
                |number| client.task(Add(number)).class(ADD, 1000).submit(),
                |ticket| ticket.wait().expect("it is done"),
            );
        });
    }
}
