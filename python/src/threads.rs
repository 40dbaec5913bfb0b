//! The meaning of the arguments `threads`, `compresslevel` and `block_size`.

use hybz::{LargeBlocks, Level, Pool, Settings};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Pools by their number of threads. A pool is never dropped: its threads sleep when they have nothing to do, and
/// making a new pool for each small file would cost more than the file.
static POOLS: Mutex<BTreeMap<usize, Pool>> = Mutex::new(BTreeMap::new());

/// The number given to `set_threads`.
static DEFAULT: AtomicUsize = AtomicUsize::new(0);
/// The variable with the number of threads for which the argument 0 stands.
const VARIABLE: &str = "HYBZ_THREADS";

fn count(threads: i64) -> PyResult<usize> {
    usize::try_from(threads).map_err(|_| PyValueError::new_err("threads must be 0 or more"))
}

/// Sets the number of threads for which threads=0 stands in this process. 0: the number in the environment variable
/// HYBZ_THREADS, or all cores.
#[pyfunction]
pub(crate) fn set_threads(threads: i64) -> PyResult<()> {
    DEFAULT.store(count(threads)?, Relaxed);
    Ok(())
}

/// The number in the environment; 0 without one.
fn of_environment() -> PyResult<usize> {
    let Some(value) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) else { return Ok(0) };
    let number = value.to_str().and_then(|value| value.trim().parse().ok());
    number.ok_or_else(|| PyValueError::new_err(format!("{VARIABLE} must be a number, 0 or more: {value:?}")))
}

/// The settings for this number of threads. 0 stands for the number of `set_threads`, or of the environment, or for all
/// cores, whose threads all streams share.
pub(crate) fn settings(threads: i64) -> PyResult<Settings> {
    let threads = match (count(threads)?, DEFAULT.load(Relaxed)) {
        (0, 0) => of_environment()?,
        (0, default) => default,
        (threads, _) => threads,
    };
    let Some(count) = NonZeroUsize::new(threads) else { return Ok(Settings::new()) };
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let pool = pools.entry(threads).or_insert_with(|| Pool::builder().threads(count).build());
    Ok(Settings::new().pool(pool))
}

/// Up to this many bytes are coded by the caller's thread. Waking another takes 40 us on a Zen 5, decoding 1 kB 12.
const SMALL: usize = 16 << 10;

thread_local! {
    static HERE: Pool = Pool::builder().without_cpu().build();
}

/// The settings for data of this length: for a few bytes, those of the caller's thread.
pub(crate) fn settings_of(settings: Settings, length: usize) -> Settings {
    if length > SMALL { settings } else { HERE.with(|pool| settings.pool(pool)) }
}

/// The level with this number.
pub(crate) fn level(number: i64) -> PyResult<Level> {
    let level = u8::try_from(number).ok().and_then(|number| Level::try_from(number).ok());
    level.ok_or_else(|| PyValueError::new_err("compresslevel must be between 1 and 9"))
}

/// The settings of a compressor: `.bz2` of this level, or `.hbz` with blocks of this size.
pub(crate) fn coding(compresslevel: i64, threads: i64, block_size: Option<i64>) -> PyResult<Settings> {
    let settings = settings(threads)?.level(level(compresslevel)?);
    let Some(size) = block_size else { return Ok(settings) };
    let large = u32::try_from(size).ok().and_then(LargeBlocks::try_new);
    let large = large.ok_or_else(|| PyValueError::new_err("block_size must be between 1 KiB and 1 GiB"))?;
    Ok(settings.encoding(large))
}
