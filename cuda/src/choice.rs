//! The choice of devices for a pool.

use super::{Backend, Device, backend, likely, select};
use std::sync::{Arc, OnceLock};

/// The devices on a list, in the syntax of [`select()`], or all visible ones. The search starts when the first device
/// is requested. Clones share the choice.
#[derive(Clone)]
pub struct Choice {
    list: Option<String>,
    count: usize,
    found: Arc<OnceLock<Selection>>,
}

/// The devices, or why there are none.
type Selection = Result<(&'static dyn Backend, Vec<Device>), String>;

impl Choice {
    /// All visible devices, or those on `list`.
    pub fn new(list: Option<&str>) -> Choice {
        let count = list.map_or_else(likely, |list| list.split(',').count());
        Choice { list: list.map(str::to_owned), count, found: Arc::default() }
    }

    /// The expected number of devices: the length of the list, or the likely number of visible devices.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The device with this number.
    pub fn device(&self, number: usize) -> Result<(&'static dyn Backend, Device), String> {
        let (backend, devices) = self.found.get_or_init(|| self.find()).as_ref().map_err(String::clone)?;
        let device = devices.get(number).cloned();
        Ok((*backend, device.ok_or_else(|| format!("only {number} GPUs to be used"))?))
    }

    fn find(&self) -> Selection {
        let (backend, all) = backend()?;
        let devices = self.list.as_ref().map_or(Ok(all.clone()), |list| select(list, &all))?;
        Ok((backend, devices))
    }
}
