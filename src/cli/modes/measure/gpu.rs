//! The GPU that measures long files, if there is one and it is allowed.

use crate::cli::args::Gpus;
use hybz::internals::gpu::{DeviceError, likely};
use hybz_factor::{DeviceFactorizer, Measures};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// A file of at least 32 MiB is worth a GPU's start: a core needs three seconds for the file, and the start takes one
/// second.
const WORTH: usize = 32 << 20;

/// All threads share one GPU: it does in a moment what takes a core seconds, so they wait for it.
pub struct Gpu {
    devices: Gpus,
    device: Mutex<Option<DeviceFactorizer>>,
    /// There is no GPU, or it failed.
    gone: AtomicBool,
}

impl Gpu {
    pub fn new(devices: Gpus) -> Gpu {
        // If no GPU was asked for, a machine without one is no failure.
        let none = devices == Gpus::None || devices == Gpus::Visible && likely() == 0;
        Gpu { devices, device: Mutex::default(), gone: AtomicBool::new(none) }
    }

    /// Measures a text, and times the steps; `None` if it is too short or too long, or there is no GPU. After an error
    /// the GPU is not used again, unless the reason was too little memory for this text.
    pub fn measure(&self, text: &[u8]) -> Result<Option<(Measures, String)>, DeviceError> {
        if !(WORTH..=DeviceFactorizer::MAX_TEXT).contains(&text.len()) || self.gone.load(Relaxed) {
            return Ok(None);
        }
        let mut device = self.device.lock().unwrap_or_else(PoisonError::into_inner);
        if self.gone.load(Relaxed) {
            return Ok(None);
        }
        let list = if let Gpus::These(list) = &self.devices { Some(&**list) } else { None };
        let opened = device.take().map_or_else(|| DeviceFactorizer::open(list, text.len()), Ok);
        let measured = opened.and_then(|mut opened| {
            let measures = opened.measure(text)?;
            let steps: Vec<String> = opened.times().map(|(step, ms)| format!("{step} {:.3}", ms / 1e3)).collect();
            *device = Some(opened);
            Ok(Some((measures, steps.join(", "))))
        });
        // There may be enough memory for a shorter text.
        measured.inspect_err(|error| self.gone.store(!matches!(error, DeviceError::Memory(_)), Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without a GPU there is one message if a GPU was requested, and none otherwise.
    #[test]
    fn a_gpu_that_is_not_there_finds_no_factors() {
        let text = vec![0; WORTH];
        let mut all = vec![(Gpus::None, false), (Gpus::These("GPU-none".to_owned()), true)];
        if likely() == 0 {
            all.push((Gpus::Visible, false));
        }
        for (devices, is_named) in all {
            let gpu = Gpu::new(devices);
            assert!(matches!(gpu.measure(&text[1..]), Ok(None)));
            assert_eq!(gpu.measure(&text).is_err(), is_named);
            assert!(matches!(gpu.measure(&text), Ok(None)));
        }
    }
}
