//! The GPU that measures long files, if there is one and it is allowed.

use crate::cli::args::{Gpus, Plan};
use hybz::internals::gpu::{DeviceError, likely};
use hybz_factor::{DeviceFactorizer, Measures};
use std::sync::{Mutex, PoisonError};

/// A file of at least 32 MiB is worth a GPU's start: a core needs three seconds for the file, and the start takes one
/// second.
const WORTH: usize = 32 << 20;

/// All threads share one GPU: it needs a moment for what takes each of them seconds, so they wait for it.
pub struct Gpu {
    devices: Gpus,
    device: Mutex<Device>,
}

#[derive(Default)]
enum Device {
    #[default]
    Closed,
    Open(DeviceFactorizer),
    /// There is no GPU, or it failed.
    Gone,
}

impl Gpu {
    pub fn new(plan: &Plan) -> Gpu {
        Gpu { devices: plan.gpus.clone(), device: Mutex::default() }
    }

    /// Measures a text, and says in which steps; `None` if it is too short or too long, or there is no GPU. After an
    /// error the GPU is not asked again, unless the reason was too little memory for this text.
    pub fn measure(&self, text: &[u8]) -> Result<Option<(Measures, String)>, DeviceError> {
        if !(WORTH..=DeviceFactorizer::MAX_TEXT).contains(&text.len()) || self.devices == Gpus::None {
            return Ok(None);
        }
        let mut device = self.device.lock().unwrap_or_else(PoisonError::into_inner);
        // If no GPU was asked for, there may be none.
        if matches!(*device, Device::Closed) && self.devices == Gpus::Visible && likely() == 0 {
            *device = Device::Gone;
        }
        if matches!(*device, Device::Gone) {
            return Ok(None);
        }
        self.try_measure(&mut device, text).map(Some).inspect_err(|error| {
            // There may be enough memory for a shorter text.
            *device = if matches!(error, DeviceError::Memory(_)) { Device::Closed } else { Device::Gone };
        })
    }

    fn try_measure(&self, device: &mut Device, text: &[u8]) -> Result<(Measures, String), DeviceError> {
        if !matches!(device, Device::Open(_)) {
            let list = if let Gpus::These(list) = &self.devices { Some(&**list) } else { None };
            *device = Device::Open(DeviceFactorizer::open(list, text.len())?);
        }
        let Device::Open(opened) = device else { return Err(DeviceError::Other("not open".to_owned())) };
        let measures = opened.measure(text)?;
        let steps: Vec<String> = opened.times().map(|(step, ms)| format!("{step} {:.3}", ms / 1e3)).collect();
        Ok((measures, steps.join(", ")))
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
            let gpu = Gpu { devices, device: Mutex::default() };
            assert!(matches!(gpu.measure(&text[1..]), Ok(None)));
            assert_eq!(gpu.measure(&text).is_err(), is_named);
            assert!(matches!(gpu.measure(&text), Ok(None)));
        }
    }
}
