//! Finds factors on a GPU; a core checks them.

use super::measure::of_bytes;
use super::{Factor, Measures, factors};
use hybz_gpu::{
    Choice, DeviceError, DeviceLane, FACTOR_STEPS, FactorByDevice, FactorsByDevice, LaneSize, MAX_FETCHED,
    MAX_WIDE_BLOCK, MIN_DEVICE_BLOCK, Pipeline,
};
use std::fmt;
use std::time::Duration;

/// The timeout for any text, to which a time per byte is added (20 MB/s: very repetitive texts take longest).
const TIMEOUT: Duration = Duration::from_secs(10);
const TIMEOUT_PER_BYTE: Duration = Duration::from_nanos(50);

/// Finds the factors of texts on a GPU. Their number and lengths are those that [`factors`] and
/// [`measure`](super::measure()) find; a source may be a different earlier occurrence of the same text.
///
/// A core checks that each copy equals its source, that the byte after the copy differs from the byte after the source,
/// and that a letter has not occurred before. The core does not detect a longer factor with another source, nor a wrong
/// number of runs: only sorting again would show these.
///
/// Opening it takes up to 90 bytes of device memory for each byte of the longest text.
///
/// ```no_run
/// # fn example(text: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
/// use hybz_factor::{DeviceFactorizer, factors};
/// let mut device = DeviceFactorizer::open(None, text.len())?;
/// let all = match device.factors(text) {
///     Ok(all) => all,
///     Err(_) => factors(text)?.collect(), // the device failed, and must not be asked again
/// };
/// # Ok(())
/// # }
/// ```
pub struct DeviceFactorizer {
    open: Open,
    /// `None` after a failure.
    lane: Option<Box<dyn DeviceLane>>,
    found: FactorsByDevice,
}

/// Opens a lane for texts of up to this many bytes.
type Open = Box<dyn FnMut(usize) -> Result<Box<dyn DeviceLane>, DeviceError> + Send>;

impl DeviceFactorizer {
    /// The max length of a text.
    pub const MAX_TEXT: usize = MAX_WIDE_BLOCK;

    /// Opens the first device that `devices` names (in the syntax of [`gpu::select`](hybz_gpu::select)), or the first
    /// visible one, for texts of up to `bytes` bytes. Factorizing a longer text takes more memory.
    ///
    /// # Errors
    /// If there is no such device, or not enough memory on it.
    pub fn open(devices: Option<&str>, bytes: usize) -> Result<DeviceFactorizer, DeviceError> {
        let (backend, device) = Choice::new(devices).device(0).map_err(DeviceError::Other)?;
        let open = move |max_length| backend.open(&device, Pipeline::Factor, LaneSize { max_blocks: 1, max_length });
        DeviceFactorizer::with(Box::new(open), bytes)
    }

    fn with(mut open: Open, bytes: usize) -> Result<DeviceFactorizer, DeviceError> {
        let lane = Some(open(fitting(bytes)?)?);
        Ok(DeviceFactorizer { open, lane, found: FactorsByDevice::default() })
    }

    /// Returns the exact factors of `text`, in order.
    ///
    /// # Errors
    /// If the text has more than [`MAX_TEXT`](Self::MAX_TEXT) bytes, if there is not enough memory on the device, or if
    /// the device fails or returns a wrong result. After any of these errors the factorizer must not be used again.
    pub fn factors(&mut self, text: &[u8]) -> Result<Vec<Factor>, DeviceError> {
        let mut all = Vec::new();
        self.find(text, false, &mut |factor| all.push(factor))?;
        Ok(all)
    }

    /// Measures a text.
    ///
    /// # Errors
    /// See [`factors`](Self::factors).
    pub fn measure(&mut self, text: &[u8]) -> Result<Measures, DeviceError> {
        let mut found = of_bytes(text);
        found.runs = self.find(text, true, &mut |factor| {
            found.factors += 1;
            found.longest = found.longest.max(factor.text_len() as u64);
        })?;
        Ok(found)
    }

    /// The steps of the last text that the device factorized, by name, each with milliseconds of device time. (A core
    /// does texts of less than 64 bytes.)
    pub fn times(&self) -> impl Iterator<Item = (&'static str, f32)> {
        FACTOR_STEPS.into_iter().zip(self.found.times)
    }

    /// Passes all factors to `take`. Returns the number of runs, if it is wanted.
    fn find(&mut self, text: &[u8], runs: bool, take: &mut dyn FnMut(Factor)) -> Result<u64, DeviceError> {
        if text.len() < MIN_DEVICE_BLOCK {
            return on_a_core(text, take);
        }
        let lane = self.lane.take().ok_or_else(|| DeviceError::Other("the device has failed before".to_owned()))?;
        let mut lane = if text.len() > lane.size().max_length {
            // The old lane is closed first, because memory may not suffice for both.
            drop(lane);
            (self.open)(fitting(text.len())?)?
        } else {
            lane
        };
        let timeout = TIMEOUT + TIMEOUT_PER_BYTE * u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.found = lane.find(text, 0, runs, timeout)?;
        check_counts(&self.found, text.len(), runs)?;
        let mut check = Check { text, at: 0, seen: [false; 256] };
        let mut from = 0;
        while from < self.found.factors {
            let count = (self.found.factors - from).min(MAX_FETCHED as u32);
            for &factor in lane.fetch(from, count as usize, timeout)? {
                take(check.next(factor)?);
            }
            from += count;
        }
        check.end()?;
        self.lane = Some(lane);
        Ok(self.found.runs.into())
    }
}

impl fmt::Debug for DeviceFactorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceFactorizer").field("size", &self.lane.as_ref().map(|lane| lane.size())).finish()
    }
}

/// The length of a lane for texts of up to `bytes` bytes.
fn fitting(bytes: usize) -> Result<usize, DeviceError> {
    match bytes.max(MIN_DEVICE_BLOCK) {
        fits @ ..=MAX_WIDE_BLOCK => Ok(fits),
        _ => Err(DeviceError::Other(format!("a device takes texts of up to {MAX_WIDE_BLOCK} bytes"))),
    }
}

/// Factorizes a text that is too short for a device.
fn on_a_core(text: &[u8], take: &mut dyn FnMut(Factor)) -> Result<u64, DeviceError> {
    let memory = |error: super::Error| DeviceError::Memory(error.to_string());
    factors(text).map_err(memory)?.for_each(take);
    Ok(super::measure(text).map_err(memory)?.runs)
}

/// Checks the numbers without looking at the factors.
fn check_counts(found: &FactorsByDevice, len: usize, runs: bool) -> Result<(), DeviceError> {
    let (factors, letters) = (1..=len as u64, 2..=len as u64 + 1);
    match factors.contains(&found.factors.into()) && (!runs || letters.contains(&found.runs.into())) {
        true => Ok(()),
        false => Err(DeviceError::Wrong("the device returned impossible counts")),
    }
}

/// The state of checking a text's factors.
struct Check<'a> {
    text: &'a [u8],
    at: usize,
    /// The letters seen so far, including those in copies.
    seen: [bool; 256],
}

impl Check<'_> {
    /// Returns the next factor if it is right.
    fn next(&mut self, factor: FactorByDevice) -> Result<Factor, DeviceError> {
        let FactorByDevice { source, length: len } = factor;
        let found = if len == 0 { self.letter(source) } else { self.copy(source as usize, len as usize) };
        let found = found.ok_or(DeviceError::Wrong("the device returned an invalid factor"))?;
        self.at += found.text_len();
        Ok(found)
    }

    fn letter(&mut self, source: u32) -> Option<Factor> {
        let letter = *self.text.get(self.at)?;
        let fresh = u32::from(letter) == source && !std::mem::replace(&mut self.seen[usize::from(letter)], true);
        fresh.then_some(Factor::Letter(letter))
    }

    fn copy(&self, source: usize, len: usize) -> Option<Factor> {
        let (text, at) = (self.text, self.at);
        let end = at + len;
        let right = source < at && end <= text.len() && text[source..source + len] == text[at..end];
        let is_all = right && text.get(end).is_none_or(|&next| text[source + len] != next);
        is_all.then_some(Factor::Copy { source: source as u32, len: len as u32 })
    }

    fn end(&self) -> Result<(), DeviceError> {
        match self.at == self.text.len() {
            true => Ok(()),
            false => Err(DeviceError::Wrong("the device's factors do not cover the text")),
        }
    }
}

#[cfg(test)]
#[path = "device_tests.rs"]
mod tests;
