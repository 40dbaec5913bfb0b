//! What the arguments `threads`, `compresslevel` and `block_size` stand for.

use hybz::{LargeBlocks, Level, Pool, Settings};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

/// Pools by their number of threads. One is kept for good: its threads sleep when they have nothing to do, and making
/// one anew for each small file would cost more than the file.
static POOLS: Mutex<BTreeMap<usize, Pool>> = Mutex::new(BTreeMap::new());

/// The settings for so many threads; 0 stands for all cores, whose threads all streams share.
pub(crate) fn settings(threads: i64) -> PyResult<Settings> {
    let threads = usize::try_from(threads).map_err(|_| PyValueError::new_err("threads must be 0 or more"))?;
    let Some(count) = NonZeroUsize::new(threads) else { return Ok(Settings::new()) };
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let pool = pools.entry(threads).or_insert_with(|| Pool::builder().threads(count).build());
    Ok(Settings::new().pool(pool))
}

/// The level with this number.
pub(crate) fn level(number: i64) -> PyResult<Level> {
    let level = u8::try_from(number).ok().and_then(|number| Level::try_from(number).ok());
    level.ok_or_else(|| PyValueError::new_err("compresslevel must be between 1 and 9"))
}

/// The settings of what compresses: `.bz2` of this level, or `.hbz` with blocks of this size.
pub(crate) fn coding(compresslevel: i64, threads: i64, block_size: Option<i64>) -> PyResult<Settings> {
    let settings = settings(threads)?.level(level(compresslevel)?);
    let Some(size) = block_size else { return Ok(settings) };
    let large = u32::try_from(size).ok().and_then(LargeBlocks::try_new);
    let large = large.ok_or_else(|| PyValueError::new_err("block_size must be between 1 KiB and 1 GiB"))?;
    Ok(settings.large_blocks(large))
}
