//! Which worker is blamed when an output is called wrong.

use super::parts::Wrong;
use super::tasks::SortRange;
use super::{Order, sorted};
use hybz_queue::{Accepts, Check, Core, Job, Station, StationError};

/// A core that calls every sorted range wrong.
struct Slanderer(Core);

impl Station for Slanderer {
    fn name(&self) -> String {
        "slanderer".to_owned()
    }

    fn work(&mut self, batch: &mut [Job]) -> Result<(), StationError> {
        for job in batch {
            match job.of::<Check<SortRange>>() {
                Some(check) => check.complete(Err(Wrong("it says so"))),
                None => job.run(&mut self.0),
            }
        }
        Ok(())
    }
}

/// Stations sort correctly and this core checks them: an equal second answer shows that the core was wrong, not they.
#[test]
fn a_core_that_calls_right_ranges_wrong() {
    let mut text: Vec<u8> = (0..400_000u64).flat_map(|n| format!("{}\n", n * 7919 % 1_000_003).into_bytes()).collect();
    text.extend(b"0\n");
    let mut lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    lines.sort_unstable();
    let right = lines.concat();
    for others in [0, 3] {
        let blamed = (0..20).any(|_| {
            let slanderer = || Ok(Box::new(Slanderer(Core::new(0))) as Box<dyn Station>);
            let pool = super::pool().without_cpu().station(Accepts::Everything, slanderer);
            let core = || Ok(Box::new(Core::new(1)) as Box<dyn Station>);
            let pool = (0..others).fold(pool, |pool, _| pool.station(Accepts::Everything, core)).build();
            assert!(sorted(&text, &Order::new(), &pool).unwrap() == right);
            let stations = pool.summary().stations;
            let is_right = |name: &str| stations.iter().filter(|s| s.name.starts_with(name)).all(|s| s.wrong == 0);
            assert!(is_right("cpu"), "{stations:#?}");
            let own = stations.iter().find(|station| station.name == "slanderer").unwrap();
            if own.wrong > 0 {
                let reason = own.failure.as_deref().unwrap_or_default();
                assert!(reason.starts_with("a part that it called wrong was right: it says so"), "{reason}");
            }
            // It may have been slow, and have checked nothing.
            own.wrong > 0
        });
        assert!(blamed, "{others} others: it never checked a range");
    }
}
