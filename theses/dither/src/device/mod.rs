//! GPUs: `pack` converts slabs to the kernel's format, `cuda` runs the kernel. Without the feature `cuda`, and on
//! machines without a GPU, there are none.

pub mod pack;

#[cfg(feature = "cuda")]
mod cuda;

use hybz::schedule::WorkerGroup;
use std::sync::atomic::{AtomicU64, Ordering};

/// The microseconds that kernels have taken, without copies.
static DEVICE_MICROS: AtomicU64 = AtomicU64::new(0);

/// The microseconds that all kernels of this process have taken, without copies.
pub fn device_micros() -> u64 {
    DEVICE_MICROS.load(Ordering::Relaxed)
}

/// The GPUs of this machine as groups for a pool, or why there are none.
///
/// # Errors
/// The reason why there are none, in words.
pub fn groups() -> Result<Vec<WorkerGroup>, String> {
    #[cfg(feature = "cuda")]
    return cuda::groups();
    #[cfg(not(feature = "cuda"))]
    return Err("built without the feature `cuda`".to_owned());
}
