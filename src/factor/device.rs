//! Factors found by a GPU, and checked by a core.

use super::measure::of_bytes;
use super::{Factor, Measures, factors};
use crate::gpu::{
    Choice, DeviceError, FACTOR_STEPS, FactorByDevice, FactorsByDevice, FindFactors, LaneSize, MAX_FETCHED,
    MAX_WIDE_BLOCK, MIN_DEVICE_BLOCK,
};
use std::fmt;
use std::time::Duration;

/// How long a text may take, whatever its length, and per byte (20 MB/s: texts that repeat a lot take longest).
const TIMEOUT: Duration = Duration::from_secs(10);
const TIMEOUT_PER_BYTE: Duration = Duration::from_nanos(50);

/// Finds the factors of texts on a GPU: as many and as long as [`factors`] and [`measure`](super::measure()) find, each
/// a copy of an earlier place that may be another one.
///
/// A core checks that each factor's text is what it is a copy of, that the byte behind the copy differs, and that a
/// letter has not been before. What it does not see is a longer factor that begins elsewhere, nor a wrong number of
/// runs: only sorting again would show these.
///
/// It has up to 90 bytes of device memory for each byte of the longest text, from the beginning.
///
/// ```no_run
/// # fn example(text: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
/// use hybz::factor::{DeviceFactorizer, factors};
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
    lane: Option<Box<dyn FindFactors>>,
    found: FactorsByDevice,
}

/// Opens a lane for texts of up to so many bytes.
type Open = Box<dyn FnMut(usize) -> Result<Box<dyn FindFactors>, DeviceError> + Send>;

impl DeviceFactorizer {
    /// Longer texts are an error.
    pub const MAX_TEXT: usize = MAX_WIDE_BLOCK;

    /// On the first of the devices that `devices` names (as [`gpu::select`](crate::gpu::select) takes them), or of all
    /// that are visible, for texts of up to `bytes` bytes. A longer one makes it take more memory.
    ///
    /// # Errors
    /// If there is no such device, or not enough memory on it.
    pub fn open(devices: Option<&str>, bytes: usize) -> Result<DeviceFactorizer, DeviceError> {
        let (backend, device) = Choice::new(devices).device(0).map_err(DeviceError::Other)?;
        let open = move |max_length| backend.open_factors(&device, LaneSize { max_blocks: 1, max_length });
        DeviceFactorizer::with(Box::new(open), bytes)
    }

    fn with(mut open: Open, bytes: usize) -> Result<DeviceFactorizer, DeviceError> {
        let lane = Some(open(fitting(bytes)?)?);
        Ok(DeviceFactorizer { open, lane, found: FactorsByDevice::default() })
    }

    /// The exact factors of `text`, in order.
    ///
    /// # Errors
    /// If the text has more than [`MAX_TEXT`](Self::MAX_TEXT) bytes, if there is not enough memory on the device, or if
    /// the device fails or finds something wrong. After any of these it must not be used again.
    pub fn factors(&mut self, text: &[u8]) -> Result<Vec<Factor>, DeviceError> {
        let mut all = Vec::new();
        self.find(text, false, &mut |factor| all.push(factor))?;
        Ok(all)
    }

    /// Measures a text.
    ///
    /// # Errors
    /// Those of [`factors`](Self::factors).
    pub fn measure(&mut self, text: &[u8]) -> Result<Measures, DeviceError> {
        let mut found = of_bytes(text);
        found.runs = self.find(text, true, &mut |factor| {
            found.factors += 1;
            found.longest = found.longest.max(factor.text_len() as u64);
        })?;
        Ok(found)
    }

    /// The steps of the last text that the device had (a core does those of less than 64 bytes) by name, each with
    /// milliseconds of device time.
    pub fn times(&self) -> impl Iterator<Item = (&'static str, f32)> {
        FACTOR_STEPS.into_iter().zip(self.found.times)
    }

    /// Gives all factors to `take`, and returns the runs if they are wanted.
    fn find(&mut self, text: &[u8], runs: bool, take: &mut dyn FnMut(Factor)) -> Result<u64, DeviceError> {
        if text.len() < MIN_DEVICE_BLOCK {
            return on_a_core(text, take);
        }
        let lane = self.lane.take().ok_or_else(|| DeviceError::Other("the device has failed before".to_owned()))?;
        let mut lane = if text.len() > lane.size().max_length {
            // What there is goes first: there need not be memory for both.
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

/// The length of a lane for texts of up to so many bytes.
fn fitting(bytes: usize) -> Result<usize, DeviceError> {
    match bytes.max(MIN_DEVICE_BLOCK) {
        fits @ ..=MAX_WIDE_BLOCK => Ok(fits),
        _ => Err(DeviceError::Other(format!("a device takes texts of up to {MAX_WIDE_BLOCK} bytes"))),
    }
}

/// A text that is too short for a device.
fn on_a_core(text: &[u8], take: &mut dyn FnMut(Factor)) -> Result<u64, DeviceError> {
    let memory = |error: crate::Error| DeviceError::Memory(error.to_string());
    factors(text).map_err(memory)?.for_each(take);
    Ok(super::measure(text).map_err(memory)?.runs)
}

/// What is wrong with the numbers, whatever the factors are.
fn check_counts(found: &FactorsByDevice, len: usize, runs: bool) -> Result<(), DeviceError> {
    let (factors, letters) = (1..=len as u64, 2..=len as u64 + 1);
    match factors.contains(&found.factors.into()) && (!runs || letters.contains(&found.runs.into())) {
        true => Ok(()),
        false => Err(DeviceError::Wrong("the device counted what cannot be")),
    }
}

/// How far a text's factors are checked.
struct Check<'a> {
    text: &'a [u8],
    at: usize,
    /// Letters that have been. A byte of a copy was one before.
    seen: [bool; 256],
}

impl Check<'_> {
    /// The next factor, if it is right.
    fn next(&mut self, factor: FactorByDevice) -> Result<Factor, DeviceError> {
        let FactorByDevice { source, length: len } = factor;
        let found = if len == 0 { self.letter(source) } else { self.copy(source as usize, len as usize) };
        let found = found.ok_or(DeviceError::Wrong("the device found a factor that is none"))?;
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
        let is_all = right && text.get(end).is_none_or(|&behind| text[source + len] != behind);
        is_all.then_some(Factor::Copy { source: source as u32, len: len as u32 })
    }

    fn end(&self) -> Result<(), DeviceError> {
        match self.at == self.text.len() {
            true => Ok(()),
            false => Err(DeviceError::Wrong("the device's factors are not all of the text")),
        }
    }
}

#[cfg(test)]
#[path = "device_tests.rs"]
mod tests;
