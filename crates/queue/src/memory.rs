//! The memory budget: bounds the bytes in memory between the cutting of the input and the writing of the output.
//!
//! A pool has one budget, made by the pool's builder. A piece of input needs a [`Permit`] for its own bytes and those
//! of its result before it goes on the queue; the permit is dropped when the result has been written.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// Bounds the bytes in memory.
#[derive(Debug)]
pub struct MemoryBudget {
    limit: AtomicU64,
    /// How the limit may grow; `None` if it is fixed.
    growth: Option<Growth>,
    used: Mutex<u64>,
    freed: Condvar,
    /// The number of threads that wait for a permit.
    waiters: AtomicUsize,
}

#[derive(Debug)]
struct Growth {
    /// The number of pieces that should fit, whatever their size.
    pieces: u64,
    /// The maximum to which the limit may grow; half of the memory of the machine if `None`.
    max: Option<u64>,
    /// The minimum of that maximum.
    least: u64,
    bounds: OnceLock<Bounds>,
}

#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// The maximum to which the limit may grow.
    max: u64,
    /// The maximum for a single piece, if it is alone.
    one: u64,
}

impl Growth {
    /// The bounds. The memory of the machine is looked up only when the bounds are needed, because that takes 0.06 ms:
    /// blocks of a `.bz2` stream never need them.
    fn bounds(&self) -> Bounds {
        *self.bounds.get_or_init(|| {
            let machine = of_machine();
            let max = self.max.unwrap_or(machine / 2).max(self.least);
            Bounds { max, one: of_one_piece_of(machine).max(max) }
        })
    }
}

impl MemoryBudget {
    /// A budget of exactly `limit` bytes.
    pub fn fixed(limit: u64) -> MemoryBudget {
        Self::new(limit, None)
    }

    /// A budget that grows for large pieces until `pieces` of them fit, but not beyond `max`, or half of the memory of
    /// the machine, unless `limit` is more already. A single piece may take more if it is alone: [`of_one_piece`].
    pub fn growing(limit: u64, pieces: u64, max: Option<u64>) -> MemoryBudget {
        Self::new(limit, Some(Growth { pieces, max, least: limit, bounds: OnceLock::new() }))
    }

    fn new(limit: u64, growth: Option<Growth>) -> MemoryBudget {
        let (used, freed, waiters) = Default::default();
        MemoryBudget { limit: AtomicU64::new(limit), growth, used, freed, waiters }
    }

    /// The number of bytes that may be in memory now.
    pub fn limit(&self) -> u64 {
        self.limit.load(Relaxed)
    }

    /// Raises the limit for pieces of `piece` bytes, unless the limit is fixed.
    pub fn fit_pieces(&self, piece: u64) {
        if let Some(growth) = &self.growth {
            self.raise(piece.saturating_mul(growth.pieces).min(growth.bounds().max));
        }
    }

    /// Raises the limit for a station that holds `held` bytes, unless the limit is fixed.
    pub fn fit_station(&self, held: u64) {
        if let Some(growth) = &self.growth {
            self.raise((self.limit() + held).min(growth.bounds().max));
        }
    }

    fn raise(&self, limit: u64) {
        if self.limit.fetch_max(limit, Relaxed) < limit {
            // Takes the lock, because a thread that is about to wait has compared with the old limit.
            drop(self.used());
            self.freed.notify_all();
        }
    }

    /// The maximum number of bytes of a single piece.
    pub fn most(&self) -> u64 {
        self.growth.as_ref().map_or_else(|| self.limit(), |growth| growth.bounds().one)
    }

    /// Whether a thread is waiting for a permit.
    pub(super) fn is_waited_for(&self) -> bool {
        self.waiters.load(Relaxed) > 0
    }

    fn used(&self) -> MutexGuard<'_, u64> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A permit for `bytes`, if they fit or if the account holds no permit. Every stream therefore makes progress,
    /// whatever other streams hold and however small the budget is. Zero bytes always fit.
    pub(super) fn try_permit(self: &Arc<Self>, bytes: u64, account: &Arc<AtomicUsize>) -> Option<Permit> {
        self.grant(&mut self.used(), bytes, account)
    }

    /// Waits until [`try_permit`](Self::try_permit) succeeds.
    pub(super) fn permit(self: &Arc<Self>, bytes: u64, account: &Arc<AtomicUsize>) -> Permit {
        let mut used = self.used();
        loop {
            if let Some(permit) = self.grant(&mut used, bytes, account) {
                return permit;
            }
            self.waiters.fetch_add(1, Relaxed);
            used = self.freed.wait(used).unwrap_or_else(PoisonError::into_inner);
            self.waiters.fetch_sub(1, Relaxed);
        }
    }

    fn grant(self: &Arc<Self>, used: &mut u64, bytes: u64, account: &Arc<AtomicUsize>) -> Option<Permit> {
        if bytes > 0 && *used + bytes > self.limit() && account.load(Relaxed) > 0 {
            return None;
        }
        *used += bytes;
        account.fetch_add(1, Relaxed);
        Some(Permit { budget: Arc::clone(self), bytes, account: Arc::clone(account) })
    }
}

/// Some bytes of a [`MemoryBudget`]. Dropping it gives them back.
#[derive(Debug)]
pub struct Permit {
    budget: Arc<MemoryBudget>,
    bytes: u64,
    /// The number of permits that the client holds. It changes only under the budget's lock.
    account: Arc<AtomicUsize>,
}

impl Permit {
    /// Gives back all but this many bytes.
    pub fn shrink(&mut self, bytes: u64) {
        *self.budget.used() -= self.bytes.saturating_sub(bytes);
        self.bytes = self.bytes.min(bytes);
        self.budget.freed.notify_all();
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut used = self.budget.used();
        *used -= self.bytes;
        self.account.fetch_sub(1, Relaxed);
        drop(used);
        self.budget.freed.notify_all();
    }
}

/// The maximum for one piece: 7/8 of the available memory. The rest is for the process itself.
pub fn of_one_piece() -> u64 {
    of_one_piece_of(of_machine())
}

fn of_one_piece_of(machine: u64) -> u64 {
    machine / 8 * 7
}

/// The memory of the machine in bytes, or the memory limit of the container or of this process if that is less. 8 GiB
/// if none of them can be read.
pub fn of_machine() -> u64 {
    machine().unwrap_or(8 << 30).min(container().unwrap_or(u64::MAX)).min(of_process().unwrap_or(u64::MAX))
}

/// The memory that this process may map, in bytes: the limits RLIMIT_AS and RLIMIT_DATA (`ulimit -v`, `ulimit -d`).
/// `None` without a limit.
pub fn of_process() -> Option<u64> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let soft = |name| limits.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok());
    [soft("Max address space"), soft("Max data size")].into_iter().flatten().min()
}

fn machine() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    total.map(|kilobytes: u64| kilobytes << 10)
}

/// The smallest memory limit on the way from our control group up to the root, for control groups of version 2 or 1.
fn container() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let limit_of = |line: &str| {
        let (_, controllers_and_path) = line.split_once(':')?;
        let (root, path, file) = match controllers_and_path.split_once(':')? {
            ("", path) => ("/sys/fs/cgroup", path, "memory.max"),
            ("memory", path) => ("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"),
            _ => return None,
        };
        let ours = std::path::Path::new(root).join(path.trim_start_matches('/'));
        let limit = |group: &std::path::Path| std::fs::read_to_string(group.join(file)).ok()?.trim().parse().ok();
        ours.ancestors().take_while(|group| group.starts_with(root)).filter_map(limit).min()
    };
    groups.lines().filter_map(limit_of).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(limit: u64) -> (Arc<MemoryBudget>, Arc<AtomicUsize>) {
        let growth = Growth { pieces: 3, max: None, least: limit, bounds: Bounds { max: 1000, one: 3000 }.into() };
        (Arc::new(MemoryBudget::new(limit, Some(growth))), Arc::default())
    }

    #[test]
    fn an_account_without_permits_always_gets_one() {
        let (budget, account) = budget(10);
        let first = budget.try_permit(500, &account).expect("the first is granted");
        assert!(budget.try_permit(1, &account).is_none());
        assert!(budget.try_permit(0, &account).is_some(), "what takes nothing is always granted");
        let other = Arc::default();
        let others = budget.try_permit(500, &other).expect("another account's first, too");
        drop((first, others));
        let mut ten = budget.try_permit(10, &account).expect("all was given back");
        assert!(budget.try_permit(1, &account).is_none());
        ten.shrink(9);
        ten.shrink(12);
        assert!(budget.try_permit(2, &account).is_none() && budget.try_permit(1, &account).is_some());
    }

    #[test]
    fn a_budget_grows_up_to_its_bound() {
        let (budget, account) = budget(10);
        budget.fit_pieces(100);
        assert_eq!(budget.limit(), 300);
        budget.fit_pieces(50);
        assert_eq!(budget.limit(), 300);
        budget.fit_station(200);
        assert_eq!(budget.limit(), 500);
        budget.fit_pieces(u64::MAX);
        assert_eq!(budget.limit(), 1000);
        assert_eq!(budget.most(), 3000);
        let fixed = MemoryBudget::fixed(10);
        fixed.fit_pieces(100);
        fixed.fit_station(100);
        assert_eq!((fixed.limit(), fixed.most()), (10, 10));
        drop(account);
    }

    #[test]
    fn bounds_that_are_chosen_or_the_machines() {
        for (limit, max, grown) in [(10, Some(1000), 1000), (2000, Some(1000), 2000), (10, None, of_machine() / 2)] {
            let budget = MemoryBudget::growing(limit, 3, max);
            assert_eq!(budget.limit(), limit);
            budget.fit_pieces(u64::MAX);
            assert_eq!((budget.limit(), budget.most()), (grown, of_one_piece()), "{limit} {max:?}");
        }
    }

    #[test]
    fn who_waits_is_woken_by_a_permit_that_is_dropped_and_by_growth() {
        for grow in [false, true] {
            let (budget, account) = budget(10);
            let first = budget.permit(10, &account);
            let waiting = std::thread::spawn({
                let (budget, account) = (Arc::clone(&budget), Arc::clone(&account));
                move || drop(budget.permit(10, &account))
            });
            while !budget.is_waited_for() {
                std::thread::yield_now();
            }
            if grow {
                budget.fit_station(10);
            } else {
                drop(first);
            }
            waiting.join().expect("it got its permit");
        }
    }
}
