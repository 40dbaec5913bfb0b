//! Decodes batches of strips on a device.

use hybz::internals::Flaw;
use hybz_gpu::{Choice, DeviceError, DeviceLane, LaneSize, MAX_STRIP, Pipeline, StripForDevice, StripFound};
use std::fmt;
use std::time::Duration;

/// The device counts as hung after this time plus a microsecond for every ten kilobytes.
const TIMEOUT: Duration = Duration::from_secs(10);
const BYTES_PER_MICROSECOND: u32 = 10_000;

/// Decodes batches of strips on a device, each strip as [`StripDecoder`](super::StripDecoder) does.
///
/// Hundreds of strips keep a device busy. The transfers take longest, unless the codes are in device memory and the
/// texts stay there ([`decode_on_device`](Self::decode_on_device)). Texts are not verified: LZW has no checksum.
///
/// ```no_run
/// use hybz_tiff_lzw::DeviceStrips;
/// let mut device = DeviceStrips::open("0", 1000, 64 << 20, 64 << 20)?;
/// let coded = [0x80, 0x0b, 0x60, 0x50, 0x22];
/// for text in device.decode(&[(&coded[..], 2)])? {
///     println!("{text:?}");
/// }
/// # Ok::<(), hybz_tiff_lzw::DeviceError>(())
/// ```
pub struct DeviceStrips {
    lane: Box<dyn DeviceLane>,
    text: usize,
}

impl DeviceStrips {
    /// Opens the first device that `device` names (a number, a name such as `GPU-4f0b`, or a PCI address), for batches
    /// of up to `strips` strips with `coded` bytes of codes and `text` bytes of text in all. It takes slightly more
    /// than that of the device's memory. `text` may be 0 if everything is in device memory.
    ///
    /// # Errors
    /// If there is no such device, or not enough memory on it.
    pub fn open(device: &str, strips: usize, coded: usize, text: usize) -> Result<DeviceStrips, DeviceError> {
        let (backend, device) = Choice::new(Some(device)).device(0).map_err(DeviceError::Other)?;
        let size = LaneSize { max_blocks: strips, max_length: coded };
        let mut lane = backend.open(&device, Pipeline::Strips, size)?;
        if text > 0 {
            lane.reserve(text)?;
        }
        Ok(DeviceStrips { lane, text })
    }

    /// From now on texts hold differences, which are undone (TIFF's predictor 2): each byte is added to the same byte
    /// of the pixel before it. A row has `pixels` pixels of `samples` bytes, 1 to 4.
    ///
    /// # Errors
    /// If a row is empty or has more than 256 MiB, or a pixel more than 4 bytes.
    pub fn undo_differences(&mut self, samples: usize, pixels: usize) -> Result<(), DeviceError> {
        let row = samples.checked_mul(pixels).filter(|row| (1..=MAX_STRIP).contains(row) && samples <= 4);
        let row = row.ok_or_else(|| DeviceError::Other("rows of this size".to_owned()))?;
        self.lane.differences(samples as u32, row as u32)
    }

    /// Decodes strips, each from its codes and the length of its text. A damaged strip is reported in its own result.
    ///
    /// # Errors
    /// If the batch exceeds the size given to [`open`](Self::open), if a strip has more than 256 MiB, or if the device
    /// fails. After a failure of the device the decoder must not be used again.
    pub fn decode(&mut self, strips: &[(&[u8], usize)]) -> Result<Vec<Result<Vec<u8>, Flaw>>, DeviceError> {
        let (mut coded, mut text_len, mut placed) = (Vec::new(), 0, Vec::with_capacity(strips.len()));
        for &(codes, len) in strips {
            placed.push(strip(coded.len(), codes.len(), text_len, len)?);
            coded.extend_from_slice(codes);
            text_len += len;
        }
        if coded.len() > self.lane.size().max_length || text_len > self.text {
            return Err(DeviceError::Other("more bytes than the lane has room for".to_owned()));
        }
        let (mut text, mut found) = (vec![0; text_len], vec![StripFound::default(); placed.len()]);
        self.lane.decode_strips(&coded, &placed, &mut text, &mut found, timeout(coded.len(), text_len))?;
        let texts = placed.iter().map(|strip| &text[strip.to as usize..][..strip.length as usize]);
        let outcome = |(found, text): (&StripFound, &[u8])| Ok(outcome(*found, text.len())?.map(|()| text.to_vec()));
        found.iter().zip(texts).map(outcome).collect()
    }

    /// Decodes strips from device memory to device memory: `coded` and `text` are addresses and lengths. Each strip
    /// gives its offset in `coded`; texts are written one after the other, and gaps are allowed.
    ///
    /// # Safety
    /// Both ranges are in the memory of this device, in its primary context, and do not overlap. The writes of the
    /// codes have completed, and nothing else uses either range during the call.
    ///
    /// # Errors
    /// The same as for [`decode`](Self::decode), and an error if a strip is not within `coded` or `text`.
    #[allow(unsafe_code)]
    pub unsafe fn decode_on_device(
        &mut self,
        coded: (u64, usize),
        strips: &[StripForDevice],
        text: (u64, usize),
    ) -> Result<Vec<Result<(), Flaw>>, DeviceError> {
        let mut found = vec![StripFound::default(); strips.len()];
        // SAFETY: the caller guarantees the same.
        unsafe { self.lane.decode_strips_on_device(coded, strips, text, &mut found, timeout(coded.1, text.1)) }?;
        found.iter().zip(strips).map(|(found, strip)| outcome(*found, strip.length as usize)).collect()
    }
}

impl fmt::Debug for DeviceStrips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceStrips").field("size", &self.lane.size()).finish()
    }
}

/// A clear takes a step of its own. Codes may consist of clears only, and then the length of the text does not bound
/// the time.
fn timeout(coded_len: usize, text_len: usize) -> Duration {
    let tens = u32::try_from(text_len / BYTES_PER_MICROSECOND as usize).unwrap_or(u32::MAX);
    TIMEOUT + Duration::from_micros(1) * tens + Duration::from_micros(4) * u32::try_from(coded_len).unwrap_or(u32::MAX)
}

fn strip(from: usize, coded: usize, to: usize, len: usize) -> Result<StripForDevice, DeviceError> {
    if coded > MAX_STRIP || len > MAX_STRIP {
        return Err(DeviceError::Other("a strip of more than 256 MiB".to_owned()));
    }
    Ok(StripForDevice { from: from as u64, to: to as u64, coded: coded as u32, length: len as u32 })
}

/// Converts a device's answer for a strip whose text has `wanted` bytes.
pub(super) fn outcome(found: StripFound, wanted: usize) -> Result<Result<(), Flaw>, DeviceError> {
    Ok(match found.status {
        0 => Ok(()),
        1 => Err(Flaw::LzwStart),
        2 => Err(Flaw::LzwCode { code: found.code as u16, end: found.known }),
        3 => Err(Flaw::LzwTable),
        4 => Err(Flaw::LzwLength { wanted, found: found.code as usize }),
        _ => return Err(DeviceError::Wrong("the device returned an impossible result for a strip")),
    })
}
